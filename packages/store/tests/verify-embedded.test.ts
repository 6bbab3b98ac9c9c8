/** What can only be wrong in the embedded store: keys of another form, and tables that are kept in pairs. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Write } from '../src/embedded/environment.js';
import { enterFolder } from '../src/embedded/folders.js';
import { ConversationKeys, UserKeys } from '../src/embedded/keys.js';
import { counterValue } from '../src/embedded/values.js';
import { encodeRecord } from '../src/message/codec.js';
import { type Chat, seq, TENANT } from '../src/testing/conformance/fixture.js';
import { EmbeddedBackend } from './embedded-backend.js';
import { EMBEDDED } from './verify-backends.js';
import { Subject, type Verified } from './verify-harness.js';

let subject: Subject;
let chat: Chat;
let folder: string;
const keys = () => new ConversationKeys(chat.tenantId, chat.conversationId);
const bobs = () => new UserKeys(TENANT, subject.bob);

beforeAll(async () => {
  subject = await Subject.open(EMBEDDED);
  if (!(subject.backend instanceof EmbeddedBackend)) throw new Error('it is embedded');
  ({ folder } = subject.backend);
});
afterAll(() => subject.backend.close());
beforeEach(async () => {
  chat = subject.fixture.direct(subject.alice, subject.bob);
  await chat.sayTimes(subject.alice, 3);
  await subject.list(chat);
  await subject.deliverAll();
});

async function write(...writes: readonly Write[]): Promise<void> {
  const { environment, leave } = await enterFolder(folder, false, 1);
  await environment.write('test', () => ({ result: undefined, writes }));
  await leave();
}

const mends = (...found: string[]): Promise<Verified> => subject.mends({}, found);

const key = (table: string, rest: string): Buffer => Buffer.from(`${table}:${chat.tenantId}:${chat.conversationId}:${rest}`, 'latin1');
const NOTHING = Buffer.alloc(0);

test('memory that reads have mapped is given back, and everything is read on as before', async () => {
  const { environment, leave } = await enterFolder(folder, false, 1);
  const before = await chat.unread(subject.bob);
  await environment.remap();
  expect(await chat.unread(subject.bob)).toEqual(before);
  await chat.say(subject.alice, 'written after it');
  await leave();
  expect((await chat.history(subject.bob)).records.at(-1)?.content).toEqual({ kind: 'text', text: 'written after it' });
  expect((await subject.verify()).places).toEqual([]);
});

describe('a key of another form', () => {
  test('under records and bodies is put aside, in the index it goes', async () => {
    await write(
      { key: key('r', 'short'), value: Buffer.from('a record') },
      { key: key('b', '12345678'.repeat(2)), value: Buffer.from('a body') },
      { key: key('h', '\0\0\0\0\0\0\0\0'), value: NOTHING },
    );
    await mends('indexMemberInvalid', 'recordLeftOver', 'bodyLeftOver');
    expect((await subject.quarantine(chat)).map(({ bytes }) => bytes?.toString()).sort()).toEqual(['a body', 'a record']);
  });

  test('under members is put aside', async () => {
    await write({ key: Buffer.concat([keys().memberPrefix, Buffer.from('a:b')]), value: Buffer.from('1 1 1') });
    await mends('memberUnreadable');
  });

  test('that is of no conversation and of no user is passed over', async () => {
    await write(
      { key: Buffer.from('f:no tenant:x'), value: NOTHING },
      { key: Buffer.from('r:99999999999:c:12345678'), value: NOTHING },
      { key: Buffer.from('v:7'), value: NOTHING },
      { key: Buffer.from('zz'), value: NOTHING },
    );
    expect((await subject.verify()).places).toEqual([]);
  });
});

describe('amendments are kept by number and by record', () => {
  beforeEach(async () => {
    await chat.edit(1, 'edited');
    await chat.edit(2, 'edited');
    await subject.deliverAll();
  });

  test.each([
    ['by number', () => keys().amendment(2)],
    ['by record', () => keys().amendmentOf(seq(2))],
  ])('what is missing %s is made anew', async (_, keyOf) => {
    await write({ key: keyOf(), value: undefined });
    expect((await subject.verify()).places).toContain('amendmentWrong@2');
    expect((await subject.verify({ repair: 'yes' })).left).toEqual([]);
    expect((await subject.verify()).places).toEqual([]);
    expect((await subject.facts(chat)).amendmentNumber).toBe(3);
  });

  test('two numbers of one record: the one that the record does not know goes', async () => {
    await write({ key: keys().amendment(1), value: counterValue(2) });
    expect([...(await subject.verify()).places].sort()).toEqual(['amendmentWrong@1', 'amendmentWrong@2']);
    expect((await subject.verify({ repair: 'yes' })).left).toEqual([]);
    expect((await subject.verify()).places).toEqual([]);
  });
});

describe('the order of a list is kept by time and by conversation', () => {
  test('a conversation that stands under another time as well stands once', async () => {
    await write({ key: bobs().list(77, chat.conversationId), value: NOTHING });
    await mends('listEntryWrong/bob');
  });

  test('a time under which it does not stand is made right', async () => {
    const { activityAtMs } = await subject.activity(chat);
    await write({ key: bobs().list(activityAtMs, chat.conversationId), value: undefined });
    await mends('listEntryWrong/bob');
    const { views } = await subject.backend.store.directory.page(TENANT, subject.bob, 100, undefined);
    expect(views.map(({ conversationId }) => conversationId)).toContain(chat.conversationId);
  });

  test('a place that is no conversation goes', async () => {
    await write({ key: Buffer.concat([bobs().list(5, chat.conversationId), Buffer.from('!')]), value: NOTHING });
    await mends('listEntryWrong/bob');
  });
});

describe('a conversation of which only one table is left', () => {
  test.each(['h', 'r', 'b', 'a', 'n'])('%s: it is found, and goes', async (table) => {
    const gone = subject.fixture.conversationId();
    const value = table === 'a' || table === 'n' ? counterValue(1) : Buffer.from('x');
    await write({ key: Buffer.from(`${table}:7:${gone}:\0\0\0\0\0\0\0\x01`, 'latin1'), value });
    const { found } = await subject.verify();
    expect(new Set(found.map(({ conversationId }) => conversationId))).toEqual(new Set([gone]));
    expect((await subject.verify({ repair: 'yes' })).left.map(([place]) => place)).toEqual([]);
    expect((await subject.verify()).places).toEqual([]);
  });

  test('de-duplication entries: they go', async () => {
    const gone = new ConversationKeys(chat.tenantId, subject.fixture.conversationId());
    const { clientMessageId } = await chat.record(1);
    await write({ key: gone.dedup(2_900, subject.alice, clientMessageId), value: Buffer.alloc(64, 1) });
    await mends('dedupUnreadable/alice');
  });

  test('a member: there is nothing to make facts from, and it is left', async () => {
    const gone = new ConversationKeys(chat.tenantId, subject.fixture.conversationId());
    await write({ key: gone.member(subject.bob), value: Buffer.from('1 1 1') });
    expect((await subject.verify({ repair: 'yes' })).left).toEqual([['factsMissing', expect.stringContaining('no record')]]);
    await write({ key: gone.member(subject.bob), value: undefined });
  });

  test('a whole record: it is a conversation again, without members', async () => {
    const conversationId = subject.fixture.conversationId();
    const gone = new ConversationKeys(chat.tenantId, conversationId);
    const { record } = encodeRecord({ ...(await chat.record(1)), conversationId });
    await write({ key: gone.record(seq(1)), value: record });
    const repaired = await subject.verify({ repair: 'yes' });
    expect([repaired.left, repaired.mended.map(([place]) => place)]).toEqual([[], ['indexMissing', 'factsMissing']]);
    expect((await subject.verify()).places).toEqual([]);
    const { facts } = await chat.messages.readConversation(TENANT, conversationId, subject.bob);
    expect(facts?.lastSequence).toBe(1);
  });
});

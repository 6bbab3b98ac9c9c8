import { randomUUID } from 'node:crypto';
import {
  ControlKind,
  ConversationKind,
  HistoryVisibility,
  LEGACY_TENANT_ID,
  type MessageContent,
  MessageStatus,
  MessageType,
  parseActivityId,
  parseConversationId,
  parseConversationSeq,
  parseUserId,
  Role,
} from '@qim/proto';
import { openStore } from '@qim/server';
import type { Store } from '@qim/store';
import { commitRequest, damage } from '@qim/store/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { qim, temporaryFolder } from './calling.js';

const ALICE = parseUserId('alice');
const BOB = parseUserId('bob');
const GROUP = parseConversationId('g_team');

let data: string;
let store: Store;
beforeEach(async () => {
  data = await temporaryFolder();
  // As a running server holds it: the command must work beside it.
  store = await openStore({ store: 'embedded', data }, { as: 'server' });
});
afterEach(() => store.close());

async function commit(sender: typeof ALICE, type: number, content: MessageContent) {
  const request = commitRequest(sender, GROUP, {
    type,
    content,
    needs: 'member',
    create: {
      kind: ConversationKind.Group,
      title: 'Team',
      settings: { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false },
      members: [
        { userId: ALICE, role: Role.Owner },
        { userId: BOB, role: Role.Member },
      ],
      onlyNew: false,
    },
  });
  const outcome = await store.messages.commit(request);
  if (outcome.message === undefined) throw new Error('the record is there');
  return outcome.message.record;
}

const say = (sender: typeof ALICE, text: string) => commit(sender, MessageType.Text, { kind: 'text', text });

/** 1 read, then: counted, own, recalled, Control, counted. */
async function talk(): Promise<void> {
  await say(ALICE, 'read');
  const users = [ALICE, BOB].map((userId) => ({ userId, joinedSeq: parseConversationSeq(1), visibleFrom: parseConversationSeq(1) }));
  await store.directory.join(LEGACY_TENANT_ID, GROUP, users, { conversationSeq: parseConversationSeq(1), activityAtMs: 1 });
  await store.directory.raiseRead(LEGACY_TENANT_ID, BOB, GROUP, parseConversationSeq(1));
  await say(ALICE, 'one');
  await say(BOB, 'my own');
  const target = await say(ALICE, 'recalled');
  await store.messages.amend({
    actor: ALICE,
    needs: 'member',
    target,
    activityId: parseActivityId(randomUUID()),
    status: MessageStatus.Recalled,
    content: { kind: 'none' },
    mentions: { userIds: [], all: false },
  });
  await commit(ALICE, MessageType.Control, {
    kind: 'control',
    control: { kind: ControlKind.App, appType: 'call', appData: new Uint8Array() },
  });
  await say(ALICE, 'two');
}

const explain = (user: string, ...more: string[]) => qim(['explain', '--user', user, '--conversation', GROUP, '--data', data, ...more]);

test('a number is explained in sentences, beside a running server', async () => {
  await talk();
  expect(await explain('bob')).toEqual({
    code: 0,
    err: [],
    out: [
      'bob sees 2 unread for g_team ("Team").',
      'The newest record has sequence 6.',
      'bob has read up to sequence 1.',
      'Counting starts after sequence 1.',
      '5 records lie after it; each was read and checked.',
      'Left out: 1 sent by bob, 1 Control, 1 recalled.',
      '0 of those that count mention bob.',
      'The records form an unbroken chain, so none is missing.',
    ],
  });
});

test('--json gives the same as one object', async () => {
  await talk();
  const { out } = await explain('bob', '--json');
  expect(out).toHaveLength(1);
  expect(JSON.parse(out[0] ?? '')).toMatchObject({
    kind: 'sound',
    tenant: 0,
    user: 'bob',
    conversationId: GROUP,
    readConversationSeq: 1,
    unreadFloor: 1,
    headConversationSeq: 6,
    unreadCount: 2,
    unreadExact: true,
    mentionCount: 0,
    scanned: 5,
    leftOut: { own: 1, control: 1, recalled: 1, deleted: 0 },
    chainUnbroken: true,
  });
});

test('one who has read everything has nothing after the floor', async () => {
  await talk();
  await store.directory.raiseRead(LEGACY_TENANT_ID, BOB, GROUP, parseConversationSeq(6));
  expect((await explain('bob')).out.slice(0, 5)).toEqual([
    'bob sees 0 unread for g_team ("Team").',
    'The newest record has sequence 6.',
    'bob has read up to sequence 6.',
    'Counting starts after sequence 6.',
    'Nothing lies after it.',
  ]);
});

test('past the scan limit the number is said to be a limit', async () => {
  await talk();
  for (let i = 0; i < 200; i += 1) await say(ALICE, 'more');
  const { out } = await explain('bob');
  expect(out[0]).toBe('bob sees 200+ unread for g_team ("Team").');
  expect(out.at(-1)).toContain('more than 200 sequences');
});

test('damage is told with its reason and its place, without any number, and fails', async () => {
  await talk();
  const target = { tenantId: LEGACY_TENANT_ID, conversationId: GROUP, conversationSeq: parseConversationSeq(6) };
  await damage({ store: 'embedded', data }, target, 'recordMissing');
  const { code, out } = await explain('bob');
  expect(code).toBe(1);
  expect(out[0]).toBe('g_team is damaged: recordMissing at sequence 6.');
  expect(JSON.parse((await explain('bob', '--json')).out[0] ?? '')).toMatchObject({ kind: 'damaged', reason: 'recordMissing' });
});

test('an outsider, and a conversation that is not there, are told apart for the one who runs the command', async () => {
  await talk();
  expect(await explain('carol')).toMatchObject({ code: 1, out: [expect.stringContaining('carol is not a member of g_team')] });
  const elsewhere = await explain('bob', '--tenant', '7');
  expect(elsewhere).toMatchObject({ code: 1, out: ['There is no conversation g_team in this tenant.'] });
});

test('a data folder that is not there is told in one line, and is not made', async () => {
  const missing = `${data}/none`;
  const { code, err } = await qim(['explain', '--user', 'bob', '--conversation', GROUP, '--data', missing]);
  expect([code, err]).toEqual([1, [`qim: there is no data folder ${missing}`]]);
});

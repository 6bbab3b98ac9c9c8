/** A write that fails at any of its steps leaves nothing behind, in memory and on the disk. */
import { ControlKind, GROUP_MEMBERS_MAX, MessageStatus, MessageType, parseUserId, type UserId } from '@qim/proto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FaultHook } from '../src/embedded/open.js';
import { type Chat, control, Fixture, refusedWith, type Said, seq, TENANT, text } from '../src/testing/conformance/fixture.js';
import { EmbeddedBackend } from './embedded-backend.js';
import { dump } from './embedded-dump.js';

/** Throws at one step of one kind of operation, and remembers how many steps it saw last. */
class Faults {
  operation = '';
  index = -1;
  steps = 0;
  each: FaultHook = () => {};

  readonly hook: FaultHook = (at) => {
    const { operation, index, of } = at;
    this.each(at);
    if (operation !== this.operation) return;
    this.steps = of;
    if (index === this.index) throw new Error(`fault at step ${index} of ${of}`);
  };

  at(operation: string, index: number): void {
    this.operation = operation;
    this.index = index;
  }

  none(): void {
    this.index = -1;
  }
}

const APART = 'long '.repeat(1_000);
let faults: Faults;
let backend: EmbeddedBackend;
let fixture: Fixture;
let alice: UserId;
let bob: UserId;

beforeEach(async () => {
  faults = new Faults();
  backend = await EmbeddedBackend.open({ faults: faults.hook });
  fixture = new Fixture(backend);
  alice = fixture.user('alice');
  bob = fixture.user('bob');
});

afterEach(() => backend.close());

/** Runs `call` with a fault at each step in turn; after each of them nothing has changed. Then without one. */
async function allOrNothing(operation: string, call: () => Promise<unknown>): Promise<number> {
  const before = await dump(backend.folder);
  let tried = 0;
  for (const part of operation === 'commit' ? ['commit', 'owed'] : [operation]) {
    faults.steps = 0;
    for (let index = 0; index <= faults.steps; index += 1) {
      faults.at(part, index);
      await refusedWith(call(), 'StoreUnavailable');
      expect(await dump(backend.folder), `after a fault at step ${index} of ${part}`).toEqual(before);
      tried += 1;
    }
  }
  await backend.reopen();
  expect(await dump(backend.folder), 'opened again').toEqual(before);
  faults.none();
  await call();
  expect(await dump(backend.folder), 'without a fault').not.toEqual(before);
  return tried;
}

describe('a commit is all or nothing', () => {
  test('one that makes a conversation', async () => {
    const request = fixture.direct(alice, bob).request(alice, APART);
    // Record, body, index, two members, de-duplication, outbox, and after the last; facts, the outbox's counter, and after them.
    expect(await allOrNothing('commit', () => backend.store.messages.commit(request))).toBe(11);
  });

  test('one more message', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.say(alice);
    const request = chat.request(bob, APART);
    expect(await allOrNothing('commit', () => backend.store.messages.commit(request))).toBe(9);
    expect(await chat.unread(alice)).toEqual([1, true]);
  });

  test('one that lets users join, and one that makes them leave', async () => {
    const chat = await fixture.group(alice, [bob]);
    const carol = fixture.user('carol');
    const joined: Said = { type: MessageType.Control, content: control({ kind: ControlKind.Joined, userIds: [carol] }), needs: 'admin' };
    const join = chat.request(alice, { ...joined, change: { kind: 'join', userIds: [carol] } });
    await allOrNothing('commit', () => backend.store.messages.commit(join));
    const left: Said = { type: MessageType.Control, content: control({ kind: ControlKind.Left, userIds: [bob] }), needs: 'member' };
    const leave = chat.request(bob, { ...left, change: { kind: 'leave', userIds: [bob] } });
    await allOrNothing('commit', () => backend.store.messages.commit(leave));
    expect([...(await backend.store.messages.readMembers(TENANT, chat.conversationId)).keys()]).toEqual([alice, carol]);
  });

  test('a step of retention that erases the newest as well', async () => {
    const chat = fixture.direct(alice, bob);
    for (let n = 0; n < 3; n += 1) await chat.say(alice, APART);
    await chat.edit(2, 'edited');
    const { tenantId, conversationId } = chat;
    const policy = { olderThanMs: undefined, keepNewest: 0 };
    // Index, record, body and reactions of two, the amendment of one of them twice; the newest: record, body, reactions, two
    // of its amendment, the outbox and its counter; the facts; and after the last.
    expect(await allOrNothing('retain', () => backend.store.messages.retain(tenantId, conversationId, policy))).toBe(19);
    expect(await chat.sequences(bob)).toEqual([3]);
  });

  test('a message that fails takes none of those along that wait with it', async () => {
    const chats = [fixture.direct(alice, bob), fixture.direct(alice, bob), fixture.direct(alice, bob)];
    for (const chat of chats) await chat.say(alice);
    // In the shared transaction the second of three fails; when each runs alone, the last one does.
    const failing = new Set([2, 5]);
    let passes = 0;
    faults.each = ({ operation, index }) => {
      if (operation !== 'commit' || index !== 3) return;
      passes += 1;
      if (failing.has(passes)) throw new Error(`fault in pass ${passes}`);
    };
    const answers = await Promise.allSettled(chats.map((chat) => chat.say(bob, 'together')));
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(passes).toBe(5);
    await backend.reopen();
    const heads = await Promise.all(chats.map(async (chat) => (await chat.summary(alice)).latestConversationSeq));
    expect(heads).toEqual([2, 2, 1]);
  });
});

describe('commits that wait together', () => {
  test('what they owe fails: each owes alone, and only the one that fails is refused', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.say(alice);
    // Together once, then each alone; the second of these fails.
    const failing = new Set([1, 3]);
    let passes = 0;
    faults.each = ({ operation, index }) => {
      if (operation !== 'owed' || index !== 0) return;
      passes += 1;
      if (failing.has(passes)) throw new Error(`fault in pass ${passes}`);
    };
    const answers = await Promise.allSettled([1, 2, 3].map(() => chat.say(bob)));
    expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.conversationSeq : 0))).toEqual([2, 0, 3]);
    expect(passes).toBe(4);
    await backend.reopen();
    expect((await chat.say(alice)).conversationSeq).toBe(4);
  });

  test('facts and the counter of the outbox are written once for all of them', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.say(alice);
    const owed: number[] = [];
    faults.each = ({ operation, index, of }) => {
      if (operation === 'owed' && index === of) owed.push(of);
    };
    await Promise.all(Array.from({ length: 10 }, () => chat.say(bob)));
    expect(owed).toEqual([2]);
  });
});

describe('a refused commit writes nothing', () => {
  test.each([
    ['NotMember', (chat: Chat) => chat.say(fixture.user('mallory'))],
    ['Forbidden', (chat: Chat) => chat.say(bob, { needs: 'admin' })],
    ['Aborted', (chat: Chat) => chat.join(alice, bob)],
    ['Aborted', (chat: Chat) => chat.leave(bob, alice)],
  ])('%s', async (code, call) => {
    const chat = await fixture.group(alice, [bob]);
    const before = await dump(backend.folder);
    await refusedWith(call(chat), code);
    expect(await dump(backend.folder)).toEqual(before);
  });

  test('a group holds GROUP_MEMBERS_MAX and not one more', async () => {
    const chat = await fixture.group(alice, []);
    const names = Array.from({ length: GROUP_MEMBERS_MAX - 1 }, (_, n) => parseUserId(`member-${n}`));
    await chat.join(alice, ...names);
    const before = await dump(backend.folder);
    await refusedWith(chat.join(alice, bob), 'ResourceLimit');
    expect(await dump(backend.folder)).toEqual(before);
  });
});

describe('an amendment is all or nothing', () => {
  test('a first edit, a second one that moves the body apart, and a recall', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.say(alice, 'short');
    const first = await chat.record(1);
    expect(await allOrNothing('amend', () => chat.amend(first, { content: text('other') }))).toBe(8);
    const second = await chat.record(1);
    expect(await allOrNothing('amend', () => chat.amend(second, { content: text(APART) }))).toBe(9);
    const third = await chat.record(1);
    await allOrNothing('amend', () => chat.amend(third, { status: MessageStatus.Recalled, content: { kind: 'none' } }));
    expect(await chat.record(1)).toMatchObject({ status: MessageStatus.Recalled, revision: 3, content: { kind: 'none' } });
  });
});

describe('a change of a list is all or nothing', () => {
  const activity = (conversationSeq: number, activityAtMs: number) => ({ conversationSeq: seq(conversationSeq), activityAtMs });

  test('join, touch, raiseRead, leave', async () => {
    const chat = fixture.conversationId();
    const joined = [{ userId: alice, joinedSeq: seq(3), visibleFrom: seq(3) }];
    await allOrNothing('join', () => backend.store.directory.join(TENANT, chat, joined, activity(3, 100)));
    await allOrNothing('touch', () => backend.store.directory.touch(TENANT, chat, [alice], activity(4, 200)));
    await allOrNothing('raiseRead', () => backend.store.directory.raiseRead(TENANT, alice, chat, seq(4)));
    await allOrNothing('leave', () => backend.store.directory.leave(TENANT, chat, [alice], seq(5)));
    await allOrNothing('groupForRequest', () => backend.store.directory.groupForRequest(TENANT, alice, 'request', chat));
  });
});

describe('a change of the outbox is all or nothing', () => {
  test('acquire, acknowledge, setAside', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.sayTimes(alice, 2);
    await allOrNothing('acquire', () => backend.store.outbox.acquire(0, 'owner', 60_000));
    const own = async () => {
      const lease = await backend.store.outbox.acquire(0, 'owner', 60_000);
      if (lease === undefined) throw new Error('the lease is free');
      return lease;
    };
    await allOrNothing('acknowledge', async () => backend.store.outbox.acknowledge(await own(), ['1']));
    await allOrNothing('setAside', async () => backend.store.outbox.setAside(await own(), '2', 'a reason'));
    expect(await backend.store.outbox.backlog()).toMatchObject({ entries: 0, poison: 1 });
  });
});

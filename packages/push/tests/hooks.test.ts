/** What the webhook is told, in which order, and what becomes of what it does not take. */
import {
  HOOK_GIVE_UP_MS_DEFAULT,
  HOOK_PAGES_MAX,
  HOOK_READ_MAX,
  HOOK_REFUSALS_MAX,
  OFFLINE_PUSH_MEMBERS_MAX,
  parseConversationId,
  parseUserId,
} from '@qim/proto';
import type { HookAnswer, HookEvent, HookKind, Hooks } from '@qim/push';
import { openMemoryStore } from '@qim/store/memory';
import { describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, device, eventually, G, ManualTime, openWorldOn, T0, turns } from './support.js';

const H = parseConversationId('g_other');
const TAKEN: HookAnswer = { outcome: 'taken' };
const BADGE = { unreadConversations: 1, unreadCount: 2, mentionCount: 0, exact: true };

function lineOf(event: HookEvent): string {
  const { conversationId, conversationSeq } = event.message.record;
  const place = `${conversationId} ${conversationSeq}`;
  if (event.kind === 'offlinePush') return `push ${place} ${event.recipients.map(({ userId }) => userId).join()}`;
  return `${event.amended ? 'amended' : 'sent'} ${place}`;
}

function open({
  kinds = ['afterSend'] as HookKind[],
  store = undefined as ReturnType<typeof openMemoryStore> | undefined,
  ownerId = 'one',
  clock = new ManualTime(),
} = {}) {
  const used = store ?? openMemoryStore({ now: clock.now });
  const told: string[] = [];
  const ids: string[] = [];
  const dead = { count: 0 };
  let answer: (event: HookEvent) => HookAnswer = () => TAKEN;
  const hooks: Hooks = {
    queue: used.hooks,
    kinds: new Set(kinds),
    giveUpMs: HOOK_GIVE_UP_MS_DEFAULT,
    badge: async () => BADGE,
    async tell(event) {
      const given = answer(event);
      if (given.outcome === 'taken') {
        told.push(lineOf(event));
        ids.push(event.id);
      }
      return given;
    },
  };
  const world = openWorldOn(used, clock, () => ({ hooks, ownerId, observer: { hookDead: () => (dead.count += 1) } }));
  /** Until the queue is empty, with time going on. */
  const emptied = () =>
    eventually(clock, async () => {
      expect(await used.hooks.backlog()).toMatchObject({ waiting: 0 });
      expect(await used.outbox.backlog()).toMatchObject({ entries: 0 });
    });
  return { ...world, told, ids, dead, emptied, answering: (next: typeof answer) => (answer = next) };
}

const of = (lines: readonly string[], conversation: string) => lines.filter((line) => line.includes(` ${conversation} `));

describe('after a send', () => {
  test('each message and each change of one is told, in the order of their conversation', async () => {
    const { push, group, commit, add, told, ids, emptied } = open();
    await push.start();
    await group(ALICE, [BOB]);
    await commit(ALICE);
    await add(ALICE, [CAROL]);
    await emptied();
    expect(told).toEqual([`sent ${G} 1`, `sent ${G} 2`, `sent ${G} 3`]);
    expect(new Set(ids).size).toBe(3);
    await push.stop();
  });

  test('a message that was amended before it was told is told as it is now, under one id', async () => {
    const { push, group, commit, recall, told, ids, emptied, answering } = open();
    answering(() => ({ outcome: 'failed', why: '503' }));
    await push.start();
    await group(ALICE, []);
    const sent = await commit(ALICE);
    await recall(sent);
    let text = '';
    answering((event) => {
      text += JSON.stringify(event.message.record.content);
      return TAKEN;
    });
    await emptied();
    expect(told).toEqual([`sent ${G} 1`, `sent ${G} 2`, `amended ${G} 2`]);
    expect(text).not.toContain('message 2');
    expect(new Set(ids).size).toBe(3);
    await push.stop();
  });
});

describe('a webhook that does not take what it is told', () => {
  test('when nobody answers for a minute, devices get their events, and then all is told in order', async () => {
    const { push, connect, group, commit, drained, told, emptied, answering, time } = open();
    const phone = device(BOB);
    answering(() => ({ outcome: 'unreachable', why: 'ECONNREFUSED' }));
    await push.start();
    await connect(phone);
    await group(ALICE, [BOB]);
    await group(ALICE, [BOB], undefined, H);
    for (let n = 0; n < 60; n += 1) {
      await commit(ALICE, { conversationId: n % 2 === 0 ? G : H });
      time.advance(1_000);
      await turns(3);
    }
    await drained();
    expect(phone.lines.filter((line) => line.startsWith('messageCommitted'))).toHaveLength(62);
    expect(told).toEqual([]);
    answering(() => TAKEN);
    await emptied();
    const upTo31 = (conversation: string) => Array.from({ length: 31 }, (_, i) => `sent ${conversation} ${i + 1}`);
    expect(of(told, G)).toEqual(upTo31(G));
    expect(of(told, H)).toEqual(upTo31(H));
    await push.stop();
  });

  test('a conversation that fails waits, and the others go on', async () => {
    const { push, group, commit, told, emptied, answering, time } = open();
    answering((event) => (event.message.record.conversationId === G ? { outcome: 'failed', why: '500' } : TAKEN));
    await push.start();
    await group(ALICE, [BOB]);
    await group(ALICE, [BOB], undefined, H);
    await commit(ALICE);
    await commit(ALICE, { conversationId: H });
    await eventually(time, async () => {
      expect(told).toEqual([`sent ${H} 1`, `sent ${H} 2`]);
    });
    answering(() => TAKEN);
    await emptied();
    expect(of(told, G)).toEqual([`sent ${G} 1`, `sent ${G} 2`]);
    await push.stop();
  });

  test('one that fails for a while is told before what follows it, which would have been taken', async () => {
    const { push, group, commit, told, emptied, answering } = open();
    let failures = 3;
    answering((event) => {
      if (event.message.record.conversationSeq !== 1 || failures === 0) return TAKEN;
      failures -= 1;
      return { outcome: 'failed', why: '500' };
    });
    await push.start();
    await group(ALICE, [BOB]);
    await commit(ALICE);
    await commit(ALICE);
    await emptied();
    expect(told).toEqual([`sent ${G} 1`, `sent ${G} 2`, `sent ${G} 3`]);
    await push.stop();
  });

  test('what is refused is a dead letter after its last try, and what follows is told', async () => {
    const { push, store, group, commit, told, dead, emptied, answering } = open();
    let tries = 0;
    answering((event) => {
      if (event.message.record.conversationSeq !== 2) return TAKEN;
      tries += 1;
      return { outcome: 'refused', why: '422' };
    });
    await push.start();
    await group(ALICE, [BOB]);
    await commit(ALICE);
    await commit(ALICE);
    await emptied();
    expect(tries).toBe(HOOK_REFUSALS_MAX);
    expect(told).toEqual([`sent ${G} 1`, `sent ${G} 3`]);
    expect(dead.count).toBe(1);
    const letters = await store.hooks.dead(9);
    expect(letters.map(({ reason, about }) => [reason, about?.conversationSeq])).toEqual([['refused 422', 2]]);
    await push.stop();
  });

  test('what was not taken for the whole time is a dead letter, and what is newer waits on', async () => {
    const { push, store, group, commit, emptied, answering, time, told } = open();
    answering(() => ({ outcome: 'unreachable', why: 'ECONNREFUSED' }));
    await push.start();
    await group(ALICE, [BOB]);
    await commit(ALICE);
    await turns();
    time.advance(HOOK_GIVE_UP_MS_DEFAULT);
    await commit(ALICE);
    await eventually(time, async () => {
      expect(await store.hooks.backlog()).toMatchObject({ waiting: 1, dead: 2 });
    });
    answering(() => TAKEN);
    await emptied();
    expect(told).toEqual([`sent ${G} 3`]);
    await push.stop();
  });

  test('what waits when an owner stops is told by the next one, and what was told is not told again', async () => {
    const clock = new ManualTime();
    const store = openMemoryStore({ now: clock.now });
    const first = open({ store, clock });
    first.answering((event) => (event.message.record.conversationSeq <= 2 ? TAKEN : { outcome: 'unreachable', why: 'ECONNREFUSED' }));
    await first.push.start();
    await first.group(ALICE, [BOB]);
    for (let n = 0; n < 3; n += 1) await first.commit(ALICE);
    await eventually(clock, async () => {
      expect(await store.hooks.backlog()).toMatchObject({ waiting: 2 });
    });
    await first.push.stop();
    const second = open({ store, clock, ownerId: 'two' });
    await second.push.start();
    await second.emptied();
    expect(first.told).toEqual([`sent ${G} 1`, `sent ${G} 2`]);
    expect(second.told).toEqual([`sent ${G} 3`, `sent ${G} 4`]);
    await second.push.stop();
  });
});

describe('what waits behind a conversation that is held up', () => {
  test('is told, also past HOOK_PAGES_MAX pages of it, which nothing of it overtakes', async () => {
    const held = HOOK_PAGES_MAX * HOOK_READ_MAX + 1;
    const reads: (string | undefined)[] = [];
    const { push, store, group, commit, told, emptied, answering, time } = open();
    const { read } = store.hooks;
    store.hooks.read = (partition, after, limit) => {
      reads.push(after);
      expect(limit).toBe(HOOK_READ_MAX);
      return read(partition, after, limit);
    };
    answering((event) => (event.message.record.conversationId === G ? { outcome: 'failed', why: '500' } : TAKEN));
    await group(ALICE, [BOB]);
    for (let n = 1; n < held; n += 1) await commit(ALICE);
    // The same letters: the reference model puts it into the same partition.
    const behind = parseConversationId([...G].reverse().join(''));
    await group(ALICE, [BOB], undefined, behind);
    await commit(ALICE);
    await push.start();
    await eventually(time, async () => expect(told).toEqual([`sent ${behind} 1`]));
    // A whole round: every page of it, and the one that is empty.
    const round = reads.slice(reads.lastIndexOf(undefined));
    expect(round.length).toBeLessThanOrEqual(HOOK_PAGES_MAX + 3);
    answering(() => TAKEN);
    await emptied();
    expect(of(told, G)).toEqual(Array.from({ length: held + 1 }, (_, i) => `sent ${G} ${i + 1}`));
    await push.stop();
  });
});

describe('an offline push', () => {
  const kinds: HookKind[] = ['offlinePush'];

  test('goes to members who have no device connected, never to the sender, with the badge', async () => {
    const { push, connect, group, commit, told, emptied, answering } = open({ kinds });
    const badges: unknown[] = [];
    answering((event) => {
      if (event.kind === 'offlinePush') badges.push(...event.recipients.map(({ badge }) => badge));
      return TAKEN;
    });
    await push.start();
    await connect(device(BOB));
    await group(ALICE, [BOB, CAROL]);
    await commit(ALICE);
    await emptied();
    expect(told).toEqual([`push ${G} 2 ${CAROL}`]);
    expect(badges).toEqual([BADGE]);
    await push.stop();
  });

  test('is not sent to who has muted the conversation, has read it, or is suspended', async () => {
    const dave = parseUserId('dave');
    const { push, store, group, commit, told, emptied, answering } = open({ kinds });
    answering(() => ({ outcome: 'unreachable', why: 'ECONNREFUSED' }));
    await push.start();
    await group(ALICE, [BOB, CAROL, dave]);
    const { conversationSeq, committedAtMs } = await commit(ALICE);
    await turns();
    await store.directory.setFlags(T0, BOB, G, { muted: true }, { conversationSeq, activityAtMs: committedAtMs });
    await store.directory.raiseRead(T0, CAROL, G, conversationSeq);
    answering(() => TAKEN);
    await emptied();
    expect(told).toEqual([`push ${G} 2 dave`]);
    await store.users.suspend(T0, dave, undefined, true);
    await commit(ALICE);
    await emptied();
    expect(told.slice(1)).toEqual([`push ${G} 3 ${CAROL}`]);
    await push.stop();
  });

  test('knows the devices of other processes', async () => {
    const clock = new ManualTime();
    const store = openMemoryStore({ now: clock.now });
    const here = open({ kinds, store, clock });
    const there = open({ kinds, store, clock, ownerId: 'two' });
    await here.push.start();
    await there.connect(device(BOB));
    await here.group(ALICE, [BOB, CAROL]);
    await here.commit(ALICE);
    await here.emptied();
    expect(here.told).toEqual([`push ${G} 2 ${CAROL}`]);
    await here.push.stop();
    await there.push.stop();
  });

  test.each([
    [OFFLINE_PUSH_MEMBERS_MAX, OFFLINE_PUSH_MEMBERS_MAX - 1],
    [OFFLINE_PUSH_MEMBERS_MAX + 1, 1],
  ])('of a message in a group of %i goes to %i', async (size, expected) => {
    const { push, group, commit, told, emptied } = open({ kinds });
    await push.start();
    const others = Array.from({ length: size - 2 }, (_, i) => parseUserId(`u${i}`));
    await group(ALICE, [BOB, ...others]);
    await commit(ALICE, { mentions: { userIds: [BOB], all: false } });
    await emptied();
    expect(told.flatMap((line) => line.split(' ')[3]?.split(',') ?? [])).toHaveLength(expected);
    await push.stop();
  });
});

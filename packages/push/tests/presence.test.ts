/** Who is told that somebody is online, or has read: between people, and between processes. */
import {
  ControlKind,
  ConversationKind,
  HistoryVisibility,
  PRESENCE_ANSWER_MS,
  PRESENCE_GRACE_MS,
  PRESENCE_REFRESH_MS,
  parseConversationId,
  parseUserId,
  Role,
  type UserId,
} from '@qim/proto';
import { createPush } from '@qim/push';
import { afterEach, describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, type Device, device, G, openWorld, T0, turns, type World } from './support.js';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const DIRECT = parseConversationId('d_alice_bob');

async function world(): Promise<World> {
  const w = openWorld();
  stops.push(() => w.push.stop());
  const settings = { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false };
  const members = [ALICE, BOB].map((userId) => ({ userId, role: Role.Member }));
  const create = { kind: ConversationKind.Direct, title: '', settings, members, onlyNew: false };
  await w.commit(ALICE, { conversationId: DIRECT, create });
  for (const userId of [ALICE, BOB]) {
    const joined = { userId, joinedSeq: 1 as never, visibleFrom: 1 as never };
    await w.store.directory.join(T0, DIRECT, [joined], { conversationSeq: 1 as never, activityAtMs: 1 });
  }
  return w;
}

function another(w: World, ownerId: string) {
  const push = createPush({ ...w.deps, ownerId });
  stops.push(() => push.stop());
  return push;
}

async function after(w: World, ...times: readonly number[]): Promise<void> {
  await turns();
  for (const ms of times) {
    w.time.advance(ms);
    await turns();
  }
}

/** `alice on`, in their order. */
function seen({ events }: Device): string[] {
  return events.flatMap((event) => (event.kind === 'presence' ? [`${event.userId} ${event.online ? 'on' : 'off'}`] : []));
}

async function come(w: Pick<World, 'push'>, userId: UserId, name = 'phone') {
  const one = device(userId, name);
  const gone = await w.push.subscribe(one);
  await turns();
  return { one, gone };
}

describe('presence', () => {
  test('whoever comes is told of to the other of a direct conversation, and told of them; nobody is told of oneself', async () => {
    const w = await world();
    const { one: alice } = await come(w, ALICE);
    const { one: carol } = await come(w, CAROL);
    const { one: bob } = await come(w, BOB);
    expect([seen(alice), seen(bob), seen(carol)]).toEqual([['bob on'], ['alice on'], []]);
  });

  test('whoever has gone for PRESENCE_GRACE_MS is offline, and who comes back before was never away', async () => {
    const w = await world();
    const { one: bob } = await come(w, BOB);
    const first = await come(w, ALICE);
    first.gone();
    await after(w, PRESENCE_GRACE_MS - 1);
    const again = await come(w, ALICE);
    await after(w, PRESENCE_GRACE_MS, PRESENCE_ANSWER_MS);
    expect(seen(bob)).toEqual(['alice on', 'alice on']);
    again.gone();
    again.gone();
    await after(w, PRESENCE_GRACE_MS, PRESENCE_ANSWER_MS);
    expect(seen(bob)).toEqual(['alice on', 'alice on', 'alice off']);
  });

  test('a further device, and one that comes back within the grace, are told who is there', async () => {
    const w = await world();
    await come(w, BOB);
    const { gone } = await come(w, ALICE, 'phone');
    const { one: pad } = await come(w, ALICE, 'pad');
    expect(seen(pad)).toEqual(['bob on']);
    gone();
    const { one: phone } = await come(w, ALICE, 'phone');
    expect(seen(phone)).toEqual(['bob on']);
  });

  test('a direct conversation that began since is asked about when a further device comes', async () => {
    const w = await world();
    const { one: carol } = await come(w, CAROL);
    await come(w, ALICE, 'phone');
    const direct = parseConversationId('d_alice_carol');
    const settings = { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false };
    const members = [ALICE, CAROL].map((userId) => ({ userId, role: Role.Member }));
    await w.commit(ALICE, {
      conversationId: direct,
      create: { kind: ConversationKind.Direct, title: '', settings, members, onlyNew: false },
    });
    const joined = { userId: ALICE, joinedSeq: 1 as never, visibleFrom: 1 as never };
    await w.store.directory.join(T0, direct, [joined], { conversationSeq: 1 as never, activityAtMs: 1 });
    await come(w, ALICE, 'pad');
    expect(seen(carol)).toEqual(['alice on']);
  });

  test('one of several devices that goes changes nothing', async () => {
    const w = await world();
    const { one: bob } = await come(w, BOB);
    const { gone } = await come(w, ALICE, 'phone');
    await come(w, ALICE, 'pad');
    gone();
    await after(w, PRESENCE_GRACE_MS, PRESENCE_ANSWER_MS);
    expect(seen(bob)).not.toContain('alice off');
  });

  test('is told again every PRESENCE_REFRESH_MS, so that one of whom nothing is heard is offline', async () => {
    const w = await world();
    const { one: bob } = await come(w, BOB);
    await come(w, ALICE);
    await after(w, PRESENCE_REFRESH_MS);
    expect(seen(bob)).toEqual(['alice on', 'alice on']);
  });

  test('is not told to whom the user has blocked', async () => {
    const w = await world();
    await w.store.users.block(T0, ALICE, BOB);
    const { one: bob } = await come(w, BOB);
    const { one: alice } = await come(w, ALICE);
    expect([seen(alice), seen(bob)]).toEqual([[], []]);
  });

  test('is of no group', async () => {
    const w = await world();
    await w.group(ALICE, [CAROL]);
    const { one: carol } = await come(w, CAROL);
    await come(w, ALICE);
    expect(seen(carol)).toEqual([]);
  });

  test('crosses processes: a device that goes here does not take the user offline who has one there', async () => {
    const w = await world();
    const there = { push: another(w, 'two') };
    const { one: bob } = await come(there, BOB);
    const here = await come(w, ALICE, 'phone');
    const far = await come(there, ALICE, 'pad');
    here.gone();
    await after(w, PRESENCE_GRACE_MS, PRESENCE_ANSWER_MS);
    expect(seen(bob)).toEqual(['alice on', 'alice on']);
    far.gone();
    await after(w, PRESENCE_GRACE_MS, PRESENCE_ANSWER_MS);
    expect(seen(bob).at(-1)).toBe('alice off');
  });

  test('a process that stops says that its users have gone, and another where they are corrects it', async () => {
    const w = await world();
    const two = another(w, 'two');
    const { one: bob } = await come({ push: another(w, 'three') }, BOB);
    await come(w, ALICE);
    await come({ push: two }, ALICE, 'pad');
    await w.push.stop();
    await turns();
    expect(seen(bob).slice(-2)).toEqual(['alice off', 'alice on']);
    await two.stop();
    await turns();
    expect(seen(bob).at(-1)).toBe('alice off');
  });
});

describe('read receipts', () => {
  const advanced = ({ events }: Device) =>
    events.flatMap((event) => (event.kind === 'readAdvanced' ? [`${event.userId} ${event.readConversationSeq}`] : []));

  test('go to the others who may see what was read, where the conversation has them', async () => {
    const w = await world();
    const dan = parseUserId('dan');
    const settings = { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false, readReceipts: true };
    const members = [ALICE, BOB].map((userId) => ({ userId, role: userId === ALICE ? Role.Owner : Role.Member }));
    const create = { kind: ConversationKind.Group, title: 'room', settings, members, onlyNew: true };
    await w.control(ALICE, { kind: ControlKind.Created, title: 'room', userIds: [ALICE, BOB] }, { create });
    for (let n = 2; n <= 5; n += 1) await w.commit(ALICE);
    await w.add(ALICE, [CAROL]);
    const devices = await Promise.all([ALICE, BOB, CAROL, dan].map(async (userId) => (await come(w, userId)).one));
    w.push.announceRead(T0, BOB, G, 5 as never);
    await turns();
    expect(devices.map(advanced)).toEqual([['bob 5'], ['bob 5'], [], []]);
    w.push.announceRead(T0, BOB, G, 6 as never);
    await turns();
    expect(devices.map(advanced)).toEqual([['bob 5', 'bob 6'], ['bob 5', 'bob 6'], ['bob 6'], []]);
  });

  test('go to one’s own devices alone where it has none, and of a mark below one’s joining', async () => {
    const w = await world();
    await w.group(ALICE, [BOB]);
    const { one: alice } = await come(w, ALICE);
    const { one: bob } = await come(w, BOB);
    w.push.announceRead(T0, BOB, G, 1 as never);
    await turns();
    expect([advanced(alice), advanced(bob)]).toEqual([[], ['bob 1']]);
  });
});

/** Web Push: who gets a notification, what becomes of one that is not taken, and that it holds up nobody else. */
import {
  HOOK_GIVE_UP_MS_DEFAULT,
  parseConversationId,
  parseDeviceId,
  parseUserId,
  type UserId,
  WEB_PUSH_MESSAGES_IN_FLIGHT_MAX,
  WEB_PUSH_MESSAGES_WAITING_MAX,
  WEB_PUSH_SENDS_AT_ONCE,
  WEB_PUSH_TRIES_MAX,
} from '@qim/proto';
import type { HookKind, WebPushNotification, WebPushOutcome } from '@qim/push';
import { openMemoryStore } from '@qim/store/memory';
import { describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, device, eventually, G, ManualTime, openWorldOn, T0, turns } from './support.js';

const DAVE = parseUserId('dave');
const BADGE = { unreadConversations: 1, unreadCount: 2, mentionCount: 0, exact: true };

function open({ kinds = [] as HookKind[] } = {}) {
  const clock = new ManualTime();
  const store = openMemoryStore({ now: clock.now });
  const tried: string[] = [];
  const told: string[] = [];
  const counted: string[] = [];
  let answer: (notification: WebPushNotification) => WebPushOutcome | Promise<WebPushOutcome> = () => 'taken';
  const world = openWorldOn(store, clock, () => ({
    hooks: {
      queue: store.hooks,
      kinds: new Set(kinds),
      giveUpMs: HOOK_GIVE_UP_MS_DEFAULT,
      badge: async () => BADGE,
      tell: async ({ message }) => {
        told.push(`${message.record.conversationSeq}`);
        return { outcome: 'taken' };
      },
      webPush: async (notification) => {
        const { subscription, message, badge } = notification;
        expect(badge).toEqual(BADGE);
        tried.push(`${message.record.conversationSeq} ${subscription.endpoint}`);
        return answer(notification);
      },
    },
    observer: { webPushSent: (outcome) => counted.push(outcome) },
  }));
  const soon = (check: () => unknown) => eventually(clock, check);
  const emptied = () =>
    soon(async () => {
      expect(await store.hooks.backlog()).toMatchObject({ waiting: 0, dead: 0 });
      expect(await store.outbox.backlog()).toMatchObject({ entries: 0 });
    });
  /** One browser: its endpoint is its name. */
  const register = (userId: UserId, endpoint: string, deviceId?: string) =>
    store.users.addWebPush(T0, userId, {
      endpoint,
      p256dh: 'key',
      auth: 'secret',
      deviceId: deviceId === undefined ? undefined : parseDeviceId(deviceId),
    });
  return { ...world, store, tried, told, counted, soon, emptied, register, answering: (next: typeof answer) => (answer = next) };
}

describe('a notification', () => {
  test('goes to each browser of who is away, never to the sender, nor for a change of a message', async () => {
    const { push, connect, group, commit, edit, register, tried, emptied } = open();
    await register(ALICE, 'alices');
    await register(BOB, 'bobs');
    await register(CAROL, 'carols phone', 'phone');
    await register(CAROL, 'carols desk');
    await push.start();
    await connect(device(BOB));
    await group(ALICE, [BOB, CAROL, DAVE]);
    const sent = await commit(ALICE);
    await emptied();
    await edit(sent);
    await emptied();
    expect(tried.sort()).toEqual(['2 carols desk', '2 carols phone']);
    await push.stop();
  });

  test('is not for a suspended device, nor for who has muted the conversation or has read it', async () => {
    const { push, store, group, commit, register, tried, emptied, answering } = open();
    await register(BOB, 'muted');
    await register(CAROL, 'has read');
    await register(DAVE, 'suspended', 'lost phone');
    await register(DAVE, 'other');
    await store.users.suspend(T0, DAVE, parseDeviceId('lost phone'), true);
    answering(() => 'failed');
    await push.start();
    await group(ALICE, [BOB, CAROL, DAVE]);
    const { conversationSeq, committedAtMs } = await commit(ALICE);
    await turns();
    expect(tried.sort()).toEqual(['2 has read', '2 muted', '2 other']);
    await store.directory.setFlags(T0, BOB, G, { muted: true }, { conversationSeq, activityAtMs: committedAtMs });
    await store.directory.raiseRead(T0, CAROL, G, conversationSeq);
    answering(() => 'taken');
    await emptied();
    expect(tried.slice(3)).toEqual(['2 other']);
    await push.stop();
  });
});

describe('a push service that does not take it', () => {
  test('gone: the subscription is removed, and not tried again', async () => {
    const { push, store, group, commit, register, tried, counted, emptied, answering } = open();
    await register(BOB, 'gone');
    await register(BOB, 'there');
    answering(({ subscription }) => (subscription.endpoint === 'gone' ? 'gone' : 'taken'));
    await push.start();
    await group(ALICE, [BOB]);
    await commit(ALICE);
    await emptied();
    expect((await store.users.webPush(T0, [BOB]))[0]?.map(({ endpoint }) => endpoint)).toEqual(['there']);
    await commit(ALICE);
    await emptied();
    expect(tried).toEqual(['2 gone', '2 there', '3 there']);
    expect(counted.sort()).toEqual(['gone', 'taken', 'taken']);
    await push.stop();
  });

  test('not now: it is tried WEB_PUSH_TRIES_MAX times with waits between them, the others once, and then given up', async () => {
    const { push, group, commit, register, tried, counted, emptied, answering } = open();
    await register(BOB, 'busy');
    await register(CAROL, 'there');
    answering(({ subscription }) => (subscription.endpoint === 'busy' ? 'failed' : 'taken'));
    await push.start();
    await group(ALICE, [BOB, CAROL]);
    await commit(ALICE);
    await emptied();
    expect(tried.filter((line) => line.endsWith('there'))).toHaveLength(1);
    expect(tried.filter((line) => line.endsWith('busy'))).toHaveLength(WEB_PUSH_TRIES_MAX);
    expect(counted.filter((outcome) => outcome === 'givenUp')).toHaveLength(1);
    await push.stop();
  });

  test('hanging: what the webhook is told of the same conversation goes on in its order', async () => {
    const { push, store, group, commit, register, told, soon, emptied, answering } = open({ kinds: ['afterSend'] });
    await register(BOB, 'hangs');
    let release: (outcome: WebPushOutcome) => void = () => {};
    const held = new Promise<WebPushOutcome>((resolve) => (release = resolve));
    answering(() => held);
    await push.start();
    await group(ALICE, [BOB]);
    for (let n = 0; n < 5; n += 1) await commit(ALICE);
    await soon(() => expect(told).toEqual(['1', '2', '3', '4', '5', '6']));
    // They survive this process while they are not sent.
    expect(await store.hooks.backlog()).toMatchObject({ waiting: 5 });
    release('taken');
    await emptied();
    await push.stop();
  });
});

test('of one message at most WEB_PUSH_SENDS_AT_ONCE notifications are sent at the same time', async () => {
  const { push, group, commit, register, tried, soon, emptied, answering } = open();
  const browsers = Array.from({ length: WEB_PUSH_SENDS_AT_ONCE + 1 }, (_, i) => `b${i}`);
  for (const name of browsers) await register(BOB, name);
  const releases: ((outcome: WebPushOutcome) => void)[] = [];
  answering(() => new Promise((resolve) => releases.push(resolve)));
  await push.start();
  await group(ALICE, [BOB]);
  await commit(ALICE);
  await soon(() => expect(tried).toHaveLength(WEB_PUSH_SENDS_AT_ONCE));
  await turns(20);
  expect(tried).toHaveLength(WEB_PUSH_SENDS_AT_ONCE);
  releases[0]?.('taken');
  await soon(() => expect(tried).toHaveLength(WEB_PUSH_SENDS_AT_ONCE + 1));
  for (const release of releases) release('taken');
  await emptied();
  await push.stop();
});

describe('messages whose notifications hang', () => {
  test('are WEB_PUSH_MESSAGES_IN_FLIGHT_MAX at most; the next one goes when there is room', async () => {
    const { push, group, commit, register, tried, soon, emptied, answering } = open();
    await register(BOB, 'hangs');
    const releases: ((outcome: WebPushOutcome) => void)[] = [];
    answering(() => new Promise((resolve) => releases.push(resolve)));
    await push.start();
    await group(ALICE, [BOB]);
    for (let n = 0; n <= WEB_PUSH_MESSAGES_IN_FLIGHT_MAX; n += 1) await commit(ALICE);
    await soon(() => expect(tried).toHaveLength(WEB_PUSH_MESSAGES_IN_FLIGHT_MAX));
    for (let n = 0; n < 20; n += 1) await turns(5);
    expect(tried).toHaveLength(WEB_PUSH_MESSAGES_IN_FLIGHT_MAX);
    releases[0]?.('taken');
    await soon(() => expect(tried).toHaveLength(WEB_PUSH_MESSAGES_IN_FLIGHT_MAX + 1));
    for (const release of releases) release('taken');
    await emptied();
    await push.stop();
  });

  test('and past WEB_PUSH_MESSAGES_WAITING_MAX of a partition get none', async () => {
    const { push, store, group, commit, register, counted, soon, emptied, answering } = open();
    await register(BOB, 'hangs');
    let release: (outcome: WebPushOutcome) => void = () => {};
    const held = new Promise<WebPushOutcome>((resolve) => (release = resolve));
    answering(() => held);
    await push.start();
    const other = parseConversationId('g_other');
    await group(ALICE, [BOB], undefined, other);
    for (let n = 0; n < WEB_PUSH_MESSAGES_WAITING_MAX + 1; n += 1) await commit(ALICE, { conversationId: other });
    await soon(async () => expect(await store.outbox.backlog()).toMatchObject({ entries: 0 }));
    await soon(() => expect(counted).toEqual(['givenUp']));
    expect(await store.hooks.backlog()).toMatchObject({ waiting: WEB_PUSH_MESSAGES_WAITING_MAX });
    release('taken');
    await emptied();
    await push.stop();
  });
});

/** The receiver of webhooks is down for a minute under load, whatever the store is that holds what waits for it. */
import { SEND_RATE_USER_MAX } from '@qim/proto';
import type { Store } from '@qim/store';
import { expect } from 'vitest';
import { type Clock, realClock } from '../src/clock.js';
import type { TestServer } from './running.js';
import { eventually, HOOK_SECRET, send, startReceiver, startWithWebhook } from './webhook-receiver.js';

/** Each of four conversations gets `rounds` messages, more than 20; the store is the server's from here on, which is handed back. */
export async function minuteWithoutReceiver(store: Store, rounds: number): Promise<TestServer> {
  expect(rounds * 4).toBeLessThan(SEND_RATE_USER_MAX);
  const { told, url, up, down, answering } = await startReceiver();
  // A minute is as long as it takes to run: the clock of the delivery goes twenty times as fast.
  const base = performance.now();
  const monotonicNow = () => (performance.now() - base) * 20;
  const sleep: Clock['sleep'] = (ms, signal) => realClock.sleep(ms / 20, signal);
  const server = await startWithWebhook(
    { webhookUrl: url, webhookEvents: 'afterSend', logLevel: 'info', pushLease: '15s' },
    { store, monotonicNow, sleep },
  );
  answering(({ body }) => (body.message.text === 'refuse me' ? [422, ''] : [200, '']));
  const users = ['bob', 'carol', 'dave', 'erin'];
  /** 1: each of them has one more. */
  const say = async (text: string) => {
    const answers = await Promise.all(users.map((user) => send(server, 'alice', { toUserId: user, text })));
    expect(answers.map(({ status }) => status)).toEqual(users.map(() => 200));
    return 1;
  };
  await say('before');
  await eventually(() => expect(told).toHaveLength(4));
  await down();
  const downAtMs = monotonicNow();
  let sent = 1;
  // All of them at once, within what a sender may have in a minute, and then the rest of the minute.
  while (sent < rounds || monotonicNow() - downAtMs < 60_000) {
    if (sent < rounds) sent += await say(sent === 20 ? 'refuse me' : `message ${sent}`);
    else await sleep(1_000, new AbortController().signal);
  }
  expect((await store.hooks.backlog()).waiting).toBeGreaterThan(0);
  await up();
  await eventually(async () => {
    expect(await store.hooks.backlog()).toMatchObject({ waiting: 0, dead: 4 });
    expect(told).toHaveLength(4 * (sent - 1));
  });
  const expected = Array.from({ length: sent }, (_, i) => String(i + 1)).filter((seq) => seq !== '21');
  const conversations = new Set(told.map(({ body }) => body.message.conversationId));
  expect(conversations.size).toBe(4);
  for (const id of conversations) {
    const seqs = told.filter(({ body }) => body.message.conversationId === id).map(({ body }) => body.message.conversationSeq);
    expect(seqs).toEqual(expected);
  }
  const dead = await store.hooks.dead(10);
  expect(dead.map(({ reason, about }) => [reason, about?.conversationSeq])).toEqual(Array.from({ length: 4 }, () => ['refused 422', 21]));
  const logged = server.lines.err.join('\n');
  expect(logged).toContain('dead letter');
  for (const secret of ['refuse me', 'message 1', HOOK_SECRET]) expect(logged).not.toContain(secret);
  return server;
}

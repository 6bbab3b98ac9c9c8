/** What one process is told of users reaches the other processes over one Redis: suspensions, typing, presence. */
import { type RedisServer, startRedis } from '@qim/store/testing';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { openStore } from '../src/open-store.js';
import { startTestServer, type TestServer } from './running.js';

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

async function started(): Promise<TestServer> {
  const store = await openStore({ store: new URL(redis.url), data: '/nowhere' }, { as: 'server' });
  const server = await startTestServer({}, { store });
  onTestFinished(() => server.stop());
  return server;
}

/** The events of a stream over HTTP, as the texts of their envelopes; `ended` once the server has ended it. */
async function streamOf(server: TestServer, user: string) {
  const stop = new AbortController();
  const response = await fetch(new URL('/qim.v1.EventService/Subscribe', server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/connect+json', authorization: `Bearer ${await server.token({ user })}` },
    body: new Uint8Array([0, 0, 0, 0, 2, ...Buffer.from('{}')]),
    signal: stop.signal,
  });
  onTestFinished(() => stop.abort());
  const seen = { text: '', ended: false };
  const reader = response.body?.getReader();
  const read = async (): Promise<void> => {
    for (;;) {
      const next = await reader?.read().catch(() => undefined);
      if (next?.value === undefined) break;
      seen.text += Buffer.from(next.value).toString('utf8');
    }
    seen.ended = true;
  };
  void read();
  await soon(() => expect(seen.text).toContain('subscribed'));
  return seen;
}

const soon = (check: () => void) => vi.waitFor(check, { interval: 5, timeout: 60_000 });

test('a user who is suspended by one process is out of the others, and stays out of one that starts later', async () => {
  const [one, two] = [await started(), await started()];
  const [mallory, bob] = [await streamOf(one, 'mallory'), await streamOf(one, 'bob')];
  const admin = await two.token({ user: 'backend', admin: true });
  expect((await two.call('qim.v1.AdminService/SuspendUser', admin, { userId: 'mallory', suspended: true })).status).toBe(200);
  await soon(() => expect(mallory.ended).toBe(true));
  expect(mallory.text).toContain('UNAUTHENTICATED');
  expect(bob.ended).toBe(false);
  for (const server of [one, two, await started()]) {
    expect((await server.call('qim.v1.SessionService/ListConversations', await server.token({ user: 'mallory' }), {})).status).toBe(401);
  }
});

test('typing and presence cross processes', async () => {
  const [one, two] = [await started(), await started()];
  const body = { toUserId: 'bea', clientMessageId: 'c1', type: 'MESSAGE_TYPE_TEXT', text: 'x' };
  const alice = await one.token({ user: 'alma' });
  const sent = await one.call('qim.v1.MessageService/SendMessage', alice, body);
  const { message } = (await sent.json()) as { message: { conversationId: string } };
  const bea = await streamOf(two, 'bea');
  const alma = await streamOf(one, 'alma');
  await soon(() => expect(bea.text).toContain('"presence":{"userId":"alma","online":true}'));
  await soon(() => expect(alma.text).toContain('"presence":{"userId":"bea","online":true}'));
  await one.call('qim.v1.EventService/SetTyping', alice, { conversationId: message.conversationId, on: true });
  await soon(() => expect(bea.text).toContain(`"typing":{"conversationId":"${message.conversationId}","userId":"alma","on":true}`));
});

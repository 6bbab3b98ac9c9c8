/** One open store: the rooms share what the composition root has opened, and open nothing themselves. */
import { execFileSync } from 'node:child_process';
import { type RedisServer, startRedis } from '@qim/store/testing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../src/open-store.js';
import { startTestServer } from './running.js';

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

/** Names of the connections that are open, but for the one that asks. */
function clients(): string[] {
  const list = execFileSync('redis-cli', ['-p', String(redis.port), 'CLIENT', 'LIST'], { encoding: 'utf8' });
  return list
    .split('\n')
    .filter((line) => line !== '' && !line.includes('cmd=client'))
    .map((line) => / name=(\S*)/.exec(line)?.[1] ?? '')
    .sort();
}

async function started(roles: string) {
  const store = await openStore({ store: new URL(redis.url), data: '/nowhere' }, { as: 'server' });
  const server = await startTestServer({ roles }, { store });
  onTestFinished(() => server.stop());
  return server;
}

const LIST = 'qim.v1.SessionService/ListConversations';

test('the read side alone has one connection, also after it has answered that there is nothing', async () => {
  const server = await started('session');
  expect((await server.call(LIST, await server.token({ user: 'alice' }), {})).status).toBe(200);
  expect(clients()).toEqual(['qim']);
});

test('a whole server has one, and one more that waits for the outbox', async () => {
  const server = await started('gateway,session,push');
  const body = { toUserId: 'bob', clientMessageId: 'c1', type: 'MESSAGE_TYPE_TEXT', text: 'x' };
  expect((await server.call('qim.v1.MessageService/SendMessage', await server.token({ user: 'alice' }), body)).status).toBe(200);
  await expect.poll(clients).toEqual(['qim', 'qim-outbox']);
});

test('a stopped server has none', async () => {
  const server = await started('gateway,session,push');
  await server.stop();
  await expect.poll(clients).toEqual([]);
});

/** What keeps one link good: tokens renewed in time, the network coming back, what the server asks for, and whose it is. */
import { type Client, type ClientOptions, createClient } from '@qim/client';
import { LINK_PROBE_MS, TIMER_MS_MAX, TOKEN_RENEW_BEFORE_MS, TOKEN_RENEW_PAUSE_MS } from '@qim/proto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { expiryOf, untilRenewalMs } from '../src/token.js';
import { FakeSocket } from './support/fake-socket.js';

let client: Client;
let networkBack: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.made = [];
});
afterEach(() => {
  client.close();
  vi.useRealTimers();
});

async function connecting(options: Partial<ClientOptions> = {}): Promise<void> {
  const onNetworkBack = (run: () => void): (() => void) => {
    networkBack = run;
    return () => {
      networkBack = () => {};
    };
  };
  client = createClient({
    url: 'http://chat.test',
    token: () => 'token',
    WebSocket: FakeSocket,
    random: () => 0,
    onNetworkBack,
    ...options,
  });
  client.connect();
  await pass(0);
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
/** A link over which something comes now and then. */
async function passAlive(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5_000) {
    await pass(Math.min(left, 5_000));
    FakeSocket.last.frame({ case: 'event', value: { kind: { case: 'subscribed', value: {} } } });
  }
}
const status = (): string => client.connection.snapshot().status;

/** Expires so much later. The claim that only UTF-8 in base64url can hold is there on purpose. */
function tokenFor(ms: number): string {
  const claims = Buffer.from(JSON.stringify({ sub: 'älïce??>>', exp: Math.floor((Date.now() + ms) / 1000) })).toString('base64url');
  return `head.${claims}.signature`;
}

describe('a token', () => {
  test('is renewed over the open link before it expires, again and again', async () => {
    const whys: string[] = [];
    const token: ClientOptions['token'] = (why) => {
      whys.push(why);
      return tokenFor(600_000);
    };
    await connecting({ token });
    FakeSocket.last.welcome();
    await passAlive(600_000 - TOKEN_RENEW_BEFORE_MS);
    expect([whys, FakeSocket.last.tokens.length]).toEqual([['connect', 'renew'], 2]);
    FakeSocket.last.frame({ case: 'welcome', value: { userId: 'alice' } });
    await passAlive(600_000 - TOKEN_RENEW_BEFORE_MS);
    expect([whys.length, FakeSocket.made.length, status()]).toEqual([3, 1, 'online']);
  });

  test('that cannot be renewed is asked for again before it expires, and nothing breaks', async () => {
    let asked = 0;
    const token: ClientOptions['token'] = (why) => {
      if (why === 'renew') asked += 1;
      if (why === 'renew') throw new Error('no network');
      return tokenFor(600_000);
    };
    await connecting({ token });
    FakeSocket.last.welcome();
    await passAlive(599_000);
    expect([asked > 1, asked < 10, status()]).toEqual([true, true, 'online']);
  });

  test('that has expired by a clock that is wrong is not renewed over and over', async () => {
    let asked = 0;
    const token: ClientOptions['token'] = () => {
      asked += 1;
      return tokenFor(-3_600_000);
    };
    await connecting({ token });
    FakeSocket.last.welcome();
    await pass(TOKEN_RENEW_PAUSE_MS * 5);
    expect(asked).toBeLessThanOrEqual(6);
  });

  test('says when it expires, or nothing', () => {
    expect(expiryOf(tokenFor(5_000))).toBe(Math.floor((Date.now() + 5_000) / 1000) * 1000);
    for (const token of ['', 'a', 'a.b.c', `a.${btoa('{}')}.c`, `a.${btoa('{"exp":"x"}')}.c`, `a.${btoa('5')}.c`])
      expect(expiryOf(token)).toBeUndefined();
  });

  test('that lives longer than a timer can wait is looked at again', () => {
    expect(untilRenewalMs(TIMER_MS_MAX * 3)).toEqual({ ms: TIMER_MS_MAX, renew: false });
    expect(untilRenewalMs(TIMER_MS_MAX + TOKEN_RENEW_BEFORE_MS)).toEqual({ ms: TIMER_MS_MAX, renew: true });
    expect(untilRenewalMs(100_000)).toEqual({ ms: 75_000, renew: true });
    expect(untilRenewalMs(0)).toEqual({ ms: TOKEN_RENEW_PAUSE_MS, renew: true });
  });
});

describe('when the network comes back', () => {
  test('a waiting client tries at once, and its pauses start over', async () => {
    await connecting();
    for (const ms of [500, 1_000, 2_000]) {
      FakeSocket.last.end(1006);
      await pass(ms);
    }
    FakeSocket.last.end(1006);
    networkBack();
    await pass(0);
    expect(FakeSocket.made.length).toBe(5);
    FakeSocket.last.end(1006);
    expect(client.connection.snapshot()).toMatchObject({ status: 'waiting', failures: 1 });
  });

  test('a link that only looks open is found out, and one that answers is kept', async () => {
    await connecting();
    FakeSocket.last.welcome();
    await pass(1);
    networkBack();
    expect(FakeSocket.last.tokens.length).toBe(2);
    await pass(1);
    FakeSocket.last.frame({ case: 'welcome', value: { userId: 'alice' } });
    await pass(LINK_PROBE_MS);
    expect(status()).toBe('online');
    networkBack();
    await pass(LINK_PROBE_MS);
    expect([FakeSocket.made[0]?.closedWith, status()]).toEqual([3003, 'waiting']);
  });

  test('nothing is heard of it once the client is closed', async () => {
    await connecting();
    client.close();
    networkBack();
    await pass(0);
    expect(FakeSocket.made.length).toBe(1);
  });
});

test('a server that says when to come back is not asked before, whatever the network does', async () => {
  await connecting();
  FakeSocket.last.open();
  const value = { code: 'resource_exhausted', reason: 'RATE_LIMITED', message: 'full', retryAfterMs: 20_000 };
  FakeSocket.last.frame({ case: 'error', value });
  FakeSocket.last.end(4500);
  networkBack();
  await pass(19_999);
  expect(FakeSocket.made.length).toBe(1);
  await pass(1);
  expect(FakeSocket.made.length).toBe(2);
});

describe('a client is one user’s', () => {
  test.each([
    [{ userId: 'bob' }, { userId: 'alice' }],
    [{ userId: 'alice', tenant: 7 }, { userId: 'alice' }],
  ])('one for %j stops when the token is for %j', async (account, identity) => {
    await connecting({ account });
    FakeSocket.last.open();
    FakeSocket.last.frame({ case: 'welcome', value: identity });
    await pass(60_000);
    expect(client.connection.snapshot()).toMatchObject({ status: 'stopped', error: { reason: 'ACCOUNT_MISMATCH' } });
    expect(FakeSocket.made.length).toBe(1);
    await expect(client.getConversation('g_1')).rejects.toMatchObject({ reason: 'ACCOUNT_MISMATCH' });
  });

  test('without an account, the first welcome says whose it is', async () => {
    await connecting();
    FakeSocket.last.welcome();
    FakeSocket.last.end(1006);
    await pass(500);
    FakeSocket.last.open();
    FakeSocket.last.frame({ case: 'welcome', value: { userId: 'bob' } });
    expect(client.connection.snapshot()).toMatchObject({ status: 'stopped', error: { reason: 'ACCOUNT_MISMATCH' } });
  });
});

import { type Client, type ClientOptions, createClient } from '@qim/client';
import {
  CALL_TIMEOUT_MS,
  CALLS_IN_FLIGHT_MAX,
  CLIENT_CALLS_WAITING_MAX,
  CONNECT_TIMEOUT_MS,
  CONNECTION_STABLE_MS,
  RELIST_INTERVAL_MS,
} from '@qim/proto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FakeSocket } from './support/fake-socket.js';

let client: Client;

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.made = [];
});

afterEach(() => {
  client.close();
  vi.useRealTimers();
});

/** Random 0: every pause in full. */
async function connecting(options: Partial<ClientOptions> = {}): Promise<void> {
  client = createClient({ url: 'http://chat.test', token: () => 'token', WebSocket: FakeSocket, random: () => 0, ...options });
  client.connect();
  await vi.advanceTimersByTimeAsync(0);
}

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

const status = (): string => client.connection.snapshot().status;

describe('connecting', () => {
  test('goes to /ws with the binary subprotocol, and says hello first', async () => {
    await connecting();
    FakeSocket.last.open();
    expect([FakeSocket.last.url, FakeSocket.last.protocols, FakeSocket.last.tokens]).toEqual([
      'ws://chat.test/ws',
      'qim.v1+proto',
      ['token'],
    ]);
    expect(status()).toBe('connecting');
  });

  test('is online at the welcome, as who the server says', async () => {
    await connecting();
    FakeSocket.last.welcome();
    expect(client.connection.snapshot()).toMatchObject({ status: 'online', identity: { userId: 'alice', tenant: 0 } });
  });

  test('without a welcome in time is given up and tried again', async () => {
    await connecting();
    FakeSocket.last.open();
    await pass(CONNECT_TIMEOUT_MS);
    expect([status(), FakeSocket.last.closedWith]).toEqual(['waiting', 3002]);
  });

  test('waits when the token cannot be had, and asks again', async () => {
    let asked = 0;
    await connecting({
      token: () => {
        asked += 1;
        throw new Error('offline');
      },
    });
    expect([status(), asked]).toEqual(['waiting', 1]);
    await pass(500);
    expect(asked).toBe(2);
  });

  test('closed while the token is on its way opens no socket', async () => {
    let give: (token: string) => void = () => {};
    await connecting({ token: () => new Promise((resolve) => (give = resolve)) });
    client.close();
    give('late');
    await pass(0);
    expect(FakeSocket.made).toEqual([]);
  });
});

describe('after a loss', () => {
  test('the pauses double with each failure', async () => {
    await connecting();
    for (const pause of [500, 1_000, 2_000, 4_000]) {
      FakeSocket.last.end(1006);
      const made = FakeSocket.made.length;
      await pass(pause - 1);
      expect(FakeSocket.made.length).toBe(made);
      await pass(1);
      expect(FakeSocket.made.length).toBe(made + 1);
    }
  });

  test('a link that held starts the pauses over, one that broke at once does not', async () => {
    await connecting();
    FakeSocket.last.end(1006);
    await pass(500);
    FakeSocket.last.welcome();
    FakeSocket.last.end(1006);
    expect(client.connection.snapshot()).toMatchObject({ failures: 2 });
    await pass(1_000);
    FakeSocket.last.welcome();
    await pass(CONNECTION_STABLE_MS);
    FakeSocket.last.end(1006);
    expect(client.connection.snapshot()).toMatchObject({ failures: 1 });
  });

  test('a server that is stopping is tried at once, with some jitter, and then with pauses', async () => {
    await connecting({ random: () => 0.5 });
    FakeSocket.last.welcome();
    FakeSocket.last.end(4500);
    await pass(249);
    expect(FakeSocket.made.length).toBe(1);
    await pass(1);
    expect(FakeSocket.made.length).toBe(2);
    FakeSocket.last.end(4500);
    await pass(749);
    expect(FakeSocket.made.length).toBe(2);
    await pass(1);
    expect(FakeSocket.made.length).toBe(3);
  });

  test('retryNow ends the waiting', async () => {
    await connecting();
    FakeSocket.last.end(1006);
    client.retryNow();
    await pass(0);
    expect(FakeSocket.made.length).toBe(2);
  });

  test('over a link that is closing nothing is sent: a browser would complain, and its end is near', async () => {
    await connecting();
    FakeSocket.last.welcome();
    await pass(0);
    const { methods } = FakeSocket.last;
    const before = methods.length;
    FakeSocket.last.readyState = 2;
    client.getProfiles(['bob']).catch(() => {});
    await pass(0);
    expect(methods.length).toBe(before);
    FakeSocket.last.readyState = 1;
    client.getProfiles(['bob']).catch(() => {});
    await pass(0);
    expect(methods.length).toBe(before + 1);
  });

  test('close ends it for good', async () => {
    await connecting();
    FakeSocket.last.end(1006);
    client.close();
    await pass(60_000);
    expect([status(), FakeSocket.made.length]).toEqual(['idle', 1]);
  });
});

describe('a refusal', () => {
  test('of the token asks for a new one, once and at once', async () => {
    const whys: string[] = [];
    await connecting({
      token: (why) => {
        whys.push(why);
        return why;
      },
    });
    FakeSocket.last.open();
    FakeSocket.last.end(4401);
    await pass(0);
    FakeSocket.last.open();
    expect([whys, FakeSocket.last.tokens]).toEqual([['connect', 'refused'], ['refused']]);
    FakeSocket.last.frame({ case: 'error', value: { code: 'unauthenticated', reason: 'TOKEN_EXPIRED', message: 'expired' } });
    FakeSocket.last.end(4401);
    await pass(60_000);
    expect(client.connection.snapshot()).toMatchObject({ status: 'stopped', closeCode: 4401, error: { reason: 'TOKEN_EXPIRED' } });
    expect(FakeSocket.made.length).toBe(2);
  });

  test('of an expired token after a welcome asks again each time', async () => {
    await connecting();
    for (let n = 0; n < 3; n += 1) {
      FakeSocket.last.welcome();
      await pass(CONNECTION_STABLE_MS);
      FakeSocket.last.end(4401);
      await pass(0);
    }
    FakeSocket.last.welcome();
    expect(status()).toBe('online');
  });

  test.each([4400, 4413, 4499])('with %i stops, and fails what is called', async (code) => {
    await connecting();
    FakeSocket.last.welcome();
    const call = client.getConversation('g_1');
    const failed = expect(call).rejects.toMatchObject({ name: 'QimClientError' });
    FakeSocket.last.end(code);
    await failed;
    expect(client.connection.snapshot()).toMatchObject({ status: 'stopped', closeCode: code });
    await expect(client.getConversation('g_1')).rejects.toMatchObject({ reason: 'CLIENT_CLOSED' });
  });

  test('can be undone by connecting again', async () => {
    await connecting();
    FakeSocket.last.end(4400);
    client.connect();
    await pass(0);
    FakeSocket.last.welcome();
    expect(status()).toBe('online');
  });
});

describe('calls', () => {
  test('wait for the connection, and fail when there is none in time', async () => {
    await connecting();
    const failed = expect(client.getConversation('g_1')).rejects.toMatchObject({ reason: 'NOT_CONNECTED', outcomeUnknown: false });
    await pass(CALL_TIMEOUT_MS);
    await failed;
  });

  test('are at most as many in flight as a connection may have, the others follow in order', async () => {
    await connecting();
    FakeSocket.last.welcome();
    const before = FakeSocket.last.callIds.length;
    const calls = Array.from({ length: CALLS_IN_FLIGHT_MAX + 5 }, () => client.leaveGroup('g_1').catch(() => {}));
    await pass(0);
    const { callIds } = FakeSocket.last;
    expect(callIds.length).toBe(CALLS_IN_FLIGHT_MAX);
    expect(calls.length).toBeGreaterThan(callIds.length - before);
    FakeSocket.last.frame({ case: 'reply', value: new Uint8Array() }, callIds[3]);
    expect(FakeSocket.last.callIds.length).toBe(CALLS_IN_FLIGHT_MAX + 1);
  });

  test('wait up to the bound; one more is refused', async () => {
    await connecting();
    const waiting = Array.from({ length: CLIENT_CALLS_WAITING_MAX }, () => client.leaveGroup('g_1').catch((error: unknown) => error));
    await expect(client.leaveGroup('g_1')).rejects.toMatchObject({ reason: 'CLIENT_LIMIT', code: 'resource_exhausted' });
    client.close();
    expect(await waiting[0]).toMatchObject({ reason: 'CLIENT_CLOSED' });
  });

  test('without an answer on a silent link give the link up', async () => {
    await connecting();
    FakeSocket.last.welcome();
    await pass(1);
    const failed = expect(client.leaveGroup('g_1')).rejects.toMatchObject({ reason: 'CALL_TIMEOUT', outcomeUnknown: true });
    await pass(CALL_TIMEOUT_MS);
    await failed;
    expect([FakeSocket.made[0]?.closedWith, status()]).toEqual([3003, 'waiting']);
  });

  test('without an answer on a link that is heard leave it alone', async () => {
    await connecting();
    FakeSocket.last.welcome();
    await pass(1);
    const failed = expect(client.leaveGroup('g_1')).rejects.toMatchObject({ reason: 'CALL_TIMEOUT' });
    // The list's own call times out as well, but something was heard after both were sent.
    await pass(10);
    FakeSocket.last.frame({ case: 'event', value: { kind: { case: 'resyncNeeded', value: {} } } });
    await pass(CALL_TIMEOUT_MS - 10);
    await failed;
    expect(status()).toBe('online');
  });
});

test('a read mark that found no link for long goes out with the next welcome', async () => {
  await connecting();
  client.openConversation('g_1').markRead(3);
  await pass(CALL_TIMEOUT_MS * 2);
  FakeSocket.last.welcome();
  await pass(0);
  expect(FakeSocket.last.methods).toContain('qim.v1.SessionService/MarkRead');
});

test('bytes that are no frame give the link up, and the client goes on', async () => {
  await connecting();
  FakeSocket.last.welcome();
  FakeSocket.last.onmessage?.({ data: new Uint8Array([255, 255, 255]).buffer });
  expect([FakeSocket.last.closedWith, status()]).toEqual([3001, 'waiting']);
  await pass(500);
  FakeSocket.last.welcome();
  expect(status()).toBe('online');
});

test('the list is read again at the interval, events or none', async () => {
  await connecting();
  FakeSocket.last.welcome();
  await pass(0);
  const first = FakeSocket.last.callIds.length;
  FakeSocket.last.frame({ case: 'reply', value: new Uint8Array() }, FakeSocket.last.callIds[0]);
  await pass(RELIST_INTERVAL_MS - 1);
  expect(FakeSocket.last.callIds.length).toBe(first);
  await pass(1);
  expect(FakeSocket.last.callIds.length).toBe(first + 1);
});

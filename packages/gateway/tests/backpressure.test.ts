/** Clients that read slowly, or not at all. */
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { LEGACY_TENANT_ID, parseUserId } from '@qim/proto';
import type { EventSink, PushEvent } from '@qim/push';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { WebSocket } from 'ws';
import type { Identity } from '../src/authenticate.js';
import { Connection, type ConnectionDeps } from '../src/connection.js';
import { OpenConnections } from '../src/connection-counts.js';
import { EventEncoder } from '../src/event-encoding.js';
import { EventStream } from '../src/event-stream.js';
import { jsonFrames, protoFrames } from '../src/frames.js';
import { ManualClock } from './support/clock.js';
import { call } from './support/http.js';
import { startServer, type TestServer } from './support/server.js';
import { JsonSocket } from './support/socket.js';

const NO_LIMITS = { connectionsPerUserMax: Infinity, connectionsPerAddressMax: Infinity };

const CHANGED: PushEvent = { kind: 'conversationChanged', conversationId: 'g_room' as never };

/** What a connection sees of a WebSocket, with a queue whose length the test sets. */
class SlowSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  readonly sent: string[] = [];
  closedWith: number | undefined;

  send(data: Uint8Array): void {
    this.sent.push(String(data));
  }

  close(code: number): void {
    this.closedWith = code;
    this.readyState = 2;
  }

  ping(): void {}
}

describe('a socket', () => {
  async function welcomed(limit: number) {
    const socket = new SlowSocket();
    const clock = new ManualClock();
    const counts = { slow: 0, events: 0 };
    let sink: EventSink | undefined;
    const unsubscribed = vi.fn();
    const unused = () => {
      throw new Error('not used here');
    };
    const deps: ConnectionDeps = {
      dispatcher: { serves: () => true, call: unused, guarded: unused, admit: unused, judged: unused },
      push: {
        start: unused,
        stop: unused,
        leads: unused,
        announceRead: unused,
        announceChange: unused,
        announceTyping: unused,
        announceSuspended: unused,
        subscribe: async (given) => {
          sink = given;
          return unsubscribed;
        },
      },
      verifier: { verify: unused },
      isSuspended: async () => false,
      encoder: new EventEncoder(),
      ackDurability: 'memory',
      observer: {
        connectionOpened: () => {},
        connectionClosed: () => {},
        callEnded: () => {},
        eventSent: () => counts.events++,
        slowConsumer: () => counts.slow++,
      },
      log: { info: unused, warn: unused, error: unused },
      clock,
      limits: { ...NO_LIMITS, helloTimeoutMs: 1, pingIntervalMs: 1_000_000, socketQueueBytesMax: limit, handshakesMax: 1 },
      connections: new OpenConnections(NO_LIMITS),
    };
    const caller = { tenantId: LEGACY_TENANT_ID, userId: parseUserId('bob'), deviceId: undefined, admin: false };
    const identity: Identity = { caller, actingAdmin: undefined, expiresAtMs: clock.now() + 60_000 };
    const stream = new PassThrough();
    new Connection(deps, socket as unknown as WebSocket, jsonFrames, {
      requestId: 'r',
      identity,
      onBehalfOf: undefined,
      address: '',
      welcomed: () => {},
      stream,
    });
    await vi.waitFor(() => expect(socket.sent).toHaveLength(1));
    return { socket, stream, counts, unsubscribed, deliver: (event: PushEvent) => sink?.deliver(event) };
  }

  it('may have socketQueueBytesMax waiting; past it it is told to list again, once, and closed with 4508', async () => {
    const { socket, counts, unsubscribed, deliver } = await welcomed(1_000);
    socket.bufferedAmount = 1_000;
    deliver(CHANGED);
    expect(socket.sent.at(-1)).toBe('{"event":{"conversationChanged":{"conversationId":"g_room"}}}');
    expect(socket.closedWith).toBeUndefined();
    socket.bufferedAmount = 1_001;
    deliver(CHANGED);
    deliver(CHANGED);
    expect(socket.sent.slice(2)).toEqual(['{"event":{"resyncNeeded":{}}}']);
    expect(socket.closedWith).toBe(4508);
    expect(counts).toEqual({ slow: 1, events: 1 });
    expect(unsubscribed).toHaveBeenCalledOnce();
  });

  it('holds what is sent in one turn together until that turn is over', async () => {
    const { socket, stream, deliver } = await welcomed(1_000);
    await vi.waitFor(() => expect(stream.writableCorked).toBe(0));
    deliver(CHANGED);
    deliver(CHANGED);
    expect([socket.sent.length, stream.writableCorked]).toEqual([3, 1]);
    await vi.waitFor(() => expect(stream.writableCorked).toBe(0));
  });
});

describe('a stream', () => {
  async function read(stream: EventStream): Promise<string[]> {
    const kinds: string[] = [];
    for await (const { kind } of stream.events()) kinds.push(String(kind.case));
    return kinds;
  }

  it('keeps events up to its bound, and past it only resyncNeeded, with which it ends', async () => {
    const encoder = new EventEncoder();
    const bytes = encoder.frame(CHANGED, protoFrames).length;
    const overflowed = vi.fn();
    const stream = new EventStream(encoder, 3 * bytes, overflowed);
    for (let n = 0; n < 4; n++) stream.deliver(CHANGED);
    expect(overflowed).not.toHaveBeenCalled();
    stream.deliver(CHANGED);
    stream.deliver(CHANGED);
    expect(overflowed).toHaveBeenCalledOnce();
    expect(await read(stream)).toEqual(['resyncNeeded']);
  });

  it('gives its bytes back as it is read', async () => {
    const encoder = new EventEncoder();
    const overflowed = vi.fn();
    const stream = new EventStream(encoder, 1, overflowed);
    const events = stream.events();
    for (let n = 0; n < 10; n++) {
      stream.deliver(CHANGED);
      expect((await events.next()).value?.kind.case).toBe('conversationChanged');
      // Asking on is what says that the last one was taken.
      const next = events.next();
      stream.deliver(CHANGED);
      await next;
    }
    expect(overflowed).not.toHaveBeenCalled();
  });

  it('ends with the error that it was ended with, after what waits', async () => {
    const stream = new EventStream(new EventEncoder(), 1_000, () => {});
    stream.deliver(CHANGED);
    stream.end(new Error('over'));
    stream.deliver(CHANGED);
    const events = stream.events();
    expect((await events.next()).value?.kind.case).toBe('conversationChanged');
    await expect(events.next()).rejects.toThrow('over');
  });
});

describe('over a real socket', () => {
  let server: TestServer;
  afterEach(() => server.close());

  it('a client that stops reading is let go, and everyone else goes on', async () => {
    server = await startServer({ options: () => ({ limits: { socketQueueBytesMax: 64 * 1024, pingIntervalMs: 2 ** 31 - 1 } }) });
    const { url, counts } = server;
    const slow = await JsonSocket.signedIn(url, await server.token('bob'));
    const quick = await JsonSocket.signedIn(url, await server.token('bob'));
    slow.socket.pause();
    const alice = await server.token('alice', { device: 'phone' });
    const data = Buffer.alloc(64 * 1024).toString('base64');
    let sent = 0;
    // What the kernel takes on its way is not the server's queue, and differs from machine to machine.
    while (counts.slow === 0) {
      const message = { toUserId: 'bob', clientMessageId: `c${sent++}`, type: 'MESSAGE_TYPE_FILE', content: { contentType: 'a/b', data } };
      expect((await call(url, 'MessageService/SendMessage', alice, message)).status).toBe(200);
      expect(await quick.next()).toHaveProperty('event');
    }
    slow.socket.resume();
    expect(await slow.closed).toEqual({ code: 4508, reason: 'too slow: list again' });
    let last = {};
    while (slow.unread > 0) last = await slow.next();
    expect(last).toEqual({ event: { resyncNeeded: {} } });
    expect(await quick.call('SessionService/ListConversations', {})).toHaveProperty('reply');
    expect(counts.slow).toBe(1);
  });
});

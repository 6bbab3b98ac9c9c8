import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { ErrorDetailSchema, ErrorReason, EventService, type SubscribeResponse } from '@qim/proto/schema';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { call } from './support/http.js';
import { startServer, type TestServer } from './support/server.js';

let server: TestServer;
afterEach(() => server.close());

const SEND = { toUserId: 'bob', clientMessageId: 'c1', type: 'MESSAGE_TYPE_TEXT', text: 'hi' };
const TRANSPORTS = [
  ['Connect', createConnectTransport],
  ['gRPC-Web', createGrpcWebTransport],
] as const;

interface Stream {
  next(): Promise<string | undefined>;
  failure(): Promise<ConnectError>;
  cancel(): void;
}

function subscribe(token: string | undefined, create: (typeof TRANSPORTS)[number][1] = createConnectTransport): Stream {
  const transport = create({ baseUrl: server.url, httpVersion: '1.1' });
  const controller = new AbortController();
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const events = createClient(EventService, transport).subscribe({}, { headers, signal: controller.signal })[Symbol.asyncIterator]();
  return {
    async next() {
      const { done, value } = (await events.next()) as IteratorResult<SubscribeResponse, undefined>;
      return done === true ? undefined : value.event?.kind.case;
    },
    async failure() {
      try {
        for (;;) if ((await events.next()).done === true) return new ConnectError('ended without an error');
      } catch (error) {
        return ConnectError.from(error);
      }
    },
    cancel: () => controller.abort(),
  };
}

function reasonOf(error: ConnectError): ErrorReason | undefined {
  return error.findDetails(ErrorDetailSchema)[0]?.reason;
}

describe('EventService.Subscribe over HTTP', () => {
  it.each(TRANSPORTS)('first says that it is subscribed, then what happens: %s', async (_, create) => {
    server = await startServer();
    const stream = subscribe(await server.token('bob'), create);
    expect(await stream.next()).toBe('subscribed');
    await call(server.url, 'MessageService/SendMessage', await server.token('alice'), SEND);
    expect(await stream.next()).toBe('messageCommitted');
    stream.cancel();
  });

  it.each(TRANSPORTS)('needs a token: %s', async (_, create) => {
    server = await startServer();
    const error = await subscribe(undefined, create).failure();
    expect([error.code, reasonOf(error)]).toEqual([Code.Unauthenticated, ErrorReason.UNAUTHENTICATED]);
  });

  it('ends with TOKEN_EXPIRED when the token does', async () => {
    server = await startServer();
    const stream = subscribe(await server.token('bob', { ttlSeconds: 60 }));
    await stream.next();
    server.clock.advance(60_000);
    expect(reasonOf(await stream.failure())).toBe(ErrorReason.TOKEN_EXPIRED);
  });

  it('ends, retryable, when the server stops', async () => {
    server = await startServer();
    const stream = subscribe(await server.token('bob'));
    await stream.next();
    const stopped = server.gateway.stop(1_000);
    const error = await stream.failure();
    expect([error.code, reasonOf(error)]).toEqual([Code.Unavailable, ErrorReason.STORE_UNAVAILABLE]);
    await stopped;
  });

  it('gives its place up when the client goes away', async () => {
    const unsubscribed = vi.fn();
    server = await startServer({
      options: ({ push }) => ({
        push: {
          ...push,
          subscribe: async (sink) => {
            const end = await push.subscribe(sink);
            return () => {
              unsubscribed();
              end();
            };
          },
        },
      }),
    });
    const stream = subscribe(await server.token('bob'));
    await stream.next();
    const timers = server.clock.waiting;
    stream.cancel();
    await vi.waitFor(() => expect(unsubscribed).toHaveBeenCalledOnce());
    expect(server.clock.waiting).toBe(timers - 1);
  });

  it('is refused while the store cannot be subscribed to', async () => {
    const { unavailable } = await import('@qim/store');
    server = await startServer({ options: ({ push }) => ({ push: { ...push, subscribe: () => Promise.reject(unavailable('pub/sub')) } }) });
    expect(reasonOf(await subscribe(await server.token('bob')).failure())).toBe(ErrorReason.STORE_UNAVAILABLE);
  });
});

import { create, toBinary } from '@bufbuild/protobuf';
import { CLIENT_FRAME_BYTES_MAX, CLIENT_FRAME_READ_BYTES_MAX } from '@qim/proto';
import { CallSchema, ClientFrameSchema, ListConversationsRequestSchema } from '@qim/proto/schema';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { jsonFrames, protoFrames } from '../src/frames.js';
import { startServer, type TestServer } from './support/server.js';
import { JsonSocket, openSocket, ProtoSocket } from './support/socket.js';

const LIST = 'qim.v1.SessionService/ListConversations';
const BROKEN = Uint8Array.of(0xff, 0xff, 0xff);

let server: TestServer;
/** Another user's connection, which must notice nothing. */
let bystander: JsonSocket;

beforeEach(async () => {
  server = await startServer({ options: () => ({ limits: { pingIntervalMs: 2 ** 31 - 1 } }) });
  bystander = await JsonSocket.signedIn(server.url, await server.token('bystander'));
});

afterEach(async () => {
  expect(await bystander.call('SessionService/ListConversations', {})).toHaveProperty('reply');
  expect(bystander.unread).toBe(0);
  await server.close();
});

function signedIn(): Promise<JsonSocket> {
  return server.token('alice').then((token) => JsonSocket.signedIn(server.url, token));
}

async function signedInProto(): Promise<ProtoSocket> {
  const socket = await ProtoSocket.open(server.url);
  socket.send({ kind: { case: 'hello', value: { token: await server.token('alice') } } });
  expect(await socket.next()).toMatchObject({ kind: { case: 'welcome' } });
  return socket;
}

describe('what is no frame', () => {
  it.each([
    ['no JSON', '{'],
    ['nothing', ''],
    ['a list', '[]'],
    ['text', '"hello"'],
    ['null', 'null'],
    ['an id in words', '{"id":"one","call":{}}'],
    ['a negative id', '{"id":-1,"call":{}}'],
    ['an id with a fraction', '{"id":1.5,"call":{}}'],
    ['an id past 2^53-1', '{"id":9007199254740992,"call":{}}'],
    ['an object as id', '{"id":{},"call":{}}'],
    ['brackets without end', '['.repeat(100_000)],
    ['binary', Uint8Array.from(Buffer.from(`{"id":1,"call":{"method":"${LIST}"}}`))],
  ])('ends a JSON connection with an error and close 4400: %s', async (_, data) => {
    const socket = await signedIn();
    socket.raw(data);
    expect(await socket.next()).toMatchObject({ id: 0, error: { code: 'invalid_argument', reason: 'INVALID_ARGUMENT', field: 'frame' } });
    expect(await socket.closed).toEqual({ code: 4400, reason: 'malformed frame' });
  });

  it.each([
    ['broken protobuf', BROKEN],
    ['a frame cut short', Uint8Array.of(0x1a, 0x7f)],
    ['text', '{}'],
  ])('ends a protobuf connection with an error and close 4400: %s', async (_, data) => {
    const socket = await signedInProto();
    socket.raw(data);
    expect(await socket.next()).toMatchObject({ id: 0n, kind: { case: 'error', value: { reason: 'INVALID_ARGUMENT', field: 'frame' } } });
    expect((await socket.closed).code).toBe(4400);
  });

  it('ends it before hello as well, and what follows is not looked at', async () => {
    const socket = await JsonSocket.open(server.url);
    socket.raw('x');
    socket.raw('y');
    expect(await socket.next()).toHaveProperty('error');
    expect((await socket.closed).code).toBe(4400);
    expect(socket.unread).toBe(0);
  });
});

describe('a frame that says nothing useful', () => {
  it.each([
    ['neither hello nor call', { id: 7 }, 'INVALID_ARGUMENT', 'frame'],
    ['a kind that nobody knows', { id: 7, shout: {} }, 'INVALID_ARGUMENT', 'frame'],
    ['hello and call', { id: 7, hello: {}, call: {} }, 'INVALID_ARGUMENT', 'frame'],
    ['a hello that is text', { id: 7, hello: 'x' }, 'INVALID_ARGUMENT', 'hello'],
    ['a hello that is null', { id: 7, hello: null }, 'INVALID_ARGUMENT', 'hello'],
    ['a token that is a number', { id: 7, hello: { token: 1 } }, 'INVALID_ARGUMENT', 'hello.token'],
    ['a device that is a list', { id: 7, hello: { token: '', device: [] } }, 'INVALID_ARGUMENT', 'hello.device'],
    ['a call that is text', { id: 7, call: 'x' }, 'INVALID_ARGUMENT', 'call'],
    ['a call without a method', { id: 7, call: {} }, 'INVALID_ARGUMENT', 'call.method'],
    ['a method that is a number', { id: 7, call: { method: 1 } }, 'INVALID_ARGUMENT', 'call.method'],
    ['a method that nobody knows', { id: 7, call: { method: 'x' } }, 'UNIMPLEMENTED', ''],
    ['a method of every object', { id: 7, call: { method: '__proto__' } }, 'UNIMPLEMENTED', ''],
    ['a body that is a list', { id: 7, call: { method: LIST, body: [] } }, 'INVALID_ARGUMENT', 'body'],
    ['a body that is null', { id: 7, call: { method: LIST, body: null } }, 'INVALID_ARGUMENT', 'body'],
    ['a field of a wrong type', { id: 7, call: { method: LIST, body: { pageSize: 'x' } } }, 'INVALID_ARGUMENT', 'pageSize'],
    [
      'a token in a body with __proto__',
      { id: 7, call: { method: LIST, body: JSON.parse('{"__proto__":{"pageSize":101},"pageSize":101}') } },
      'INVALID_ARGUMENT',
      'pageSize',
    ],
  ])('gets an error under its id, and the connection stays: %s', async (_, frame, reason, field) => {
    const socket = await signedIn();
    socket.send(frame);
    expect(await socket.next()).toMatchObject({ id: 7, error: { reason, field } });
    expect(await socket.call('SessionService/ListConversations', {})).toHaveProperty('reply');
  });

  it('is told the same in protobuf', async () => {
    const socket = await signedInProto();
    socket.send({ id: 7n });
    expect(await socket.next()).toMatchObject({ id: 7n, kind: { case: 'error', value: { reason: 'INVALID_ARGUMENT', field: 'frame' } } });
    socket.send({ id: 8n, kind: { case: 'call', value: { method: LIST, body: BROKEN } } });
    expect(await socket.next()).toMatchObject({ id: 8n, kind: { case: 'error', value: { reason: 'INVALID_ARGUMENT', field: 'body' } } });
    socket.send({ id: 9n, kind: { case: 'call', value: { method: 'x' } } });
    expect(await socket.next()).toMatchObject({
      id: 9n,
      kind: { case: 'error', value: { code: 'unimplemented', reason: 'UNIMPLEMENTED' } },
    });
    socket.send({ id: -1n, kind: { case: 'call', value: { method: LIST } } });
    expect(await socket.next()).toMatchObject({ id: -1n, kind: { case: 'reply' } });
  });

  it('may have its id as text, or none', async () => {
    const socket = await signedIn();
    socket.send({ id: '12', call: { method: LIST } });
    expect(await socket.next()).toMatchObject({ id: 12, reply: {} });
    socket.send({ call: { method: LIST } });
    expect(await socket.next()).toMatchObject({ id: 0, reply: {} });
  });
});

describe('size', () => {
  const jsonOf = (bytes: number, id = 5) => {
    const frame = JSON.stringify({ call: { method: LIST, body: { pad: '' } }, id });
    return frame.replace('"pad":""', `"pad":"${'x'.repeat(bytes - frame.length)}"`);
  };

  it('may be CLIENT_FRAME_BYTES_MAX; past it the call is refused under its id, and the connection stays', async () => {
    const socket = await signedIn();
    expect(jsonOf(CLIENT_FRAME_BYTES_MAX)).toHaveLength(CLIENT_FRAME_BYTES_MAX);
    socket.raw(jsonOf(CLIENT_FRAME_BYTES_MAX));
    expect(await socket.next()).toMatchObject({ id: 5, reply: {} });
    for (const bytes of [CLIENT_FRAME_BYTES_MAX + 1, CLIENT_FRAME_READ_BYTES_MAX]) {
      socket.raw(jsonOf(bytes));
      expect(await socket.next()).toMatchObject({
        id: 5,
        error: { code: 'invalid_argument', reason: 'PAYLOAD_TOO_LARGE', field: 'frame' },
      });
    }
    expect(await socket.call('SessionService/ListConversations', {})).toHaveProperty('reply');
  });

  it('past CLIENT_FRAME_READ_BYTES_MAX ends the connection with 4413, so that nobody tries it again', async () => {
    const socket = await signedIn();
    socket.raw(jsonOf(CLIENT_FRAME_READ_BYTES_MAX + 1));
    expect((await socket.closed).code).toBe(4413);
  });

  it('is bounded the same in protobuf', async () => {
    const socket = await signedInProto();
    const frameOf = (bytes: number) => {
      const call = create(CallSchema, {
        method: LIST,
        body: toBinary(ListConversationsRequestSchema, create(ListConversationsRequestSchema)),
      });
      const small = toBinary(ClientFrameSchema, create(ClientFrameSchema, { id: 5n, kind: { case: 'call', value: call } }));
      // An unknown field of the right length: tag, three bytes of length, padding.
      const padding = bytes - small.length - 4;
      return Buffer.concat([
        small,
        Uint8Array.of(0x7a, (padding & 0x7f) | 0x80, ((padding >> 7) & 0x7f) | 0x80, padding >> 14),
        Buffer.alloc(padding),
      ]);
    };
    socket.raw(frameOf(CLIENT_FRAME_BYTES_MAX));
    expect(await socket.next()).toMatchObject({ id: 5n, kind: { case: 'reply' } });
    socket.raw(frameOf(CLIENT_FRAME_BYTES_MAX + 1));
    expect(await socket.next()).toMatchObject({ id: 5n, kind: { case: 'error', value: { reason: 'PAYLOAD_TOO_LARGE', field: 'frame' } } });
  });
});

describe('any bytes at all', () => {
  const anyText = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({ id: fc.jsonValue(), hello: fc.jsonValue(), call: fc.jsonValue() }, { requiredKeys: [] })
      .map((frame) => JSON.stringify(frame)),
    fc
      .record({
        id: fc.nat(),
        call: fc.record({ method: fc.constantFrom(LIST, 'qim.v1.MessageService/SendMessage'), body: fc.jsonValue() }),
      })
      .map((f) => JSON.stringify(f)),
  );

  it('decode to a frame or to none, and never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        protoFrames.decode(Buffer.from(bytes));
        jsonFrames.decode(Buffer.from(bytes));
      }),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(anyText, (text) => {
        jsonFrames.decode(Buffer.from(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('end in answers or a documented close, and disturb nobody', async () => {
    const documented = new Set([4400, 4401, 4413]);
    const token = await server.token('alice');
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.boolean(),
        fc.array(fc.oneof(anyText, fc.uint8Array({ maxLength: 64 })), { maxLength: 8 }),
        async (json, hello, frames) => {
          const socket = await openSocket(server.url, [json ? 'qim.v1+json' : 'qim.v1+proto']);
          const closed = new Promise<number>((resolve) => socket.on('close', resolve));
          socket.on('error', () => {});
          if (hello && json) socket.send(JSON.stringify({ hello: { token } }));
          for (const frame of frames) socket.send(frame);
          // Everything before it has been taken when the pong is here.
          const settled = new Promise((resolve) => socket.once('pong', resolve));
          socket.ping();
          const code = await Promise.race([closed, settled.then(() => undefined)]);
          if (code === undefined) socket.close();
          else expect(documented).toContain(code);
          await closed;
          expect(await bystander.call('SessionService/ListConversations', {})).toHaveProperty('reply');
        },
      ),
      { numRuns: 150 },
    );
  });
});

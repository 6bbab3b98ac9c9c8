/** Frames read and written by hand are those of the library: the same bytes out, the same requests in, the same refusals. */
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  ClientFrameSchema,
  type Event,
  EventSchema,
  type Message,
  MessageSchema,
  SendMessageRequestSchema,
  SendMessageResponseSchema,
  ServerFrameSchema,
} from '@qim/proto/schema';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { protoFrames } from '../src/frames.js';
import { hotCall, hotSendRequest } from '../src/hot-decode.js';
import { hotEvent, hotReply } from '../src/hot-encode.js';
import { hotProtoFrames } from '../src/hot-frames.js';

const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.constant('grüße 👋'), fc.constant('x'.repeat(300)));
const int64 = fc.oneof(fc.constantFrom(0n, 1n, 127n, 128n, 2n ** 32n, 2n ** 53n - 1n), fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }));
const int32 = fc.oneof(fc.constantFrom(0, 1, 127, 128, 2 ** 31 - 1), fc.nat());
const content = fc.record({ contentType: text, data: fc.uint8Array() });

const message: fc.Arbitrary<Message> = fc
  .record({
    messageId: text,
    conversationId: text,
    epoch: int64,
    conversationSeq: int64,
    activityId: text,
    senderUserId: text,
    senderDeviceId: text,
    clientMessageId: text,
    type: int32,
    status: int32,
    revision: int32,
    committedAtMs: int64,
    amendedAtMs: int64,
    mentionUserIds: fc.array(text),
    mentionAll: fc.boolean(),
    replyTo: fc.option(fc.record({ conversationSeq: int64, messageId: text }), { nil: undefined }),
    body: fc.oneof(
      text.map((value) => ({ case: 'text' as const, value })),
      content.map((value) => ({ case: 'content' as const, value })),
      fc.constant({ case: undefined }),
    ),
    reactions: fc.array(fc.record({ emoji: text, userIds: fc.array(text) })),
    reactionsRevision: int32,
  })
  .map((init) => create(MessageSchema, init as MessageInitShape<typeof MessageSchema>));

const hex = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString('hex');

test('the reply to SendMessage has the bytes of the library', () => {
  fc.assert(
    fc.property(int64, message, fc.boolean(), (id, value, duplicate) => {
      const answer = create(SendMessageResponseSchema, { message: value, duplicate });
      expect(hex(hotReply(id, answer))).toBe(hex(protoFrames.reply(id, SendMessageResponseSchema, answer)));
    }),
  );
});

test('so have the events that carry a message', () => {
  fc.assert(
    fc.property(fc.constantFrom('messageCommitted' as const, 'messageAmended' as const), message, (kind, value) => {
      const event = create(EventSchema, { kind: { case: kind, value: { message: value } } });
      expect(hex(hotEvent(event))).toBe(hex(protoFrames.event(event)));
    }),
  );
});

const withUnknown = { $unknown: [{ no: 99, wireType: 0, data: Uint8Array.of(1) }] };
const plain = create(MessageSchema, { messageId: 'm', body: { case: 'text', value: 'x' } });
const committed = (value: Message): Event => create(EventSchema, { kind: { case: 'messageCommitted', value: { message: value } } });

test.each<[string, Event]>([
  ['Control', committed(create(MessageSchema, { body: { case: 'control', value: { title: 't' } } }))],
  ['a number past 2^53-1', committed(create(MessageSchema, { epoch: 2n ** 53n }))],
  ['a number below 0', committed(create(MessageSchema, { revision: -1 }))],
  ['an unknown field', committed({ ...plain, ...withUnknown })],
  ['no message', create(EventSchema, { kind: { case: 'messageCommitted', value: {} } })],
  ['another event', create(EventSchema, { kind: { case: 'removed', value: { conversationId: 'c' } } })],
])('%s is left to the library', (_, event) => {
  expect(hotEvent(event)).toBeUndefined();
  expect(fromBinary(ServerFrameSchema, hotProtoFrames.event(event)).kind.case).toBe('event');
  expect(hex(hotProtoFrames.event(event))).toBe(hex(protoFrames.event(event)));
});

const target = fc.oneof(
  text.map((value) => ({ case: 'conversationId' as const, value })),
  text.map((value) => ({ case: 'toUserId' as const, value })),
  fc.constant({ case: undefined }),
);
const usualRequest = fc
  .record({
    target,
    clientMessageId: text,
    type: int32,
    body: fc.oneof(
      text.map((value) => ({ case: 'text' as const, value })),
      fc.constant({ case: undefined }),
    ),
    mentionUserIds: fc.array(text),
    mentionAll: fc.boolean(),
    readConversationSeq: int64,
  })
  .map((init) => create(SendMessageRequestSchema, init as MessageInitShape<typeof SendMessageRequestSchema>));

test('a request of the usual form is what the library reads', () => {
  fc.assert(
    fc.property(usualRequest, (request) => {
      const bytes = Buffer.from(toBinary(SendMessageRequestSchema, request));
      const hot = hotSendRequest(bytes);
      const { $unknown: _, ...library } = fromBinary(SendMessageRequestSchema, bytes);
      expect(hot ?? 'left to the library').toEqual(JSON.stringify(request, noBigint).includes('\ufffd') ? 'left to the library' : library);
    }),
  );
});

function noBigint(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

test('bytes of any kind are read as the library reads them, or left to it', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.tuple(usualRequest, fc.nat(), fc.nat(255)).map(([request, place, byte]) => {
      const whole = toBinary(SendMessageRequestSchema, request);
      if (whole.length > 0) whole[place % whole.length] = byte;
      return whole;
    }),
  );
  fc.assert(
    fc.property(bytes, (any) => {
      const hot = hotSendRequest(Buffer.from(any));
      if (hot !== undefined) expect(hot).toEqual({ ...fromBinary(SendMessageRequestSchema, any), $typeName: hot.$typeName });
      const call = hotCall(Buffer.from(any));
      if (call === undefined) return;
      const { id, kind } = fromBinary(ClientFrameSchema, any);
      expect([id, kind.case]).toEqual([call.id, 'call']);
      expect(kind.value).toMatchObject({ method: call.method, body: new Uint8Array(call.body) });
    }),
    { numRuns: 5_000 },
  );
});

test('a call is what the library reads, and a hello is left to it', () => {
  fc.assert(
    fc.property(int64, text, fc.uint8Array(), (id, method, body) => {
      fc.pre(!method.includes('\ufffd'));
      const frame = Buffer.from(
        toBinary(ClientFrameSchema, create(ClientFrameSchema, { id, kind: { case: 'call', value: { method, body } } })),
      );
      const hot = hotCall(frame);
      expect(hot).toMatchObject({ id, method });
      expect(hex(hot?.body)).toBe(hex(body));
    }),
  );
  const hello = create(ClientFrameSchema, { id: 1n, kind: { case: 'hello', value: { token: 't' } } });
  const bytes = Buffer.from(toBinary(ClientFrameSchema, hello));
  expect(hotCall(bytes)).toBeUndefined();
  expect(hotProtoFrames.decode(bytes)).toEqual(protoFrames.decode(bytes));
});

test.each<[string, Uint8Array]>([
  ['a field twice', Uint8Array.of(0x08, 1, 0x08, 2)],
  ['a length past the end', Uint8Array.of(0x1a, 5, 0x0a)],
  ['a number without an end', Uint8Array.of(0x08, 0xff)],
  ['a method that is no UTF-8', Uint8Array.of(0x1a, 3, 0x0a, 1, 0xff)],
  ['a field that nobody knows', Uint8Array.of(0x1a, 2, 0x18, 1)],
])('%s is left to the library', (_, bytes) => {
  expect(hotCall(Buffer.from(bytes))).toBeUndefined();
});

/**
 * Frames of the WebSocket, in both subprotocols: the same shape as protobuf and as JSON. Decoding tells three things apart:
 * what is no frame (the framing is lost), a frame that holds neither hello nor call, and a frame.
 */
import {
  create,
  type DescMessage,
  fromBinary,
  type JsonValue,
  type Message,
  type MessageInitShape,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import { invalidArgument } from '@qim/proto';
import { ClientFrameSchema, type Event, EventSchema, type FrameError, ServerFrameSchema, type Welcome } from '@qim/proto/schema';
import { decodeBinary, decodeJson, parseJson } from './decode.js';

/** What a client chose to know the reply by. In JSON a safe integer, 0 or more. */
export type FrameId = bigint;

export type ClientFrame =
  | { readonly kind: 'hello'; readonly id: FrameId; readonly token: string; readonly device: string }
  | {
      readonly kind: 'call';
      readonly id: FrameId;
      readonly method: string;
      /** @throws InvalidArgument */
      readonly decode: (input: DescMessage) => Message;
    }
  /** Neither, or something within it of a wrong type: told to the client under its id. */
  | { readonly kind: 'unknown'; readonly id: FrameId; readonly error: Error };

export interface FrameCodec {
  readonly subprotocol: string;
  /** Frames are binary messages; false: text. */
  readonly binary: boolean;
  /** Undefined: this is no frame. */
  decode(data: Buffer): ClientFrame | undefined;
  welcome(id: FrameId, welcome: Welcome): Uint8Array;
  reply(id: FrameId, output: DescMessage, message: Message): Uint8Array;
  error(id: FrameId, error: FrameError): Uint8Array;
  event(event: Event): Uint8Array;
}

const UNKNOWN_KIND = 'a frame with either hello or call';

export const protoFrames: FrameCodec = {
  subprotocol: 'qim.v1+proto',
  binary: true,
  decode(data) {
    try {
      const { id, kind } = fromBinary(ClientFrameSchema, data);
      if (kind.case === 'hello') return { kind: 'hello', id, token: kind.value.token, device: kind.value.device };
      if (kind.case === undefined) return { kind: 'unknown', id, error: invalidArgument('frame', UNKNOWN_KIND) };
      const { method, body } = kind.value;
      return { kind: 'call', id, method, decode: (input) => decodeBinary(input, body) };
    } catch {
      return undefined;
    }
  },
  welcome: (id, value) => serverFrame(id, { case: 'welcome', value }),
  reply: (id, output, message) => serverFrame(id, { case: 'reply', value: toBinary(output, message) }),
  error: (id, value) => serverFrame(id, { case: 'error', value }),
  event: (value) => serverFrame(0n, { case: 'event', value }),
};

type ServerFrameKind = NonNullable<MessageInitShape<typeof ServerFrameSchema>['kind']>;

function serverFrame(id: FrameId, kind: ServerFrameKind): Uint8Array {
  return toBinary(ServerFrameSchema, create(ServerFrameSchema, { id, kind }));
}

export const jsonFrames: FrameCodec = {
  subprotocol: 'qim.v1+json',
  binary: false,
  decode(data) {
    const frame = parseJson(data.toString('utf8'));
    if (!isObject(frame)) return undefined;
    const id = jsonId(frame.id);
    if (id === undefined) return undefined;
    const { hello, call } = frame;
    if ((hello === undefined) === (call === undefined)) return { kind: 'unknown', id, error: invalidArgument('frame', UNKNOWN_KIND) };
    return hello === undefined ? jsonCall(id, call) : jsonHello(id, hello);
  },
  welcome: (id, { userId, tenant, device, ackDurability }) =>
    jsonFrame({ id: jsonNumber(id), welcome: { userId, tenant: jsonNumber(tenant), device, ackDurability } }),
  reply: (id, output, message) => jsonFrame({ id: jsonNumber(id), reply: toJson(output, message, EMIT) }),
  error: (id, { code, reason, field, message, retryAfterMs }) =>
    jsonFrame({ id: jsonNumber(id), error: { code, reason, field, message, ...(retryAfterMs > 0 ? { retryAfterMs } : {}) } }),
  event: (event) => jsonFrame({ event: toJson(EventSchema, event, EMIT) }),
};

/** `false` and `[]` are printed, on every transport. */
export const EMIT = { alwaysEmitImplicit: true } as const;

function jsonFrame(frame: object): Uint8Array {
  return Buffer.from(JSON.stringify(frame));
}

/** Frame ids and the tenant are small; unlike sequences they are numbers in JSON frames. */
function jsonNumber(value: bigint): number {
  return Number(value);
}

/** Absent is 0, as in protobuf. Undefined: no reply could name it. */
function jsonId(id: unknown): FrameId | undefined {
  if (id === undefined || id === null) return 0n;
  const number = typeof id === 'string' && /^\d{1,16}$/.test(id) ? Number(id) : id;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? BigInt(number) : undefined;
}

function jsonHello(id: FrameId, hello: JsonValue): ClientFrame {
  if (!isObject(hello)) return { kind: 'unknown', id, error: invalidArgument('hello', 'a JSON object') };
  const { token = '', device = '' } = hello;
  if (typeof token !== 'string') return { kind: 'unknown', id, error: invalidArgument('hello.token', 'text') };
  if (typeof device !== 'string') return { kind: 'unknown', id, error: invalidArgument('hello.device', 'text') };
  return { kind: 'hello', id, token, device };
}

function jsonCall(id: FrameId, call: JsonValue | undefined): ClientFrame {
  if (!isObject(call)) return { kind: 'unknown', id, error: invalidArgument('call', 'a JSON object') };
  const { method, body = {} } = call;
  if (typeof method !== 'string') return { kind: 'unknown', id, error: invalidArgument('call.method', 'text') };
  return { kind: 'call', id, method, decode: (input) => decodeJson(input, body) };
}

function isObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

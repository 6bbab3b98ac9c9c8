/** Reading of replies. What a script or command of ours cannot answer is a fault of ours, not damage: it asserts. */
import { assert, type ConversationSeq, parseConversationSeq } from '@qim/proto';
import { unavailable } from '../errors.js';
import { isWrongType, type Reply } from './connection.js';

/** Passes a reply on, unless it says that a key of `whose` has another type than ours: that is StoreUnavailable. */
export function rightTypeOf(whose: string): (reply: Reply | undefined) => Reply {
  return (reply) => {
    if (isWrongType(reply)) throw unavailable(`a key of ${whose} has a wrong type`, reply);
    return reply ?? null;
  };
}

export function asArray(reply: Reply | undefined): readonly Reply[] {
  assert(Array.isArray(reply), 'the reply is an array');
  return reply as readonly Reply[];
}

export function asBuffer(reply: Reply | undefined): Buffer {
  assert(Buffer.isBuffer(reply), 'the reply is bytes');
  return reply;
}

export function asText(reply: Reply | undefined): string {
  if (typeof reply === 'string') return reply;
  return asBuffer(reply).toString();
}

export function asNumber(reply: Reply | undefined): number {
  assert(typeof reply === 'number', 'the reply is a number');
  return reply;
}

/** null: the key, field or member is not there. */
export function asOptionalText(reply: Reply | undefined): string | undefined {
  return reply === null || reply === undefined ? undefined : asText(reply);
}

export function asOptionalBuffer(reply: Reply | undefined): Buffer | undefined {
  return reply === null || reply === undefined ? undefined : asBuffer(reply);
}

/** Of a value that only our scripts write, as decimal text. */
export function asDecimal(reply: Reply | undefined): number {
  const value = Number(asText(reply));
  assert(Number.isSafeInteger(value), 'the reply is a decimal number');
  return value;
}

/** The same, of a sequence. */
export function asSequence(reply: Reply | undefined): ConversationSeq {
  return parseConversationSeq(asDecimal(reply));
}

/** The same bytes, not copied. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Identifiers that cannot be mixed up.
 *
 * A bare string or number never passes for one of these types. There are two doors in: the parse functions below
 * (wire, command line, configuration) and the store's decoders (what was stored). Nothing else casts to them.
 */

import {
  CLIENT_MESSAGE_ID_BYTES_MAX,
  CONVERSATION_ID_CHARS_MAX,
  DEVICE_ID_BYTES_MAX,
  SEQ_MAX,
  TENANT_ID_MAX,
  USER_ID_BYTES_MAX,
} from './consts.js';
import { invalidArgument } from './errors.js';
import type { ActivityId, ClientMessageId, ConversationId, ConversationSeq, DeviceId, MessageId, TenantId, UserId } from './id-types.js';

export type * from './id-types.js';

/** What a token without a tenant claim means (seed, section 5). */
export const LEGACY_TENANT_ID = 0 as TenantId;
/** Before the first message. */
export const SEQ_ZERO = 0 as ConversationSeq;

const CONVERSATION_ID = new RegExp(`^[A-Za-z0-9_-]{1,${CONVERSATION_ID_CHARS_MAX}}$`);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
// C0, DEL, C1 and the two Unicode line separators; lone surrogates are no UTF-8.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]|\p{Surrogate}/u;
const utf8 = new TextEncoder();

/** Length of `text` in UTF-8, in bytes. */
export function utf8Bytes(text: string): number {
  return utf8.encode(text).length;
}

/** Text in well-formed Unicode without control characters and line ends. */
export function isLine(text: string): boolean {
  return !CONTROL.test(text);
}

/** Nothing in it is a control character, and each character takes one byte. */
const PRINTABLE = /^[ -~]+$/;

function parseText<T extends string>(text: string, field: string, bytesMax: number): T {
  if (text.length <= bytesMax && PRINTABLE.test(text)) return text as T;
  const allowed = `1..${bytesMax} bytes of UTF-8 without control characters`;
  // The first test spares the encoder a text of any length: no character takes less than a byte.
  if (text.length === 0 || text.length > bytesMax || CONTROL.test(text) || utf8Bytes(text) > bytesMax) {
    throw invalidArgument(field, allowed);
  }
  return text as T;
}

/** @throws QimError `InvalidArgument` with `field`, as do all parse functions here. */
export function parseTenantId(value: unknown, field = 'tenant'): TenantId {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TENANT_ID_MAX) return value as TenantId;
  throw invalidArgument(field, `an integer 0..${TENANT_ID_MAX}`);
}

export function parseUserId(text: string, field = 'userId'): UserId {
  return parseText<UserId>(text, field, USER_ID_BYTES_MAX);
}

export function parseDeviceId(text: string, field = 'deviceId'): DeviceId {
  return parseText<DeviceId>(text, field, DEVICE_ID_BYTES_MAX);
}

export function parseClientMessageId(text: string, field = 'clientMessageId'): ClientMessageId {
  return parseText<ClientMessageId>(text, field, CLIENT_MESSAGE_ID_BYTES_MAX);
}

export function parseConversationId(text: string, field = 'conversationId'): ConversationId {
  if (CONVERSATION_ID.test(text)) return text as ConversationId;
  throw invalidArgument(field, `1..${CONVERSATION_ID_CHARS_MAX} of A-Z a-z 0-9 _ -`);
}

/** Takes the wire's bigint as well; 0 is allowed ('nothing yet'). */
export function parseConversationSeq(value: number | bigint, field = 'conversationSeq'): ConversationSeq {
  if (value >= 0 && value <= SEQ_MAX && (typeof value === 'bigint' || Number.isInteger(value))) return Number(value) as ConversationSeq;
  throw invalidArgument(field, `an integer 0..${SEQ_MAX}`);
}

/** Whether it has the form that ids of direct conversations have, and no others. */
export function isDirectConversationId(conversationId: ConversationId): boolean {
  return conversationId.startsWith('d_');
}

export function parseMessageId(text: string, field = 'messageId'): MessageId {
  if (UUID.test(text)) return text as MessageId;
  throw invalidArgument(field, 'a UUID in lower-case text');
}

export function parseActivityId(text: string, field = 'activityId'): ActivityId {
  if (UUID.test(text)) return text as ActivityId;
  throw invalidArgument(field, 'a UUID in lower-case text');
}

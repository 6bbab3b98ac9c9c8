/**
 * An event as it travels between processes: u32 length of the head, the head as JSON {kind, …, except}, then a message
 * where the kind has one. It comes from other processes, so everything in it is checked.
 */
import { BUS_PAYLOAD_BYTES_MAX, isQimError, parseConversationId, parseConversationSeq, parseDeviceId, parseUserId } from '@qim/proto';
import { decodeMessage, encodeMessage } from '@qim/store';
import type { PushEvent } from './contract.js';
import type { Delivery } from './ports.js';

/** What of a delivery is the same for all who get it. */
export type SharedDelivery = Pick<Delivery, 'event' | 'except'>;

type Head = { readonly kind: PushEvent['kind'] } & Readonly<Record<string, unknown>>;

/** As it comes: nothing of it is known. */
type ForeignHead = {
  readonly [Name in
    | 'kind'
    | 'conversationId'
    | 'userId'
    | 'deviceId'
    | 'readConversationSeq'
    | 'on'
    | 'online'
    | 'ask'
    | 'except']?: unknown;
};

const LENGTH_BYTES = 4;

export function encodeEvent({ event, except }: SharedDelivery): Uint8Array {
  const message = 'message' in event ? encodeMessage(event.message) : new Uint8Array(0);
  const head = Buffer.from(JSON.stringify({ ...headOf(event), ...(except && { except: [except.userId, except.deviceId] }) }), 'utf8');
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + head.length + message.length);
  bytes.writeUInt32BE(head.length, 0);
  bytes.set(head, LENGTH_BYTES);
  bytes.set(message, LENGTH_BYTES + head.length);
  return bytes;
}

function headOf(event: PushEvent): Head {
  if ('message' in event) return { kind: event.kind };
  return event;
}

/** Undefined: no such bytes, perhaps of a kind that another version knows. */
export function decodeEvent(bytes: Uint8Array): SharedDelivery | undefined {
  if (bytes.length < LENGTH_BYTES || bytes.length > BUS_PAYLOAD_BYTES_MAX) return undefined;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = LENGTH_BYTES + buffer.readUInt32BE(0);
  if (end > buffer.length) return undefined;
  try {
    const head: unknown = JSON.parse(buffer.toString('utf8', LENGTH_BYTES, end));
    if (typeof head !== 'object' || head === null) return undefined;
    const { except, ...fields }: ForeignHead = head;
    const event = eventOf(fields, buffer.subarray(end));
    return event && { event, except: exceptOf(except) };
  } catch (error) {
    if (error instanceof SyntaxError || isQimError(error)) return undefined;
    throw error;
  }
}

/** @throws QimError */
function eventOf(head: ForeignHead, rest: Uint8Array): PushEvent | undefined {
  const kind = head.kind as PushEvent['kind'];
  if (kind === 'messageCommitted' || kind === 'messageAmended') {
    const message = decodeMessage(rest);
    return message && { kind, message };
  }
  if (rest.length > 0) return undefined;
  switch (kind) {
    case 'readAdvanced':
      return {
        kind,
        conversationId: parseConversationId(text(head.conversationId)),
        userId: parseUserId(text(head.userId)),
        readConversationSeq: parseConversationSeq(Number(head.readConversationSeq)),
      };
    case 'conversationChanged':
    case 'removed':
      return { kind, conversationId: parseConversationId(text(head.conversationId)) };
    case 'typing':
      return {
        kind,
        conversationId: parseConversationId(text(head.conversationId)),
        userId: parseUserId(text(head.userId)),
        on: head.on === true,
      };
    case 'presence':
      return { kind, userId: parseUserId(text(head.userId)), online: head.online === true, ask: head.ask === true };
    case 'suspended':
      return { kind, deviceId: head.deviceId === undefined ? undefined : parseDeviceId(text(head.deviceId)) };
    case 'resyncNeeded':
      return { kind };
    default:
      return unknown(kind);
  }
}

/** @throws QimError */
function exceptOf(value: unknown): Delivery['except'] {
  if (value === undefined) return undefined;
  const [userId, deviceId] = Array.isArray(value) ? (value as readonly unknown[]) : [];
  return { userId: parseUserId(text(userId)), deviceId: parseDeviceId(text(deviceId)) };
}

/** What is no text is refused as an id, as the empty one is. */
function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A kind that is added to PushEvent must be added above: this takes none. */
function unknown(_kind: never): undefined {
  return undefined;
}

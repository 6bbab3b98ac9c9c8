/**
 * The hot frames in protobuf's binary form, written by hand: the reply to SendMessage, and the events that carry a message.
 * The bytes are those of the library; what is seldom (Control, unknown fields, a number past 2^53-1) is left to it: undefined.
 *
 * Written from the back to the front, so that the length of what is nested is known when it is its turn.
 */
import type { Event, Message, Reaction, ReplyTo, SendMessageResponse } from '@qim/proto/schema';
import type { FrameId } from './frames.js';

const VARINT = 0;
const LENGTH = 2;
const VARINT_BYTES_MAX = 10;
/** All fields of a frame that have no text, their tags and the lengths around them. */
const FIXED_BYTES = 512;
/** Of one text in a list, beside itself. */
const ITEM_BYTES = 2 * VARINT_BYTES_MAX;
/** In UTF-8, of one UTF-16 unit. */
const CHAR_BYTES_MAX = 3;

class BackWriter {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafe(bytes);
    this.#at = bytes;
  }

  /** What was written, from here to the end. */
  get written(): Buffer {
    return this.#bytes.subarray(this.#at);
  }

  get position(): number {
    return this.#at;
  }

  #varint(value: number): void {
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size += 1;
    this.#at -= size;
    let rest = value;
    for (let at = this.#at; size > 1; size -= 1, at += 1) {
      this.#bytes[at] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
      if (size === 2) this.#bytes[at + 1] = rest;
    }
    if (value < 0x80) this.#bytes[this.#at] = value;
  }

  #tag(field: number, kind: number): void {
    this.#varint(field * 8 + kind);
  }

  /** Zero is not written. */
  number(field: number, value: number): void {
    if (value === 0) return;
    this.#varint(value);
    this.#tag(field, VARINT);
  }

  /** An item of a list, or a member of a oneof, is written when it is empty, too. */
  item(field: number, text: string): void {
    const size = Buffer.byteLength(text);
    this.#at -= size;
    this.#bytes.write(text, this.#at);
    this.#varint(size);
    this.#tag(field, LENGTH);
  }

  text(field: number, text: string): void {
    if (text !== '') this.item(field, text);
  }

  bytes(field: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#at -= bytes.length;
    this.#bytes.set(bytes, this.#at);
    this.#varint(bytes.length);
    this.#tag(field, LENGTH);
  }

  /** Around what was written since `end` was the position. */
  nest(field: number, end: number): void {
    this.#varint(end - this.#at);
    this.#tag(field, LENGTH);
  }
}

const ServerFrame = { Id: 1, Reply: 3, Event: 5 } as const;

export function hotReply(id: FrameId, { message, duplicate, $unknown }: SendMessageResponse): Uint8Array | undefined {
  const frameId = safe(id);
  if (message === undefined || $unknown !== undefined || frameId === undefined || !isPlain(message)) return undefined;
  const writer = new BackWriter(boundOf(message));
  const end = writer.position;
  writer.number(2, duplicate ? 1 : 0);
  writeMessage(writer, 1, message);
  writer.nest(ServerFrame.Reply, end);
  writer.number(ServerFrame.Id, frameId);
  return writer.written;
}

export function hotEvent({ kind, $unknown }: Event): Uint8Array | undefined {
  if ((kind.case !== 'messageCommitted' && kind.case !== 'messageAmended') || $unknown !== undefined) return undefined;
  const { message, $unknown: unknownOfKind } = kind.value;
  if (message === undefined || unknownOfKind !== undefined || !isPlain(message)) return undefined;
  const writer = new BackWriter(boundOf(message));
  const end = writer.position;
  writeMessage(writer, 1, message);
  writer.nest(kind.case === 'messageCommitted' ? 1 : 2, end);
  writer.nest(ServerFrame.Event, end);
  return writer.written;
}

/** Without an array or an object of its own: it is asked for each frame. */
function isPlain(message: Message): boolean {
  const { body, replyTo, reactions } = message;
  if (body.case === 'control' || (body.case === 'content' && body.value.$unknown !== undefined)) return false;
  if (message.$unknown !== undefined || (replyTo !== undefined && !isPlainReply(replyTo))) return false;
  if (message.type < 0 || message.revision < 0 || message.status < 0 || message.reactionsRevision < 0) return false;
  for (const { $unknown } of reactions) if ($unknown !== undefined) return false;
  const { epoch, conversationSeq, committedAtMs, amendedAtMs } = message;
  return isSafe(epoch) && isSafe(conversationSeq) && isSafe(committedAtMs) && isSafe(amendedAtMs);
}

function isPlainReply({ conversationSeq, $unknown }: ReplyTo): boolean {
  return $unknown === undefined && isSafe(conversationSeq);
}

function isSafe(value: bigint): boolean {
  return safe(value) !== undefined;
}

/** Undefined: it is none that a number holds exactly, or below 0. */
function safe(value: bigint): number | undefined {
  const number = Number(value);
  return number >= 0 && number <= Number.MAX_SAFE_INTEGER ? number : undefined;
}

/** Without an array of its own, too. */
function boundOf(message: Message): number {
  const { mentionUserIds, reactions, replyTo, body } = message;
  let chars = message.messageId.length + message.conversationId.length + message.activityId.length;
  chars += message.senderUserId.length + message.senderDeviceId.length + message.clientMessageId.length;
  if (replyTo !== undefined) chars += replyTo.messageId.length;
  for (const userId of mentionUserIds) chars += userId.length + ITEM_BYTES;
  for (const { emoji, userIds } of reactions) {
    chars += emoji.length + ITEM_BYTES;
    for (const userId of userIds) chars += userId.length + ITEM_BYTES;
  }
  if (body.case === 'text') chars += body.value.length;
  const data = body.case === 'content' ? body.value.data.length + body.value.contentType.length * CHAR_BYTES_MAX : 0;
  return FIXED_BYTES + chars * CHAR_BYTES_MAX + data;
}

/** Fields in falling order. */
function writeMessage(writer: BackWriter, field: number, message: Message): void {
  const { body, replyTo } = message;
  const end = writer.position;
  writer.number(21, message.reactionsRevision);
  for (const reaction of message.reactions.toReversed()) writeReaction(writer, 20, reaction);
  if (body.case === 'content') {
    const contentEnd = writer.position;
    writer.bytes(2, body.value.data);
    writer.text(1, body.value.contentType);
    writer.nest(18, contentEnd);
  } else if (body.case === 'text') writer.item(17, body.value);
  if (replyTo !== undefined) {
    const replyEnd = writer.position;
    writer.text(2, replyTo.messageId);
    writer.number(1, Number(replyTo.conversationSeq));
    writer.nest(16, replyEnd);
  }
  writer.number(15, message.mentionAll ? 1 : 0);
  for (const userId of message.mentionUserIds.toReversed()) writer.item(14, userId);
  writer.number(13, Number(message.amendedAtMs));
  writer.number(12, Number(message.committedAtMs));
  writer.number(11, message.revision);
  writer.number(10, message.status);
  writer.number(9, message.type);
  writer.text(8, message.clientMessageId);
  writer.text(7, message.senderDeviceId);
  writer.text(6, message.senderUserId);
  writer.text(5, message.activityId);
  writer.number(4, Number(message.conversationSeq));
  writer.number(3, Number(message.epoch));
  writer.text(2, message.conversationId);
  writer.text(1, message.messageId);
  writer.nest(field, end);
}

function writeReaction(writer: BackWriter, field: number, { emoji, userIds }: Reaction): void {
  const end = writer.position;
  for (const userId of userIds.toReversed()) writer.item(2, userId);
  writer.text(1, emoji);
  writer.nest(field, end);
}

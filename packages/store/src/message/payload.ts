/**
 * The payload: what of a record only a reader of the message itself needs. It lies in the record, or apart as the body.
 *
 *   u8 length + device id (0: none) · u8 length + clientMessageId · u8 has replyTo (0, 1) [u64 sequence, 16 bytes messageId]
 *   u8 number of mentions, each u8 length + user id
 *   u8 content kind: 0 none · 1 text: u32 length + UTF-8 · 2 data: u8 length + content type, u32 length + bytes
 *                    3 control: u32 length + JSON
 *
 * Exactly consumed, or malformed.
 */
import {
  CLIENT_MESSAGE_ID_BYTES_MAX,
  type ClientMessageId,
  CONTENT_TYPE_CHARS_MAX,
  type ConversationSeq,
  DEVICE_ID_BYTES_MAX,
  type DeviceId,
  type MessageContent,
  type MessageRecord,
  parseClientMessageId,
  parseDeviceId,
  parseMessageId,
  parseUserId,
  type ReplyTo,
  SEQ_ZERO,
  type UserId,
} from '@qim/proto';
import { type ByteReader, ByteWriter, getText, Malformed } from './bytes.js';
import { controlFromJson, controlToJson } from './control-json.js';

export interface Payload {
  readonly deviceId: DeviceId | undefined;
  readonly clientMessageId: ClientMessageId;
  readonly replyTo: ReplyTo | undefined;
  readonly mentionUserIds: readonly UserId[];
  readonly content: MessageContent;
}

const CONTENT_KIND = { none: 0, text: 1, data: 2, control: 3 } as const satisfies Record<MessageContent['kind'], number>;

const writer = new ByteWriter();

/** In bytes that the next payload uses again. */
export function encodePayload(record: MessageRecord): Uint8Array {
  writer
    .restart()
    .shortText(record.sender.deviceId ?? '')
    .shortText(record.clientMessageId);
  writeReplyTo(writer, record.replyTo);
  writeMentions(writer, record.mentions.userIds);
  writeContent(writer, record.content);
  return writer.written();
}

export function writeReplyTo(writer: ByteWriter, replyTo: ReplyTo | undefined): void {
  if (replyTo === undefined) writer.u8(0);
  else writer.u8(1).u64(replyTo.conversationSeq).uuid(replyTo.messageId);
}

export function writeMentions(writer: ByteWriter, userIds: readonly UserId[]): void {
  writer.u8(userIds.length);
  for (const userId of userIds) writer.shortText(userId);
}

export function writeContent(writer: ByteWriter, content: MessageContent): void {
  writer.u8(CONTENT_KIND[content.kind]);
  if (content.kind === 'text') writer.longText(content.text);
  else if (content.kind === 'data') writer.shortText(content.contentType).longBytes(content.data);
  else if (content.kind === 'control') writer.longText(controlToJson(content.control));
}

export interface PlainText {
  readonly text: string;
  /** Of the text, in UTF-8. */
  readonly bytes: number;
}

/**
 * The text of the payload in [start, end) of `bytes`, '' where its content is none: what a list shows, at a fraction of the cost of
 * decoding all. Undefined: it has another content, or something that only `decodePayload` judges; what that one refuses
 * is never taken here. @throws Malformed when the text is not UTF-8
 */
export function plainTextOf(bytes: Uint8Array, start: number, end: number): PlainText | undefined {
  let at = afterPlain(bytes, start, end, 0, DEVICE_ID_BYTES_MAX);
  at = afterPlain(bytes, at, end, 1, CLIENT_MESSAGE_ID_BYTES_MAX);
  // Replies and mentions have more to judge; they are the fewer.
  if (at < 0 || bytes[at] !== 0 || bytes[at + 1] !== 0) return undefined;
  const kind = bytes[at + 2];
  const from = at + PLAIN_HEAD_BYTES;
  if (kind === CONTENT_KIND.none) return at + 3 === end ? NO_TEXT : undefined;
  if (kind !== CONTENT_KIND.text || from > end) return undefined;
  const length = end - from;
  const said = ((bytes[at + 3] ?? 0) << 24) | ((bytes[at + 4] ?? 0) << 16) | ((bytes[at + 5] ?? 0) << 8) | (bytes[at + 6] ?? 0);
  return said === length ? { text: getText(bytes, from, length), bytes: length } : undefined;
}

/** Has no reply, no mentions, a content kind, and the length of a text. */
const PLAIN_HEAD_BYTES = 7;
const NO_TEXT: PlainText = { text: '', bytes: 0 };

/** Where a short text of printable ASCII ends; -1: it is something else, or `at` was. */
function afterPlain(bytes: Uint8Array, at: number, end: number, lengthMin: number, lengthMax: number): number {
  const length = at < 0 || at >= end ? -1 : (bytes[at] ?? 0);
  const after = at + 1 + length;
  if (length < lengthMin || length > lengthMax || after > end) return -1;
  for (let i = at + 1; i < after; i += 1) {
    const byte = bytes[i] ?? 0;
    if (byte < FIRST_PRINTABLE || byte > LAST_PRINTABLE) return -1;
  }
  return after;
}

const FIRST_PRINTABLE = 0x20;
const LAST_PRINTABLE = 0x7e;

/** Reads to the end. @throws Malformed | QimError (an id that is none) */
export function decodePayload(reader: ByteReader): Payload {
  const deviceId = reader.shortText();
  const payload: Payload = {
    deviceId: deviceId === '' ? undefined : parseDeviceId(deviceId),
    clientMessageId: parseClientMessageId(reader.shortText()),
    replyTo: readReplyTo(reader),
    mentionUserIds: Array.from({ length: reader.u8() }, () => parseUserId(reader.shortText())),
    content: readContent(reader),
  };
  reader.end();
  return payload;
}

function readReplyTo(reader: ByteReader): ReplyTo | undefined {
  const has = reader.u8();
  if (has === 0) return undefined;
  const conversationSeq = reader.u64() as ConversationSeq;
  if (has !== 1 || conversationSeq === SEQ_ZERO) throw new Malformed('replyTo');
  return { conversationSeq, messageId: parseMessageId(reader.uuid()) };
}

function readContent(reader: ByteReader): MessageContent {
  const kind = reader.u8();
  switch (kind) {
    case CONTENT_KIND.none:
      return { kind: 'none' };
    case CONTENT_KIND.text:
      return { kind: 'text', text: reader.longText() };
    case CONTENT_KIND.data: {
      const contentType = reader.shortText();
      if (contentType.length > CONTENT_TYPE_CHARS_MAX) throw new Malformed('content type');
      return { kind: 'data', contentType, data: reader.longBytes() };
    }
    case CONTENT_KIND.control:
      return { kind: 'control', control: controlFromJson(reader.longText()) };
    default:
      throw new Malformed('no known content kind');
  }
}

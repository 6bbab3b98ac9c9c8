/**
 * Bytes of a MessageRecord at rest, version 1, shared by all backends. Numbers are big-endian.
 *
 * record (at most RECORD_BYTES_MAX):
 *   offset  size  field
 *   0       1     version, 1
 *   1       1     255 - version
 *   2       8     sequence            stamped
 *   10      8     prevSequence        stamped
 *   18      8     committedAtMs       stamped
 *   26      4     XXH32 over [30, length - 24); seed: the first two bytes as a u16
 *   30      4     tenantId
 *   34      1     status
 *   35      1     flags: 1 mentions all, 2 body apart, 4 snippet truncated, 8 snippet is a content type
 *   36      4     type
 *   40      4     revision
 *   44      8     amendedAtMs
 *   52      16    messageId
 *   68      16    activityId
 *   84      1     length of the conversationId
 *   85      1     length of the sender's userId
 *   86      1     number of mention fingerprints
 *   87      1     0
 *   88      …     conversationId, sender's userId, fingerprints of 8 bytes
 *   …       …     body inside: the payload (payload.ts)
 *                 body apart: bodyLength u32, bodyChecksum u32, snippet length u16, snippet
 *   end-24  24    sequence, prevSequence, committedAtMs again
 *
 * body apart:
 *   0       1     version, 1
 *   1       1     255 - version
 *   2       4     XXH32 over [14, length - 8), seeded as above; the record's bodyChecksum
 *   6       8     sequence            stamped
 *   14      4     tenantId
 *   18      4     revision
 *   22      1     length of the conversationId
 *   23      …     conversationId, payload (bodyLength bytes)
 *   end-8   8     sequence again
 *
 * The commit step alone knows what is stamped, so it is outside the checksum and written twice. Every single flipped
 * bit is noticed. The body is inside when the whole record then stays within RECORD_INLINE_BYTES_MAX. A new field means
 * a new version, a new golden file, and a decoder that still reads this one.
 */
import {
  assert,
  type ConversationId,
  type ConversationSeq,
  type CorruptReason,
  isQimError,
  type MessageRecord,
  RECORD_BYTES_MAX,
  RECORD_INLINE_BYTES_MAX,
  SNIPPET_BYTES_MAX,
  type TenantId,
} from '@qim/proto';
import { ByteReader, getSafeU64, getText, IdBytes, Malformed, setU64, setUuid, utf8, viewOf } from './bytes.js';
import { userFingerprint } from './fingerprint.js';
import { decodePayload, encodePayload, type Payload } from './payload.js';
import { checkVersion, RecordHeader } from './record-header.js';
import { BodyOffset, BodySize, Flag, Offset, RECORD_VERSION, Size } from './record-layout.js';
import { type Snippet, snippetOf } from './snippet.js';
import type { Preview } from './summary.js';
import { xxh32 } from './xxh32.js';

export { RecordHeader } from './record-header.js';

/** Where the commit script puts `RECORD_STAMP_BYTES` of sequence, prevSequence and committedAtMs; also at the very end. */
export const RECORD_STAMP_HEAD_OFFSET = Offset.Stamp;
export const RECORD_STAMP_BYTES = Size.Stamp;
/** 16 bytes: what an amendment compares. */
export const RECORD_ACTIVITY_ID_OFFSET = Offset.ActivityId;
/** Where the commit script puts `BODY_STAMP_BYTES` of the sequence into a body apart; also at the very end. */
export const BODY_STAMP_HEAD_OFFSET = BodyOffset.Stamp;
export const BODY_STAMP_BYTES = BodySize.Stamp;

export interface EncodedRecord {
  readonly record: Uint8Array;
  /** Undefined: the payload is inside the record. */
  readonly body: Uint8Array | undefined;
}

/** What only the commit step knows. */
export type RecordStamp = Pick<MessageRecord, 'conversationSeq' | 'prevSequence' | 'committedAtMs'>;

/** Before the commit the stamped fields are 0; what was encoded so must be stamped before it can be read. */
export function encodeRecord(record: MessageRecord): EncodedRecord {
  assert((record.messageId as string) !== record.activityId, 'a record has an activityId of its own');
  const conversation = Buffer.from(record.conversationId, 'latin1');
  const sender = Buffer.from(record.sender.userId);
  const payload = encodePayload(record);
  const textsEnd = Offset.Texts + conversation.length + sender.length;
  const payloadStart = textsEnd + record.mentions.userIds.length * Size.Fingerprint;
  const inside = payloadStart + payload.length + Size.Stamp <= RECORD_INLINE_BYTES_MAX;
  const body = inside ? undefined : encodeBody(record, conversation, payload);
  const rest = body === undefined ? payload : encodeApart(record, payload, body);

  const bytes = Buffer.allocUnsafe(payloadStart + rest.length + Size.Stamp).fill(0, 0, Offset.Texts);
  assert(bytes.length <= RECORD_BYTES_MAX, 'a record stays within RECORD_BYTES_MAX');
  bytes.set(conversation, Offset.Texts);
  bytes.set(sender, Offset.Texts + conversation.length);
  for (const [i, userId] of record.mentions.userIds.entries()) bytes.set(userFingerprint(userId), textsEnd + i * Size.Fingerprint);
  bytes.set(rest, payloadStart);
  bytes[Offset.ConversationLength] = conversation.length;
  bytes[Offset.SenderLength] = sender.length;
  writeFixed(bytes, record, body !== undefined);
  stampRecord({ record: bytes, body }, record);
  return { record: bytes, body };
}

function writeFixed(bytes: Uint8Array, record: MessageRecord, apart: boolean): void {
  const view = viewOf(bytes);
  const snippet = snippetOf(record.content);
  writeVersion(bytes);
  view.setUint32(Offset.TenantId, record.tenantId);
  bytes[Offset.Status] = record.status;
  bytes[Offset.Flags] =
    (record.mentions.all ? Flag.MentionAll : 0) |
    (apart ? Flag.BodyApart : 0) |
    (apart && snippet.truncated ? Flag.SnippetTruncated : 0) |
    (apart && snippet.isContentType ? Flag.SnippetIsContentType : 0);
  view.setUint32(Offset.Type, record.type);
  view.setUint32(Offset.Revision, record.revision);
  setU64(view, Offset.AmendedAt, record.amendedAtMs);
  setUuid(bytes, Offset.MessageId, record.messageId);
  setUuid(bytes, Offset.ActivityId, record.activityId);
  bytes[Offset.MentionCount] = record.mentions.userIds.length;
  view.setUint32(Offset.Checksum, xxh32(view, Offset.Checked, bytes.length - Size.Stamp, view.getUint16(0)));
}

function writeVersion(bytes: Uint8Array): void {
  bytes[0] = RECORD_VERSION;
  bytes[1] = 0xff - RECORD_VERSION;
}

/** What stands in the record for a payload that is apart. */
function encodeApart(record: MessageRecord, payload: Uint8Array, body: Uint8Array): Uint8Array {
  const snippet = utf8.encode(snippetOf(record.content).text);
  const bytes = new Uint8Array(Size.Apart + snippet.length);
  const view = viewOf(bytes);
  view.setUint32(0, payload.length);
  view.setUint32(4, viewOf(body).getUint32(BodyOffset.Checksum));
  view.setUint16(8, snippet.length);
  bytes.set(snippet, Size.Apart);
  return bytes;
}

function encodeBody(record: MessageRecord, conversation: Uint8Array, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(BodySize.FixedHead + conversation.length + payload.length + BodySize.Stamp);
  const view = viewOf(bytes);
  writeVersion(bytes);
  view.setUint32(BodyOffset.TenantId, record.tenantId);
  view.setUint32(BodyOffset.Revision, record.revision);
  bytes[BodyOffset.ConversationLength] = conversation.length;
  bytes.set(conversation, BodyOffset.Texts);
  bytes.set(payload, BodyOffset.Texts + conversation.length);
  view.setUint32(BodyOffset.Checksum, xxh32(view, BodyOffset.Checked, bytes.length - BodySize.Stamp, view.getUint16(0)));
  return bytes;
}

/** Writes what is stamped into record and body, in place. */
export function stampRecord(encoded: EncodedRecord, stamp: RecordStamp): void {
  const record = viewOf(encoded.record);
  for (const at of [Offset.Stamp, encoded.record.length - Size.Stamp]) {
    setU64(record, at, stamp.conversationSeq);
    setU64(record, at + 8, stamp.prevSequence);
    setU64(record, at + 16, stamp.committedAtMs);
  }
  if (encoded.body === undefined) return;
  const body = viewOf(encoded.body);
  setU64(body, BodyOffset.Stamp, stamp.conversationSeq);
  setU64(body, encoded.body.length - BodySize.Stamp, stamp.conversationSeq);
}

/** A header of its own. For many records load one `RecordHeader` again and again instead. */
export function decodeHeader(bytes: Uint8Array): RecordHeader | CorruptReason {
  const header = new RecordHeader();
  return header.load(bytes) ?? header;
}

/** The record is the one that was asked for; otherwise it is damage (`recordMismatch`). */
export function checkIdentity(
  header: RecordHeader,
  tenantId: TenantId,
  conversationId: ConversationId,
  conversationSeq: ConversationSeq,
): boolean {
  return header.tenantId === tenantId && header.sequence === conversationSeq && header.conversationIs(new IdBytes().set(conversationId));
}

export function needsBody(header: RecordHeader): boolean {
  return header.bodyApart;
}

/**
 * The whole record. `body` is what is kept apart for it, and is not looked at when the payload is inside. After
 * `bodyMissing` or `bodyUnreadable` read record and body again in one atomic read before calling it damage.
 */
export function decodeRecord(bytes: Uint8Array, body: Uint8Array | undefined): MessageRecord | CorruptReason {
  const header = decodeHeader(bytes);
  if (typeof header === 'string') return header;
  if (!header.bodyApart) return orReason('recordUnreadable', () => recordOf(header, decodePayload(payloadInside(header))));
  if (body === undefined) return 'bodyMissing';
  const version = checkVersion(body);
  if (version !== undefined) return version === 'unsupportedVersion' ? version : 'bodyUnreadable';
  const texts = orReason('recordUnreadable', () => ({ conversation: utf8.encode(header.conversationId), sender: header.senderUserId }));
  if (typeof texts === 'string') return texts;
  if (!bodyBelongs(header, body, texts.conversation)) return 'bodyUnreadable';
  const start = BodyOffset.Texts + texts.conversation.length;
  return orReason('bodyUnreadable', () => recordOf(header, decodePayload(new ByteReader(body, start, body.length - BodySize.Stamp))));
}

function payloadInside(header: RecordHeader): ByteReader {
  return new ByteReader(header.bytes, header.payloadStart, header.payloadEnd);
}

/** Whole, and of this record in this revision. */
function bodyBelongs(header: RecordHeader, body: Uint8Array, conversation: Uint8Array): boolean {
  if (body.length !== BodySize.FixedHead + conversation.length + header.bodyLength + BodySize.Stamp) return false;
  const view = viewOf(body);
  const tail = body.length - BodySize.Stamp;
  const checksum = xxh32(view, BodyOffset.Checked, tail, view.getUint16(0));
  return (
    view.getUint32(BodyOffset.Checksum) === checksum &&
    checksum === header.bodyChecksum &&
    getSafeU64(view, BodyOffset.Stamp) === header.sequence &&
    getSafeU64(view, tail) === header.sequence &&
    view.getUint32(BodyOffset.TenantId) === header.tenantId &&
    view.getUint32(BodyOffset.Revision) === header.revision &&
    body[BodyOffset.ConversationLength] === conversation.length &&
    conversation.every((byte, i) => body[BodyOffset.Texts + i] === byte)
  );
}

/** @throws Malformed | QimError */
function recordOf(header: RecordHeader, payload: Payload): MessageRecord {
  if (payload.mentionUserIds.length !== header.mentionCount) throw new Malformed('mentions differ from their fingerprints');
  return {
    tenantId: header.tenantId,
    conversationId: header.conversationId,
    conversationSeq: header.sequence,
    prevSequence: header.prevSequence,
    messageId: header.messageId,
    activityId: header.activityId,
    sender: { userId: header.senderUserId, deviceId: payload.deviceId },
    clientMessageId: payload.clientMessageId,
    type: header.type,
    status: header.status,
    revision: header.revision,
    committedAtMs: header.committedAtMs,
    amendedAtMs: header.amendedAtMs,
    mentions: { userIds: payload.mentionUserIds, all: header.mentionsAll },
    replyTo: payload.replyTo,
    content: payload.content,
  };
}

/** What a list shows of the record; never needs the body. */
export function previewOf(header: RecordHeader): Preview | CorruptReason {
  return orReason('recordUnreadable', () => {
    const snippet = header.bodyApart
      ? {
          text: getText(header.bytes, header.snippetStart, header.snippetLength),
          truncated: (header.flags & Flag.SnippetTruncated) !== 0,
        }
      : snippetInside(header);
    return {
      messageId: header.messageId,
      conversationSeq: header.sequence,
      type: header.type,
      status: header.status,
      senderUserId: header.senderUserId,
      snippet: snippet.text,
      truncated: snippet.truncated,
      committedAtMs: header.committedAtMs,
    };
  });
}

/** @throws Malformed | QimError */
function snippetInside(header: RecordHeader): Pick<Snippet, 'text' | 'truncated'> {
  const { plainText } = header;
  if (plainText === undefined) return snippetOf(decodePayload(payloadInside(header)).content);
  const { text, bytes } = plainText;
  return bytes <= SNIPPET_BYTES_MAX ? { text, truncated: false } : snippetOf({ kind: 'text', text });
}

/** The decoders' one catch: what the parts throw about bytes becomes the reason; anything else is our fault. */
function orReason<T>(reason: CorruptReason, decode: () => T): T | CorruptReason {
  try {
    return decode();
  } catch (error) {
    if (error instanceof Malformed || isQimError(error)) return reason;
    throw error;
  }
}

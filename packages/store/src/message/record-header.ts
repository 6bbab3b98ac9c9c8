/**
 * The part of a stored record that the conversation list reads, without decoding or copying the rest.
 *
 * One `RecordHeader` may be loaded again and again (a list reads thousands of records): after `load` the numbers are
 * plain fields, and sender, conversation and mentions are compared as bytes. What `load` accepts has a whole form and a
 * right checksum; texts are checked when they are asked for. The layout is told in codec.ts.
 */
import {
  type ActivityId,
  CONVERSATION_ID_CHARS_MAX,
  type ConversationId,
  type ConversationSeq,
  type CorruptReason,
  MENTIONS_MAX,
  MESSAGE_TYPE_MAX,
  type MessageId,
  MessageStatus,
  type MessageType,
  parseConversationId,
  parseUserId,
  RECORD_BYTES_MAX,
  type TenantId,
  USER_ID_BYTES_MAX,
  type UserId,
} from '@qim/proto';
import { getSafeU64, getText, getUuid, type IdBytes } from './bytes.js';
import { type PlainText, plainTextOf } from './payload.js';
import { Flag, Offset, RECORD_VERSION, Size } from './record-layout.js';
import { xxh32 } from './xxh32.js';

const NO_BYTES = new Uint8Array(0);
const NO_VIEW = new DataView(NO_BYTES.buffer);
const REVISION_MAX = 2 ** 31 - 1;

export class RecordHeader {
  sequence = 0 as ConversationSeq;
  prevSequence = 0 as ConversationSeq;
  committedAtMs = 0;
  tenantId = 0 as TenantId;
  status: MessageStatus = MessageStatus.Normal;
  type: MessageType = 0;
  revision = 0;
  amendedAtMs = 0;
  flags = 0;
  mentionCount = 0;

  /** What the record lies in, at [#start, #start + #length). */
  #bytes: Uint8Array = NO_BYTES;
  #start = 0;
  #length = 0;
  /** Over the whole buffer that `#bytes` lies in, which begins at #offset there: records of one answer share it, so it is made once. */
  #view: DataView = NO_VIEW;
  #offset = 0;
  #conversationLength = 0;
  #senderLength = 0;

  /** From [start, start + length) of `bytes`. Undefined: loaded. Otherwise what is wrong; then no field may be used. */
  load(bytes: Uint8Array, start = 0, length: number = bytes.length): CorruptReason | undefined {
    if (this.#bytes !== bytes) this.#lieIn(bytes);
    this.#start = start;
    this.#length = length;
    const view = this.#view;
    const head = this.#offset + start;
    const version = judgeVersion(length < 2 ? undefined : bytes[start], bytes[start + 1]);
    if (version !== undefined) return version;
    if (length < Size.FixedHead + Size.Stamp || length > RECORD_BYTES_MAX) return 'recordUnreadable';
    const tail = head + length - Size.Stamp;
    const checksum = xxh32(view, head + Offset.Checked, tail, view.getUint16(head));
    if (view.getUint32(head + Offset.Checksum) !== checksum) return 'recordUnreadable';
    for (let at = 0; at < Size.Stamp; at += 4) {
      if (view.getUint32(head + Offset.Stamp + at) !== view.getUint32(tail + at)) return 'recordUnreadable';
    }
    this.#take(view, head);
    return this.#isWhole() ? undefined : 'recordUnreadable';
  }

  #lieIn(bytes: Uint8Array): void {
    if (this.#view.buffer !== bytes.buffer) this.#view = new DataView(bytes.buffer);
    this.#bytes = bytes;
    this.#offset = bytes.byteOffset;
  }

  #take(view: DataView, start: number): void {
    this.sequence = getSafeU64(view, start + Offset.Stamp) as ConversationSeq;
    this.prevSequence = getSafeU64(view, start + Offset.Stamp + 8) as ConversationSeq;
    this.committedAtMs = getSafeU64(view, start + Offset.Stamp + 16);
    this.tenantId = view.getUint32(start + Offset.TenantId) as TenantId;
    this.status = view.getUint8(start + Offset.Status) as MessageStatus;
    this.flags = view.getUint8(start + Offset.Flags);
    this.type = view.getUint32(start + Offset.Type);
    this.revision = view.getUint32(start + Offset.Revision);
    this.amendedAtMs = getSafeU64(view, start + Offset.AmendedAt);
    this.#conversationLength = view.getUint8(start + Offset.ConversationLength);
    this.#senderLength = view.getUint8(start + Offset.SenderLength);
    this.mentionCount = view.getUint8(start + Offset.MentionCount);
  }

  /** Values in their ranges, lengths that add up. */
  #isWhole(): boolean {
    return (
      this.sequence > 0 &&
      this.prevSequence >= 0 &&
      this.prevSequence < this.sequence &&
      this.committedAtMs >= 0 &&
      this.amendedAtMs >= 0 &&
      this.status >= MessageStatus.Normal &&
      this.status <= MessageStatus.Deleted &&
      this.type >= 1 &&
      this.type <= MESSAGE_TYPE_MAX &&
      this.revision <= REVISION_MAX &&
      (this.flags & ~Flag.All) === 0 &&
      (this.bodyApart || (this.flags & Flag.SnippetAny) === 0) &&
      this.#conversationLength >= 1 &&
      this.#conversationLength <= CONVERSATION_ID_CHARS_MAX &&
      this.#senderLength >= 1 &&
      this.#senderLength <= USER_ID_BYTES_MAX &&
      this.mentionCount <= MENTIONS_MAX &&
      this.#bytes[this.#start + Offset.Reserved] === 0 &&
      this.#lengthsAddUp()
    );
  }

  #lengthsAddUp(): boolean {
    const left = this.payloadEnd - this.payloadStart;
    if (!this.bodyApart) return left >= 0;
    return left >= Size.Apart && left === Size.Apart + this.snippetLength;
  }

  /** True: the payload is in the body that is kept apart. */
  get bodyApart(): boolean {
    return (this.flags & Flag.BodyApart) !== 0;
  }

  get mentionsAll(): boolean {
    return (this.flags & Flag.MentionAll) !== 0;
  }

  /** Of the record alone. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#start + this.#length);
  }

  /** In the record. Of the payload, or of what stands for it when the body is apart. */
  get payloadStart(): number {
    return this.#mentionsStart + this.mentionCount * Size.Fingerprint;
  }

  get payloadEnd(): number {
    return this.#length - Size.Stamp;
  }

  get bodyLength(): number {
    return this.#u32(this.payloadStart);
  }

  get bodyChecksum(): number {
    return this.#u32(this.payloadStart + 4);
  }

  get snippetStart(): number {
    return this.payloadStart + Size.Apart;
  }

  get snippetLength(): number {
    return this.#view.getUint16(this.#offset + this.#start + this.payloadStart + 8);
  }

  #u32(at: number): number {
    return this.#view.getUint32(this.#offset + this.#start + at);
  }

  get #mentionsStart(): number {
    return Offset.Texts + this.#conversationLength + this.#senderLength;
  }

  /** What inside the record is text, or nothing; undefined: not told without decoding its payload. @throws Malformed */
  get plainText(): PlainText | undefined {
    return plainTextOf(this.#bytes, this.#start + this.payloadStart, this.#start + this.payloadEnd);
  }

  conversationIs({ bytes, length }: IdBytes): boolean {
    return length === this.#conversationLength && this.#holds(Offset.Texts, length, bytes);
  }

  senderIs(userUtf8: Uint8Array): boolean {
    const length = this.#senderLength;
    return length === userUtf8.length && this.#holds(Offset.Texts + this.#conversationLength, length, userUtf8);
  }

  /** The first `length` of `expected`. */
  #holds(at: number, length: number, expected: Uint8Array): boolean {
    const bytes = this.#bytes;
    const first = this.#start + at;
    for (let i = 0; i < length; i += 1) if (bytes[first + i] !== expected[i]) return false;
    return true;
  }

  /** The user of this fingerprint (`userFingerprint`), or all, are mentioned. */
  mentions(fingerprint: Uint8Array): boolean {
    if (this.mentionsAll) return true;
    const end = this.payloadStart;
    for (let at = this.#mentionsStart; at < end; at += Size.Fingerprint) {
      if (this.#holds(at, Size.Fingerprint, fingerprint)) return true;
    }
    return false;
  }

  get messageId(): MessageId {
    return getUuid(this.#bytes, this.#start + Offset.MessageId) as MessageId;
  }

  get activityId(): ActivityId {
    return getUuid(this.#bytes, this.#start + Offset.ActivityId) as ActivityId;
  }

  /** @throws Malformed | QimError, as does `senderUserId` */
  get conversationId(): ConversationId {
    return parseConversationId(getText(this.#bytes, this.#start + Offset.Texts, this.#conversationLength));
  }

  get senderUserId(): UserId {
    return parseUserId(getText(this.#bytes, this.#start + Offset.Texts + this.#conversationLength, this.#senderLength));
  }
}

/** Of a record or a body. Two bytes that do not belong together are damage; a pair of another number is a newer qim's. */
export function checkVersion([version, complement]: Uint8Array): 'recordUnreadable' | 'unsupportedVersion' | undefined {
  return judgeVersion(version, complement);
}

function judgeVersion(version: number | undefined, complement: number | undefined): ReturnType<typeof checkVersion> {
  if (version === undefined || complement === undefined || version + complement !== 0xff) return 'recordUnreadable';
  return version === RECORD_VERSION ? undefined : 'unsupportedVersion';
}

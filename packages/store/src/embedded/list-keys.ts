/** The keys that a list reads of one conversation after the other: each lies in bytes that the next conversation uses again. */
import { CONVERSATION_ID_CHARS_MAX, type ConversationId, type ConversationSeq, type TenantId, type UserId } from '@qim/proto';
import { keyPart } from '../key-part.js';
import { setAscii, TENANT_BYTES_MAX } from '../message/bytes.js';
import { everythingUnder, type KeyRange, NUMBER_BYTES, TABLE_BYTES, Table, writeNumber } from './keys.js';

const COLON = 58;
/** One key. LMDB copies a key when it reads, so each may stand in the same bytes. */
class KeyBytes {
  bytes = Buffer.alloc(0);
  readonly #letter: number;

  constructor(table: Table) {
    this.#letter = table.charCodeAt(0);
  }

  /** `table:place`, and after it a colon and room for so many bytes, or nothing. */
  set(place: Uint8Array, length: number, room: number | undefined): void {
    const total = TABLE_BYTES + length + (room === undefined ? 0 : 1 + room);
    // Most conversations of a page have ids of the same length.
    if (this.bytes.length !== total) this.bytes = Buffer.allocUnsafeSlow(total);
    const { bytes } = this;
    bytes[0] = this.#letter;
    bytes[1] = COLON;
    for (let i = 0; i < length; i += 1) bytes[TABLE_BYTES + i] = place[i] ?? 0;
    if (room !== undefined) bytes[TABLE_BYTES + length] = COLON;
  }
}

/** Each key stands until it is asked for again, or another conversation is set. */
export class ListKeys {
  readonly #place = new Uint8Array(TENANT_BYTES_MAX + CONVERSATION_ID_CHARS_MAX);
  readonly #member: Uint8Array;
  readonly #facts = new KeyBytes(Table.Facts);
  readonly #members = new KeyBytes(Table.Member);
  readonly #records = new KeyBytes(Table.Record);
  readonly #index = new KeyBytes(Table.Index);
  readonly #indexEnd = new KeyBytes(Table.Index);
  /** Of what stands before a number. */
  #prefixBytes = 0;

  constructor(userId: UserId) {
    this.#member = Buffer.from(keyPart(userId), 'latin1');
  }

  /** An id of a conversation is its own part of a key. */
  set(tenantId: TenantId, conversationId: ConversationId): this {
    const place = this.#place;
    const tenant = setAscii(place, 0, String(tenantId));
    place[tenant] = COLON;
    const length = setAscii(place, tenant + 1, conversationId);
    this.#prefixBytes = TABLE_BYTES + length + 1;
    this.#facts.set(place, length, undefined);
    this.#members.set(place, length, this.#member.length);
    this.#members.bytes.set(this.#member, this.#prefixBytes);
    this.#records.set(place, length, NUMBER_BYTES);
    this.#index.set(place, length, NUMBER_BYTES + 1);
    this.#indexEnd.set(place, length, 0);
    this.#indexEnd.bytes[this.#prefixBytes - 1] = COLON + 1;
    return this;
  }

  get facts(): Buffer {
    return this.#facts.bytes;
  }

  get member(): Buffer {
    return this.#members.bytes;
  }

  record(seq: ConversationSeq): Buffer {
    writeNumber(this.#records.bytes, this.#prefixBytes, seq);
    return this.#records.bytes;
  }

  /** Where a member's bytes begin in a key of the index. */
  get prefixBytes(): number {
    return this.#prefixBytes;
  }

  get wholeIndex(): KeyRange {
    return everythingUnder(Buffer.from(this.#index.bytes.subarray(0, this.#prefixBytes)));
  }

  /** The least key past the member `seq`. */
  indexAfter(seq: ConversationSeq): Buffer {
    const { bytes } = this.#index;
    writeNumber(bytes, this.#prefixBytes, seq);
    bytes[this.#prefixBytes + NUMBER_BYTES] = 0;
    return bytes;
  }

  /** Past all keys of the index. */
  get indexEnd(): Buffer {
    return this.#indexEnd.bytes;
  }
}

/** From stored rows to what they are: whole records, damage with its reason, or nothing. */
import {
  type ConversationSeq,
  type CorruptReason,
  FSCK_BODIES_AT_ONCE,
  isQimError,
  type MessageRecord,
  type MessageType,
  type UserId,
} from '@qim/proto';
import { Malformed } from '../message/bytes.js';
import { checkIdentity, decodeHeader, decodeRecord, type RecordHeader } from '../message/codec.js';
import { Flag, Offset } from '../message/record-layout.js';
import type { ConversationPlace } from './finding.js';
import type { ConversationScan, StoredRow } from './scanner.js';

/** What a whole header says of a record whose body is lost. */
export interface KnownHeader {
  readonly senderUserId: UserId;
  readonly type: MessageType;
  readonly committedAtMs: number;
}

export type RowContent =
  | { readonly kind: 'whole'; readonly record: MessageRecord; readonly bodyApart: boolean }
  | {
      readonly kind: 'broken';
      readonly reason: CorruptReason;
      /** Whole, and of this record: then only the body is damaged. */
      readonly known: KnownHeader | undefined;
      readonly body: Uint8Array | undefined;
    }
  | { readonly kind: 'absent'; readonly body: Uint8Array | undefined };

export interface DecodedRow extends StoredRow {
  readonly content: RowContent;
}

/** In the order of the rows. Bodies are read in portions of FSCK_BODIES_AT_ONCE and not kept when they are sound. */
export async function decodeRows(scan: ConversationScan, rows: readonly StoredRow[]): Promise<DecodedRow[]> {
  const contents = rows.map((row) => withoutBody(scan.place, row));
  const doubtful = rows.flatMap((row, i) => (row.hasBody && mayNeedBody(contents[i]) ? [i] : []));
  for (let from = 0; from < doubtful.length; from += FSCK_BODIES_AT_ONCE) {
    const places = doubtful.slice(from, from + FSCK_BODIES_AT_ONCE);
    const bodies = await scan.bodies(places.map((i) => sequenceAt(rows, i)));
    for (const [j, i] of places.entries()) {
      const row = rows[i];
      if (row !== undefined) contents[i] = await settled(scan, row, decode(scan.place, row.sequence, row.record, bodies[j]));
    }
  }
  return rows.map((row, i) => ({ ...row, content: contents[i] ?? { kind: 'absent', body: undefined } }));
}

function sequenceAt(rows: readonly StoredRow[], i: number): ConversationSeq {
  const row = rows[i];
  if (row === undefined) throw new Error('a row is one of the page');
  return row.sequence;
}

function withoutBody(place: ConversationPlace, row: StoredRow): RowContent {
  return decode(place, row.sequence, row.record, undefined);
}

/** A record that lacks its body so far; also what is damaged or absent, whose body is put aside with it. */
function mayNeedBody(content: RowContent | undefined): boolean {
  return content?.kind !== 'whole';
}

/** Record and body come from two reads: what does not fit is read once more, in one. */
async function settled(scan: ConversationScan, row: StoredRow, content: RowContent): Promise<RowContent> {
  if (content.kind !== 'broken' || (content.reason !== 'bodyMissing' && content.reason !== 'bodyUnreadable')) return content;
  const { record, body } = await scan.whole(row.sequence);
  return decode(scan.place, row.sequence, record, body);
}

export function decode(
  { tenantId, conversationId }: ConversationPlace,
  sequence: ConversationSeq,
  bytes: Uint8Array | undefined,
  body: Uint8Array | undefined,
): RowContent {
  if (bytes === undefined) return { kind: 'absent', body };
  const record = decodeRecord(bytes, body);
  if (typeof record === 'object') {
    const own = record.tenantId === tenantId && record.conversationId === conversationId && record.conversationSeq === sequence;
    if (!own) return { kind: 'broken', reason: 'recordMismatch', known: undefined, body };
    return { kind: 'whole', record, bodyApart: ((bytes[Offset.Flags] ?? 0) & Flag.BodyApart) !== 0 };
  }
  if (record !== 'bodyMissing' && record !== 'bodyUnreadable') return { kind: 'broken', reason: record, known: undefined, body };
  const header = decodeHeader(bytes);
  const own = typeof header === 'object' && checkIdentity(header, tenantId, conversationId, sequence);
  return { kind: 'broken', reason: own ? record : 'recordMismatch', known: own ? knownFrom(header) : undefined, body };
}

/** Undefined: the sender is no user id after all. */
function knownFrom(header: RecordHeader): KnownHeader | undefined {
  try {
    return { senderUserId: header.senderUserId, type: header.type, committedAtMs: header.committedAtMs };
  } catch (error) {
    if (error instanceof Malformed || isQimError(error)) return undefined;
    throw error;
  }
}

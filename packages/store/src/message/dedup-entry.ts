/**
 * What is remembered of a commit, so that a retry is answered with it. 64 bytes, big-endian:
 * sequence u64 · messageId 16 · activityId 16 · committedAtMs u64 · request fingerprint 16 (fingerprint.ts).
 */
import type { ActivityId, ConversationSeq, MessageId } from '@qim/proto';
import { ByteReader, getSafeU64, setU64, setUuid, viewOf } from './bytes.js';

export const DEDUP_ENTRY_BYTES = 64;
export const DEDUP_FINGERPRINT_OFFSET = 48;

export interface DedupEntry {
  readonly conversationSeq: ConversationSeq;
  readonly messageId: MessageId;
  /** Of the commit itself; an amendment does not change it. */
  readonly activityId: ActivityId;
  readonly committedAtMs: number;
  readonly fingerprint: Uint8Array;
}

/** Before the commit step has stamped them, sequence and committedAtMs are 0. */
export function encodeDedupEntry(entry: DedupEntry): Uint8Array {
  const { conversationSeq, messageId, activityId, committedAtMs, fingerprint } = entry;
  const bytes = Buffer.allocUnsafe(DEDUP_ENTRY_BYTES);
  const view = viewOf(bytes);
  setU64(view, 0, conversationSeq);
  setUuid(bytes, 8, messageId);
  setUuid(bytes, 24, activityId);
  setU64(view, 40, committedAtMs);
  bytes.set(fingerprint, DEDUP_FINGERPRINT_OFFSET);
  return bytes;
}

export function decodeDedupEntry(bytes: Uint8Array): DedupEntry | 'dedupUnreadable' {
  if (bytes.length !== DEDUP_ENTRY_BYTES) return 'dedupUnreadable';
  const view = viewOf(bytes);
  const conversationSeq = getSafeU64(view, 0);
  const committedAtMs = getSafeU64(view, 40);
  if (conversationSeq < 1 || committedAtMs < 0) return 'dedupUnreadable';
  const reader = new ByteReader(bytes, 8);
  return {
    conversationSeq: conversationSeq as ConversationSeq,
    messageId: reader.uuid() as MessageId,
    activityId: reader.uuid() as ActivityId,
    committedAtMs,
    fingerprint: new Uint8Array(bytes.subarray(DEDUP_FINGERPRINT_OFFSET)),
  };
}

export function sameFingerprint(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

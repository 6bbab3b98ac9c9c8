/**
 * Commit partitions: what of the key space one commit touches, and where it lies in a Cluster.
 *
 * A conversation belongs to one partition for ever, so the count is fixed when a deployment is made. Each partition has
 * a hash tag; the tags are chosen so that their slots are evenly spaced, and any split of the slots over equal nodes
 * splits the partitions equally too.
 */
import { assert, COMMIT_PARTITIONS_MAX, CONVERSATION_ID_CHARS_MAX, type ConversationId, type TenantId } from '@qim/proto';
import { utf8, viewOf } from '../message/bytes.js';
import { xxh32 } from '../message/xxh32.js';

/** Of Redis Cluster. */
export const SLOTS = 16_384;
const TAG_DIGITS = 3;
/** A tenant has at most 10 digits. */
const PLACE_CHARS_MAX = CONVERSATION_ID_CHARS_MAX + 11;

/** The slot of a key whose hash tag is `tag`: CRC16 (polynomial 0x1021, from 0) modulo the number of slots. */
export function slotOf(tag: string): number {
  let crc = 0;
  for (const byte of utf8.encode(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}

/**
 * The tags of partitions 0..count-1. That of partition i is the first of c000, c001, … whose slot lies in the i-th of
 * `count` equal ranges. Cost: some count * ln(count) hashes; done once per store.
 */
export function partitionTags(count: number): readonly string[] {
  assert(Number.isInteger(count) && count >= 1 && count <= COMMIT_PARTITIONS_MAX, 'the number of partitions is within its bounds');
  const tags = new Array<string | undefined>(count).fill(undefined);
  for (let k = 0, missing = count; missing > 0; k += 1) {
    const tag = `c${String(k).padStart(TAG_DIGITS, '0')}`;
    const partition = Math.floor((slotOf(tag) * count) / SLOTS);
    if (tags[partition] !== undefined) continue;
    tags[partition] = tag;
    missing -= 1;
  }
  return tags.map((tag) => tag ?? '');
}

/** 0..count-1. Stable: changing this function strands every stored conversation. */
export function partitionOf(tenantId: TenantId, conversationId: ConversationId, count: number): number {
  const place = `${tenantId}:${conversationId}`;
  // All of it is ASCII.
  for (let i = 0; i < place.length; i += 1) PLACE[i] = place.charCodeAt(i);
  return xxh32(PLACE_VIEW, 0, place.length, 0) % count;
}

/** Used again by each call. */
const PLACE = new Uint8Array(PLACE_CHARS_MAX);
const PLACE_VIEW = viewOf(PLACE);

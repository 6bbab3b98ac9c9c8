/**
 * The reactions of one message, beside its record.
 *
 *   u8 version 1 · u8 255 - version · 8 bytes, the first hexadecimal digits of the SHA-1 of the rest
 *   16 bytes messageId · u32 revision · u8 number of kinds, each: u8 length + emoji, u8 number of users, each u8 length + user id
 *
 * SHA-1 because Redis scripts have it: they change such a value where it lies. A value without kinds stays, so that its
 * revision never goes back. Exactly consumed, and of the message beside it, or unreadable.
 */
import { createHash } from 'node:crypto';
import {
  type CorruptReason,
  isQimError,
  type MessageRecord,
  parseUserId,
  REACTION_KINDS_MAX,
  REACTION_USERS_MAX,
  REACTIONS_BYTES_MAX,
  type Reaction,
  type Reactions,
  resourceLimit,
  type UserId,
  utf8Bytes,
} from '@qim/proto';
import { ByteReader, ByteWriter, Malformed } from './bytes.js';
import type { ReactRequest } from './message-store.js';
import { isErased } from './record.js';

const VERSION = 1;
const CHECKSUM_CHARS = 8;
const HEAD_BYTES = 2 + CHECKSUM_CHARS;

export function encodeReactions(messageId: MessageRecord['messageId'], { revision, kinds }: Reactions): Uint8Array {
  const writer = new ByteWriter().uuid(messageId).u32(revision).u8(kinds.length);
  for (const { emoji, userIds } of kinds) {
    writer.shortText(emoji).u8(userIds.length);
    for (const userId of userIds) writer.shortText(userId);
  }
  const rest = writer.result();
  return new ByteWriter()
    .u8(VERSION)
    .u8(0xff - VERSION)
    .bytes(Buffer.from(checksum(rest), 'latin1'))
    .bytes(rest)
    .result();
}

function checksum(bytes: Uint8Array): string {
  return createHash('sha1').update(bytes).digest('hex').slice(0, CHECKSUM_CHARS);
}

/** Of this record; undefined: it has none, which is also what is left of an erased one. */
export function decodeReactions(record: MessageRecord, bytes: Uint8Array | undefined): Reactions | CorruptReason | undefined {
  if (bytes === undefined || isErased(record.status)) return undefined;
  const found = readReactions(bytes);
  if (typeof found === 'string') return found;
  return found.messageId === record.messageId ? found.reactions : 'reactionsUnreadable';
}

/** Whosever they are. */
export function readReactions(bytes: Uint8Array): { readonly messageId: string; readonly reactions: Reactions } | CorruptReason {
  const [version, complement] = bytes;
  if (bytes.length < HEAD_BYTES || version === undefined || version + (complement ?? 0) !== 0xff) return 'reactionsUnreadable';
  if (version !== VERSION) return 'unsupportedVersion';
  const told = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1', 2, HEAD_BYTES);
  if (told !== checksum(bytes.subarray(HEAD_BYTES))) return 'reactionsUnreadable';
  try {
    const reader = new ByteReader(bytes, HEAD_BYTES);
    const messageId = reader.uuid();
    const revision = reader.u32();
    const kinds = Array.from({ length: reader.u8() }, (): Reaction => {
      const emoji = reader.shortText();
      return { emoji, userIds: Array.from({ length: reader.u8() }, () => parseUserId(reader.shortText())) };
    });
    reader.end();
    return { messageId, reactions: { revision, kinds } };
  } catch (error) {
    if (error instanceof Malformed || isQimError(error)) return 'reactionsUnreadable';
    throw error;
  }
}

/** As they are afterwards; undefined: they are so already. @throws ResourceLimit */
export function reactionsAfter(before: Reactions | undefined, { actor, target, emoji, on }: ReactRequest): Reactions | undefined {
  const { revision, kinds } = before ?? { revision: 0, kinds: [] };
  const held = kinds.find((kind) => kind.emoji === emoji)?.userIds ?? [];
  if (held.includes(actor) === on) return undefined;
  const after = { revision: revision + 1, kinds: on ? withUser(kinds, emoji, actor) : withoutUser(kinds, emoji, actor) };
  if (!on) return after;
  if (after.kinds.length > REACTION_KINDS_MAX) throw tooManyKinds();
  if (held.length + 1 > REACTION_USERS_MAX) throw tooManyUsers();
  if (encodeReactions(target.messageId, after).length > REACTIONS_BYTES_MAX) throw tooManyBytes();
  return after;
}

export function tooManyKinds(): Error {
  return resourceLimit('different reactions to a message', REACTION_KINDS_MAX);
}

export function tooManyUsers(): Error {
  return resourceLimit('users of one reaction to a message', REACTION_USERS_MAX);
}

export function tooManyBytes(): Error {
  return resourceLimit('bytes of reactions to a message', REACTIONS_BYTES_MAX);
}

function withUser(kinds: readonly Reaction[], emoji: string, userId: UserId): Reaction[] {
  if (!kinds.some((kind) => kind.emoji === emoji)) return [...kinds, { emoji, userIds: [userId] }];
  return kinds.map((kind) => (kind.emoji === emoji ? { emoji, userIds: [...kind.userIds, userId] } : kind));
}

function withoutUser(kinds: readonly Reaction[], emoji: string, userId: UserId): Reaction[] {
  return kinds
    .map((kind) => (kind.emoji === emoji ? { emoji, userIds: kind.userIds.filter((id) => id !== userId) } : kind))
    .filter(({ userIds }) => userIds.length > 0);
}

/** What they count of a page's bytes. */
export function reactionsBytes(reactions: Reactions | undefined): number {
  let bytes = 0;
  for (const { emoji, userIds } of reactions?.kinds ?? []) {
    bytes += utf8Bytes(emoji);
    for (const userId of userIds) bytes += utf8Bytes(userId);
  }
  return bytes;
}

/**
 * Page tokens: a position, opaque to the client, good for one user and one list. They protect nothing secret (each list
 * is read with the caller's own rights); the checksum tells a token that was cut, altered or taken from another list from
 * a position, so that it is refused and never read as a wrong one.
 *
 *   offset  size  field
 *   0       1     version, = 1
 *   1       8     first bytes of SHA-256 over version, list name, tenant, user and position, each with its length
 *   9       ...   position: JSON, an array of numbers and texts
 *
 * All of it as base64url without padding, at most PAGE_TOKEN_CHARS_MAX.
 */
import { createHash } from 'node:crypto';
import {
  type Caller,
  type ConversationId,
  invalidArgument,
  PAGE_TOKEN_CHARS_MAX,
  parseConversationId,
  parseUserId,
  type UserId,
} from '@qim/proto';
import type { DirectoryCursor } from '@qim/store';

const VERSION = 1;
const CHECKSUM_BYTES = 8;
const HEADER_BYTES = 1 + CHECKSUM_BYTES;

export function encodeListToken(caller: Caller, cursor: DirectoryCursor): string {
  const { activityAtMs, conversationId, pinned, pinsThroughMs } = cursor;
  const pins = pinned === true || pinsThroughMs !== undefined ? [pinned === true ? 1 : 0, pinsThroughMs ?? 0] : [];
  return encode(caller, 'list', [activityAtMs, conversationId, ...pins]);
}

/** @throws InvalidArgument (pageToken) */
export function decodeListToken(caller: Caller, token: string): DirectoryCursor {
  const [activityAtMs, conversationId, pinned = 0, pinsThroughMs = 0] = decode(caller, 'list', token);
  const numbers = [activityAtMs, pinned, pinsThroughMs];
  if (!numbers.every((value) => Number.isSafeInteger(value)) || typeof conversationId !== 'string') throw refused();
  return {
    activityAtMs: Number(activityAtMs),
    conversationId: parseConversationId(conversationId, 'pageToken'),
    ...(pinned === 1 ? { pinned: true } : {}),
    ...(pinsThroughMs === 0 ? {} : { pinsThroughMs: Number(pinsThroughMs) }),
  };
}

/** `after` is the last member of the page before. */
export function encodeMembersToken(caller: Caller, conversationId: ConversationId, after: UserId): string {
  return encode(caller, `members:${conversationId}`, [after]);
}

/** @throws InvalidArgument (pageToken) */
export function decodeMembersToken(caller: Caller, conversationId: ConversationId, token: string): UserId {
  const [after] = decode(caller, `members:${conversationId}`, token);
  if (typeof after !== 'string') throw refused();
  return parseUserId(after, 'pageToken');
}

/** `after` is the last user of the page before. */
export function encodeBlockedToken(caller: Caller, after: UserId): string {
  return encode(caller, 'blocked', [after]);
}

/** @throws InvalidArgument (pageToken) */
export function decodeBlockedToken(caller: Caller, token: string): UserId {
  const [after] = decode(caller, 'blocked', token);
  if (typeof after !== 'string') throw refused();
  return parseUserId(after, 'pageToken');
}

function encode(caller: Caller, list: string, position: readonly unknown[]): string {
  const payload = Buffer.from(JSON.stringify(position));
  return Buffer.concat([Buffer.of(VERSION), checksum(caller, list, payload), payload]).toString('base64url');
}

function decode(caller: Caller, list: string, token: string): readonly unknown[] {
  if (token.length > PAGE_TOKEN_CHARS_MAX) throw refused();
  const bytes = Buffer.from(token, 'base64url');
  // The decoder skips what is not base64url; a token that holds such is not one of ours.
  if (bytes.toString('base64url') !== token || bytes[0] !== VERSION || bytes.length < HEADER_BYTES) throw refused();
  const payload = bytes.subarray(HEADER_BYTES);
  if (!checksum(caller, list, payload).equals(bytes.subarray(1, HEADER_BYTES))) throw refused();
  return parsePosition(payload.toString());
}

function parsePosition(text: string): readonly unknown[] {
  try {
    const position: unknown = JSON.parse(text);
    if (Array.isArray(position)) return position;
  } catch {
    // Falls through: whoever forges the checksum as well is told the same.
  }
  throw refused();
}

function checksum({ tenantId, userId }: Caller, list: string, payload: Buffer): Buffer {
  const hash = createHash('sha256').update(Buffer.of(VERSION));
  for (const part of [list, String(tenantId), userId, payload]) {
    const bytes = Buffer.from(part);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  }
  return hash.digest().subarray(0, CHECKSUM_BYTES);
}

function refused(): Error {
  return invalidArgument('pageToken', 'one that this list returned to this user, or empty');
}

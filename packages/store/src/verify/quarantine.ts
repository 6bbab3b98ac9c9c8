/** The stored form of what a repair puts aside: JSON, so that it can be read without qim; the bytes are base64. */
import { isQimError, parseConversationSeq, parseUserId } from '@qim/proto';
import type { ConversationPlace } from './finding.js';
import type { Quarantined } from './scanner.js';

export function encodeQuarantined({ id, conversationSeq, userId, was, code, atMs, bytes }: Quarantined): Buffer {
  return Buffer.from(JSON.stringify({ id, conversationSeq, userId, was, code, atMs, bytes: bytes?.toString('base64') }), 'utf8');
}

/** What cannot be read is listed all the same, without its bytes. */
export function decodeQuarantined(place: ConversationPlace, id: string, value: Uint8Array): Quarantined {
  const unreadable: Quarantined = {
    ...place,
    id,
    conversationSeq: undefined,
    userId: undefined,
    was: 'an entry that cannot be read',
    code: '',
    atMs: 0,
    bytes: undefined,
  };
  const stored = objectIn(value);
  if (stored === undefined) return unreadable;
  const { was, code, atMs, bytes, conversationSeq, userId } = stored;
  if (typeof was !== 'string' || typeof code !== 'string' || typeof atMs !== 'number') return unreadable;
  try {
    return {
      ...place,
      id,
      conversationSeq: typeof conversationSeq === 'number' ? parseConversationSeq(conversationSeq) : undefined,
      userId: typeof userId === 'string' ? parseUserId(userId) : undefined,
      was,
      code,
      atMs,
      bytes: typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : undefined,
    };
  } catch (error) {
    if (isQimError(error)) return unreadable;
    throw error;
  }
}

function objectIn(value: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(value).toString('utf8'));
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

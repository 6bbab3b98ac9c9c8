/** What lies aside: JSON {entry, reason, atMs}. The entry is kept byte for byte, as latin-1. */
import type { PoisonEntry } from '../outbox/outbox.js';
import { decodeOutboxValue } from './outbox-value.js';

interface StoredPoison {
  readonly entry: string;
  readonly reason: string;
  /** Unix milliseconds; not written by 0.1.0. */
  readonly atMs: number;
}

export function encodePoison(poison: StoredPoison): Uint8Array {
  return Buffer.from(JSON.stringify(poison), 'utf8');
}

/** What cannot be read any more still lies there, and is told as such. */
export function decodePoison(value: Uint8Array | undefined): Pick<PoisonEntry, 'reason' | 'setAsideAtMs' | 'about'> {
  const { entry, reason, atMs } = fieldsOf(value);
  const decoded = typeof entry === 'string' ? decodeOutboxValue(Buffer.from(entry, 'latin1')) : undefined;
  const about = decoded && {
    kind: decoded.kind,
    tenantId: decoded.tenantId,
    conversationId: decoded.conversationId,
    conversationSeq: decoded.conversationSeq,
  };
  return {
    reason: typeof reason === 'string' ? reason : 'unreadable',
    setAsideAtMs: typeof atMs === 'number' && Number.isSafeInteger(atMs) ? atMs : 0,
    about,
  };
}

function fieldsOf(value: Uint8Array | undefined): Partial<Record<keyof StoredPoison, unknown>> {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(value ?? []).toString('utf8'));
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

/** Entries of the outbox as the streams hold them. */
import { isQimError, parseConversationId, parseConversationSeq, parseTenantId } from '@qim/proto';
import { Malformed } from '../message/bytes.js';
import { parseDecimal } from '../message/decimal.js';
import type { OutboxEntry, OutboxKind, PoisonEntry } from '../outbox/outbox.js';
import type { Reply } from './connection.js';
import { asArray, asText } from './replies.js';

/** One entry as it is stored; undefined fields: it is pending but was removed from the stream. */
export interface StoredEntry {
  readonly partition: number;
  readonly entryId: string;
  readonly fields: ReadonlyMap<string, string> | undefined;
}

const KINDS: ReadonlySet<string> = new Set<OutboxKind>(['created', 'committed', 'amended', 'membership']);

export function fieldsOf(reply: readonly Reply[]): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (let i = 0; i + 1 < reply.length; i += 2) fields.set(asText(reply[i]), asText(reply[i + 1]));
  return fields;
}

/** When an entry was written, by the server's clock: the first half of its id, in Unix milliseconds. */
export function writtenAt(entryId: string): number {
  return Number(entryId.slice(0, entryId.indexOf('-')));
}

/** The entry, or why it cannot be understood. */
export function parseEntry({ partition, entryId, fields }: StoredEntry): OutboxEntry | string {
  if (fields === undefined) return 'the entry was removed while it was pending';
  const kind = fields.get('k') ?? '';
  if (!KINDS.has(kind)) return 'unknown kind';
  try {
    return {
      partition,
      entryId,
      kind: kind as OutboxKind,
      tenantId: parseTenantId(parseDecimal(fields.get('t'))),
      conversationId: parseConversationId(fields.get('c') ?? ''),
      conversationSeq: parseConversationSeq(parseDecimal(fields.get('s'))),
    };
  } catch (error) {
    if (error instanceof Malformed || isQimError(error)) return 'malformed ids';
    throw error;
  }
}

/** From an entry of the stream of what lies aside, as outbox-set-aside wrote it. */
export function poisonFrom(partition: number, entry: Reply): PoisonEntry {
  const [id, stored] = asArray(entry);
  const fields = fieldsOf(asArray(stored));
  const entryId = fields.get('entryId') ?? '';
  const parsed = parseEntry({ partition, entryId, fields });
  return {
    partition,
    entryId,
    reason: fields.get('reason') ?? '',
    setAsideAtMs: writtenAt(asText(id)),
    about: typeof parsed === 'string' ? undefined : aboutOf(parsed),
  };
}

function aboutOf({ kind, tenantId, conversationId, conversationSeq }: OutboxEntry): PoisonEntry['about'] {
  return { kind, tenantId, conversationId, conversationSeq };
}

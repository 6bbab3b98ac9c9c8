/** The text of an outbox entry: `kind tenant conversation sequence atMs`. Ids, never content. */
import {
  type ConversationId,
  type ConversationSeq,
  isQimError,
  parseConversationId,
  parseConversationSeq,
  parseTenantId,
  type TenantId,
} from '@qim/proto';
import type { OutboxKind } from '../outbox/outbox.js';

export interface OutboxValue {
  readonly kind: OutboxKind;
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
  readonly conversationSeq: ConversationSeq;
  /** Unix milliseconds of the step that wrote it. */
  readonly atMs: number;
}

const KINDS = ['created', 'committed', 'amended', 'membership'] as const satisfies readonly OutboxKind[];
const NUMBER = /^(0|[1-9][0-9]{0,15})$/;

export function encodeOutboxValue(entry: OutboxValue): Uint8Array {
  const { kind, tenantId, conversationId, conversationSeq, atMs } = entry;
  return Buffer.from(`${kind} ${tenantId} ${conversationId} ${conversationSeq} ${atMs}`, 'latin1');
}

/** Undefined: not such a text. */
export function decodeOutboxValue(value: Uint8Array | undefined): OutboxValue | undefined {
  if (value === undefined) return undefined;
  const [kindText, tenant, conversation, sequence, at, ...more] = Buffer.from(value).toString('latin1').split(' ');
  const kind = KINDS.find((known) => known === kindText);
  if (kind === undefined || conversation === undefined || more.length > 0) return undefined;
  if (![tenant, sequence, at].every((part) => part !== undefined && NUMBER.test(part))) return undefined;
  try {
    return {
      kind,
      tenantId: parseTenantId(Number(tenant)),
      conversationId: parseConversationId(conversation),
      conversationSeq: parseConversationSeq(Number(sequence)),
      atMs: Number(at),
    };
  } catch (error) {
    if (isQimError(error)) return undefined;
    throw error;
  }
}

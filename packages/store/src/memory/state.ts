/** What the reference model holds: plain maps of domain values, one object for all three contracts. */
import type { ConversationId, ConversationSeq, MessageRecord, Reactions, TenantId, UserId } from '@qim/proto';
import type { DedupEntry } from '../message/dedup-entry.js';
import type { StoredFacts } from '../message/facts.js';
import type { MemberEntry } from '../message/summary.js';
import type { OutboxEntry, PoisonEntry } from '../outbox/outbox.js';

export interface MemoryConversation {
  facts: StoredFacts;
  readonly members: Map<UserId, MemberEntry>;
  /** In the order of their sequences. */
  readonly records: Map<ConversationSeq, MessageRecord>;
  /** By sender and clientMessageId. */
  readonly dedup: Map<string, DedupEntry & { readonly week: number }>;
  /** Sequence -> number of its newest amendment. */
  readonly amendments: Map<ConversationSeq, number>;
  readonly reactions: Map<ConversationSeq, Reactions>;
}

export interface MemoryPartition {
  /** Of the newest owner; 0: there was none. */
  token: number;
  owner: string | undefined;
  expiresAtMs: number;
  /** Number of the last entry that the present owner has read. */
  readThrough: number;
  entries: { readonly entry: OutboxEntry; readonly number: number; readonly atMs: number }[];
  /** By entryId, in the order in which they were set aside. */
  readonly poison: Map<string, PoisonEntry>;
}

const PARTITIONS = 4;

export class MemoryState {
  readonly now: () => number;
  readonly #conversations = new Map<string, MemoryConversation>();
  readonly #places: { readonly tenantId: TenantId; readonly conversationId: ConversationId }[] = [];
  readonly partitions: readonly MemoryPartition[] = Array.from({ length: PARTITIONS }, () => ({
    token: 0,
    owner: undefined,
    expiresAtMs: 0,
    readThrough: 0,
    entries: [],
    poison: new Map(),
  }));
  /** Until when each owner said that it lives. */
  readonly owners = new Map<string, number>();
  /** Told of each new outbox entry. */
  readonly onEntry = new Set<() => void>();
  #entryNumber = 0;

  constructor(now: () => number) {
    this.now = now;
  }

  conversation(tenantId: TenantId, conversationId: ConversationId): MemoryConversation | undefined {
    return this.#conversations.get(`${tenantId} ${conversationId}`);
  }

  addConversation(tenantId: TenantId, conversationId: ConversationId, conversation: MemoryConversation): void {
    this.#conversations.set(`${tenantId} ${conversationId}`, conversation);
    this.#places.push({ tenantId, conversationId });
  }

  /** In the order in which they were made. */
  places(): { readonly tenantId: TenantId; readonly conversationId: ConversationId }[] {
    return [...this.#places];
  }

  addEntry(entry: Omit<OutboxEntry, 'partition' | 'entryId'>): void {
    this.#entryNumber += 1;
    const number = this.#entryNumber;
    const partition = partitionOf(entry.conversationId);
    this.partitions[partition]?.entries.push({ entry: { ...entry, partition, entryId: String(number) }, number, atMs: this.now() });
    for (const tell of this.onEntry) tell();
  }
}

function partitionOf(conversationId: ConversationId): number {
  let sum = 0;
  for (const char of conversationId) sum += char.charCodeAt(0);
  return sum % PARTITIONS;
}

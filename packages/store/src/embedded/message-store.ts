/** MessageStore on LMDB: each call is one plan or one snapshot. What they decide is in commit, amend, history, readings. */
import {
  assert,
  COMMIT_BATCH_MAX,
  CONVERSATIONS_READ_MAX,
  type ConversationId,
  type ConversationSeq,
  EMBEDDED_READ_SLICE,
  LIST_PAGE_SIZE_MAX,
  type Message,
  type TenantId,
  type UserId,
} from '@qim/proto';
import { nextTurn } from '../clock.js';
import { isDamage } from '../errors.js';
import type {
  AmendOutcome,
  AmendRequest,
  CatchUpPage,
  CatchUpQuery,
  CommitOutcome,
  CommitRequest,
  ConversationFacts,
  ConversationsPage,
  HistoryPage,
  HistoryQuery,
  MessageStore,
  ReactRequest,
  RetentionOutcome,
  RetentionPolicy,
} from '../message/message-store.js';
import { readingScope } from '../message/summaries.js';
import type { ConversationReading, ConversationState, ConversationSummary, MemberEntry } from '../message/summary.js';
import type { StoreObserver } from '../store.js';
import { planAmend, planReaction } from './amend.js';
import { readCatchUpPage } from './catch-up.js';
import { planCommit, prepareCommit } from './commit.js';
import { CommitSeries } from './commit-series.js';
import { ConversationReads } from './conversation-reads.js';
import { type Environment, type FaultHook, type Plan, type Snapshot, watchedSnapshot } from './environment.js';
import type { Clearing, Expiry } from './expiry.js';
import { readHistoryPage } from './history.js';
import { factsAfter, placeOfFacts } from './keys.js';
import { ListKeys } from './list-keys.js';
import { readConversationState } from './readings.js';
import { planRetention } from './retain.js';

export interface EmbeddedMessageStoreOptions {
  readonly environment: Environment;
  readonly expiry: Expiry;
  /** Unix milliseconds; the store's clock. */
  readonly now: () => number;
  readonly observer: StoreObserver;
  readonly faults: FaultHook | undefined;
  readonly beforeRead: (() => void) | undefined;
  /** Called when new outbox entries are on the disk. */
  readonly committed: () => void;
}

/** All conversations share the one partition: an embedded outbox has one reader, in this process. */
const PARTITION = 0;

export class EmbeddedMessageStore implements MessageStore {
  readonly #options: EmbeddedMessageStoreOptions;
  readonly #series = new CommitSeries(PARTITION);

  constructor(options: EmbeddedMessageStoreOptions) {
    this.#options = options;
  }

  async commit(request: CommitRequest): Promise<CommitOutcome> {
    const { environment, expiry, now, faults, committed } = this.#options;
    const prepared = prepareCommit(request);
    let clearing: Clearing | undefined;
    const plan = (snapshot: Snapshot): Plan<CommitOutcome> => {
      const at = now();
      const planned = planCommit(prepared, { snapshot, series: this.#series, now: at });
      clearing = planned.result.duplicate ? undefined : expiry.clearing(snapshot, at);
      const expired = clearing?.writes ?? [];
      return expired.length === 0 ? planned : { ...planned, writes: [...planned.writes, ...expired] };
    };
    const outcome = await this.#watched(environment.write('commit', plan, faults, this.#series));
    if (clearing !== undefined) {
      expiry.cleared(clearing);
      committed();
    }
    return outcome;
  }

  async amend(request: AmendRequest): Promise<AmendOutcome> {
    const { environment, now, faults, committed } = this.#options;
    const outcome = await this.#watched(environment.write('amend', (snapshot) => planAmend(snapshot, request, now(), PARTITION), faults));
    if (outcome.kind === 'amended') committed();
    return outcome;
  }

  async react(request: ReactRequest): Promise<AmendOutcome> {
    const { environment, now, faults, committed } = this.#options;
    const outcome = await this.#watched(
      environment.write('react', (snapshot) => planReaction(snapshot, request, now(), PARTITION), faults),
    );
    if (outcome.kind === 'amended') committed();
    return outcome;
  }

  readMessages(
    tenantId: TenantId,
    conversationId: ConversationId,
    sequences: readonly ConversationSeq[],
  ): Promise<readonly (Message | undefined)[]> {
    assert(sequences.length <= COMMIT_BATCH_MAX, 'at most COMMIT_BATCH_MAX messages are read at once');
    return this.#read((snapshot) => {
      const reads = new ConversationReads(snapshot, tenantId, conversationId);
      const facts = reads.facts();
      return sequences.map((seq) => {
        if (facts !== undefined && seq < facts.retainedFrom) return undefined;
        const indexed = reads.hasIndexMember(seq);
        const record = reads.record(seq);
        if (!indexed && record === undefined) return undefined;
        if (facts === undefined) throw reads.damage('factsMissing');
        if (record === undefined) throw reads.damage('recordMissing', seq);
        if (!indexed) throw reads.damage('indexMissing', seq);
        return reads.messageOf(record, facts.epoch);
      });
    });
  }

  readHistory(query: HistoryQuery): Promise<HistoryPage> {
    return this.#read((snapshot) => readHistoryPage(snapshot, query));
  }

  catchUp(query: CatchUpQuery): Promise<CatchUpPage> {
    return this.#read((snapshot) => readCatchUpPage(snapshot, query));
  }

  async retain(tenantId: TenantId, conversationId: ConversationId, policy: RetentionPolicy): Promise<RetentionOutcome> {
    const { environment, now, faults, committed } = this.#options;
    const plan = (snapshot: Snapshot) => planRetention(snapshot, { tenantId, conversationId, policy }, now(), PARTITION);
    // A sweep finds nothing to do most of the time, and then no flush is waited for.
    const idle = await this.#read((snapshot) => {
      const { result, writes } = plan(snapshot);
      return writes.length === 0 ? result : undefined;
    });
    if (idle !== undefined) return idle;
    const outcome = await this.#watched(environment.write('retain', plan, faults));
    committed();
    return outcome;
  }

  conversations(cursor: string | undefined, limit: number): Promise<ConversationsPage> {
    assert(limit >= 1 && limit <= CONVERSATIONS_READ_MAX, 'an enumeration names 1..CONVERSATIONS_READ_MAX at a time');
    return this.#read((snapshot) => {
      const keys = snapshot.keys(factsAfter(cursor), limit);
      const next = keys.length < limit ? undefined : keys.at(-1)?.toString('latin1');
      return { conversations: keys.flatMap((key) => placeOfFacts(key) ?? []), next };
    });
  }

  readConversation(
    tenantId: TenantId,
    conversationId: ConversationId,
    userId: UserId,
  ): Promise<{ readonly facts: ConversationFacts | undefined; readonly member: MemberEntry | undefined }> {
    return this.#read((snapshot) => {
      const reads = new ConversationReads(snapshot, tenantId, conversationId);
      const member = reads.member(userId);
      const facts = reads.storedFacts();
      if (typeof facts !== 'string') return { facts, member };
      if (member === undefined) return { facts: undefined, member };
      throw reads.damage(facts);
    });
  }

  readMembers(tenantId: TenantId, conversationId: ConversationId): Promise<ReadonlyMap<UserId, MemberEntry>> {
    return this.#read((snapshot) => new ConversationReads(snapshot, tenantId, conversationId).members());
  }

  async conversationSummaries(
    tenantId: TenantId,
    userId: UserId,
    states: readonly ConversationState[],
  ): Promise<readonly ConversationSummary[]> {
    const readings = await this.readConversations(tenantId, userId, states);
    return readings.map((reading) => {
      if (reading.kind === 'damaged') throw reading.error;
      return reading.summary;
    });
  }

  async readConversations(
    tenantId: TenantId,
    userId: UserId,
    states: readonly ConversationState[],
  ): Promise<readonly ConversationReading[]> {
    assert(states.length <= LIST_PAGE_SIZE_MAX, 'a page has at most LIST_PAGE_SIZE_MAX conversations');
    const { observer } = this.#options;
    const scope = readingScope(tenantId, userId);
    const keys = new ListKeys(userId);
    const readings: ConversationReading[] = [];
    while (readings.length < states.length) {
      if (readings.length > 0) await nextTurn();
      this.#moment((snapshot) => {
        for (let slice = 0; slice < EMBEDDED_READ_SLICE && readings.length < states.length; ) {
          const { reading, recordsRead } = readConversationState(snapshot, scope, states[readings.length] as ConversationState, keys);
          readings.push(reading);
          slice += recordsRead;
        }
      });
    }
    for (const reading of readings) if (reading.kind === 'damaged') observer.damage?.(reading.error.detail.reason);
    return readings;
  }

  async #read<T>(fn: (snapshot: Snapshot) => T): Promise<T> {
    try {
      return this.#moment(fn);
    } catch (error) {
      throw this.#told(error);
    }
  }

  /** All that `fn` reads is of one moment. */
  #moment<T>(fn: (snapshot: Snapshot) => T): T {
    const { environment, beforeRead } = this.#options;
    return environment.read((snapshot) => fn(beforeRead === undefined ? snapshot : watchedSnapshot(snapshot, beforeRead)));
  }

  /** Tells the observer of damage that a call met. */
  async #watched<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw this.#told(error);
    }
  }

  #told(error: unknown): unknown {
    if (isDamage(error)) this.#options.observer.damage?.(error.detail.reason);
    return error;
  }
}

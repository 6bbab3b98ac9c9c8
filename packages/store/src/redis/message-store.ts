/** MessageStore on Redis. What each call reads and writes is in commit, amend, messages, history and summaries. */
import {
  assert,
  COMMIT_BATCH_MAX,
  CONVERSATIONS_READ_MAX,
  type ConversationId,
  type ConversationSeq,
  type CorruptReason,
  isQimError,
  type Message,
  parseUserId,
  type TenantId,
  type UserId,
} from '@qim/proto';
import { corrupt, isDamage } from '../errors.js';
import type { DedupEntry } from '../message/dedup-entry.js';
import { parseMember } from '../message/facts.js';
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
import type { ConversationReading, ConversationState, ConversationSummary, MemberEntry } from '../message/summary.js';
import { amend, react } from './amend.js';
import { catchUp } from './catch-up.js';
import { committedOutcome, RedisCommits } from './commit.js';
import { isWrongType } from './connection.js';
import type { RedisContext } from './context.js';
import { readHistory } from './history.js';
import { ConversationKeys, FACTS_PATTERN } from './keys.js';
import { readMessages } from './messages.js';
import { factsCommand, factsFrom, memberCommand, memberFrom } from './reads.js';
import { asArray, asText } from './replies.js';
import { retain } from './retain.js';
import { scanStep } from './scan.js';
import { readConversations } from './summaries.js';

export class RedisMessageStore implements MessageStore {
  readonly #context: RedisContext;
  readonly #commits: RedisCommits;

  constructor(context: RedisContext) {
    this.#context = context;
    this.#commits = new RedisCommits(context);
  }

  commit(request: CommitRequest): Promise<CommitOutcome> {
    return this.#watched(async () => {
      const result = await this.#commits.commit(request);
      if (result.kind === 'committed') return committedOutcome(request, result);
      const { conversationSeq, messageId, activityId, committedAtMs } = result.entry;
      const message = await this.#remembered(request, result.entry);
      return { duplicate: true, conversationSeq, messageId, activityId, committedAtMs, created: false, message };
    });
  }

  /** Undefined: retention took it, or the sender is no longer a member. @throws CorruptRecord | UnsupportedVersion */
  async #remembered(request: CommitRequest, { conversationSeq, messageId }: DedupEntry): Promise<Message | undefined> {
    const { tenantId, conversationId, sender, needs } = request;
    const reader = needs === 'system' ? undefined : sender.userId;
    const [message] = await readMessages(this.#context, request, [conversationSeq], reader);
    if (message === undefined) {
      const { facts, member } = await this.readConversation(tenantId, conversationId, sender.userId);
      const mayRead = needs === 'system' || member !== undefined;
      if (mayRead && facts !== undefined && conversationSeq >= facts.retainedFrom) {
        throw corrupt(tenantId, conversationId, 'recordMissing', conversationSeq);
      }
    } else if (message.record.messageId !== messageId) {
      throw corrupt(tenantId, conversationId, 'dedupUnreadable', conversationSeq);
    }
    return message;
  }

  amend(request: AmendRequest): Promise<AmendOutcome> {
    return this.#watched(() => amend(this.#context, request));
  }

  react(request: ReactRequest): Promise<AmendOutcome> {
    return this.#watched(() => react(this.#context, request));
  }

  readMessages(
    tenantId: TenantId,
    conversationId: ConversationId,
    sequences: readonly ConversationSeq[],
  ): Promise<readonly (Message | undefined)[]> {
    assert(sequences.length <= COMMIT_BATCH_MAX, 'at most COMMIT_BATCH_MAX messages are read at once');
    return this.#watched(() => readMessages(this.#context, { tenantId, conversationId }, sequences));
  }

  readHistory(query: HistoryQuery): Promise<HistoryPage> {
    return this.#watched(() => readHistory(this.#context, query));
  }

  catchUp(query: CatchUpQuery): Promise<CatchUpPage> {
    return this.#watched(() => catchUp(this.#context, query));
  }

  retain(tenantId: TenantId, conversationId: ConversationId, policy: RetentionPolicy): Promise<RetentionOutcome> {
    return this.#watched(() => retain(this.#context, { tenantId, conversationId }, policy));
  }

  /** By SCAN, so that more keys than conversations are looked at, and a page has about as many as were asked for. */
  async conversations(cursor: string | undefined, limit: number): Promise<ConversationsPage> {
    assert(limit >= 1 && limit <= CONVERSATIONS_READ_MAX, 'an enumeration names 1..CONVERSATIONS_READ_MAX at a time');
    const { keys, next } = await scanStep(this.#context.connection, cursor, ['MATCH', FACTS_PATTERN, 'COUNT', String(limit)]);
    return { conversations: keys.flatMap((key) => ConversationKeys.placeOf(key) ?? []), next };
  }

  readConversation(
    tenantId: TenantId,
    conversationId: ConversationId,
    userId: UserId,
  ): Promise<{ readonly facts: ConversationFacts | undefined; readonly member: MemberEntry | undefined }> {
    const keys = this.#context.keys.conversation(tenantId, conversationId);
    return this.#watched(async () => {
      const replies = await this.#context.connection.pipeline([factsCommand(keys), memberCommand(keys, userId)]);
      const [facts, member] = [factsFrom(replies[0]), memberFrom(replies[1])];
      if (typeof member === 'string') throw corrupt(tenantId, conversationId, member);
      if (typeof facts !== 'string') return { facts, member };
      if (member === undefined) return { facts: undefined, member };
      throw corrupt(tenantId, conversationId, facts);
    });
  }

  readMembers(tenantId: TenantId, conversationId: ConversationId): Promise<ReadonlyMap<UserId, MemberEntry>> {
    const keys = this.#context.keys.conversation(tenantId, conversationId);
    return this.#watched(async () => {
      const reply = await this.#context.connection.call('HGETALL', keys.members);
      if (isWrongType(reply)) throw corrupt(tenantId, conversationId, 'wrongType');
      const fields = asArray(reply).map(asText);
      const members: [UserId, MemberEntry][] = [];
      for (let i = 0; i + 1 < fields.length; i += 2) {
        const member = memberOf(fields[i] ?? '', fields[i + 1] ?? '');
        if (typeof member === 'string') throw corrupt(tenantId, conversationId, member);
        members.push(member);
      }
      return new Map(members.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    });
  }

  readConversations(tenantId: TenantId, userId: UserId, states: readonly ConversationState[]): Promise<readonly ConversationReading[]> {
    return readConversations(this.#context, tenantId, userId, states);
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

  /** Tells the observer of damage on its way out. */
  async #watched<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isDamage(error)) this.#context.observer.damage?.(error.detail.reason);
      throw error;
    }
  }
}

function memberOf(userId: string, text: string): [UserId, MemberEntry] | CorruptReason {
  const entry = parseMember(text);
  if (typeof entry === 'string') return entry;
  try {
    return [parseUserId(userId), entry];
  } catch (error) {
    if (isQimError(error)) return 'memberUnreadable';
    throw error;
  }
}

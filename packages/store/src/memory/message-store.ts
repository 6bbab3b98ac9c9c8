/** Reads of the reference model. It has no bytes that could be damaged; facts alone may be missing. */
import {
  assert,
  CONVERSATIONS_READ_MAX,
  EXACT_UNREAD_SCAN_LIMIT,
  type MessageRecord,
  MessageStatus,
  MessageType,
  notMember,
  SEQ_ZERO,
  type TenantId,
  type UserId,
} from '@qim/proto';
import { corrupt } from '../errors.js';
import type { HistoryPage, HistoryQuery, MessageStore } from '../message/message-store.js';
import type { ConversationReading, ConversationState } from '../message/summary.js';
import type { StoreObserver } from '../store.js';
import { amend, messageAt, react, reactionsOf } from './amend.js';
import { catchUp } from './catch-up.js';
import { commit } from './commit.js';
import { pageLength } from './page-length.js';
import { previewOf, replyPreviewsOf } from './preview.js';
import { retain } from './retain.js';
import type { MemoryConversation, MemoryState } from './state.js';

export function memoryMessageStore(state: MemoryState, observer: StoreObserver): MessageStore {
  const readConversations: MessageStore['readConversations'] = async (tenantId, userId, states) =>
    states.map((asked) => {
      const conversation = state.conversation(tenantId, asked.conversationId);
      if (conversation !== undefined) return readOne(conversation, userId, asked);
      observer.damage?.('factsMissing');
      return factsMissing(tenantId, asked);
    });

  return {
    commit: async (request) => commit(state, request),
    amend: async (request) => amend(state, request),
    react: async (request) => react(state, request),
    async readMessages(tenantId, conversationId, sequences) {
      const conversation = state.conversation(tenantId, conversationId);
      return sequences.map((sequence) => {
        const record = conversation?.records.get(sequence);
        return record && conversation && messageAt(conversation, record);
      });
    },
    readHistory: async (query) => readHistory(state, query),
    catchUp: async (query) => catchUp(state, query),
    retain: async (tenantId, conversationId, policy) => retain(state, tenantId, conversationId, policy),
    async conversations(cursor, limit) {
      assert(limit >= 1 && limit <= CONVERSATIONS_READ_MAX, 'an enumeration names 1..CONVERSATIONS_READ_MAX at a time');
      const from = Number(cursor ?? 0);
      const all = state.places();
      return { conversations: all.slice(from, from + limit), next: from + limit < all.length ? String(from + limit) : undefined };
    },
    async readConversation(tenantId, conversationId, userId) {
      const conversation = state.conversation(tenantId, conversationId);
      return { facts: conversation?.facts, member: conversation?.members.get(userId) };
    },
    async readMembers(tenantId, conversationId) {
      const members = [...(state.conversation(tenantId, conversationId)?.members ?? [])];
      return new Map(members.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    },
    readConversations,
    async conversationSummaries(tenantId, userId, states) {
      const readings = await readConversations(tenantId, userId, states);
      return readings.map((reading) => {
        if (reading.kind === 'damaged') throw reading.error;
        return reading.summary;
      });
    },
  };
}

function readHistory(state: MemoryState, query: HistoryQuery): HistoryPage {
  const conversation = state.conversation(query.tenantId, query.conversationId);
  const member = conversation?.members.get(query.userId);
  if (conversation === undefined || member === undefined) throw notMember();
  const floor = Math.max(member.visibleFrom - 1, query.clearedSeq);
  const visible = [...conversation.records.values()].filter((record) => record.conversationSeq > floor);
  const { position } = query;
  const { epoch } = conversation.facts;
  if (position !== 'newest' && 'after' in position) {
    const following = visible.filter((record) => record.conversationSeq > position.after);
    const records = following.slice(0, pageLength(conversation, following, query.limit));
    const beside = { reactions: reactionsOf(conversation, records), replyPreviews: replyPreviewsOf(conversation, records, floor) };
    return { records, ...beside, hasMore: records.length < following.length, epoch };
  }
  const preceding = position === 'newest' ? visible : visible.filter((record) => record.conversationSeq < position.before);
  const newestFirst = preceding.reverse();
  const records = newestFirst.slice(0, pageLength(conversation, newestFirst, query.limit)).reverse();
  const beside = { reactions: reactionsOf(conversation, records), replyPreviews: replyPreviewsOf(conversation, records, floor) };
  return { records, ...beside, hasMore: records.length < newestFirst.length, epoch };
}

function readOne(conversation: MemoryConversation, userId: UserId, { conversationId, watermark }: ConversationState): ConversationReading {
  const { facts, members, records } = conversation;
  const head = records.get(facts.lastSequence);
  const latest = facts.lastSequence;
  const ahead = watermark > latest;
  const saturated = latest - watermark > EXACT_UNREAD_SCAN_LIMIT;
  const window = saturated ? [] : [...records.values()].filter((record) => record.conversationSeq > watermark);
  const isControl = (record: MessageRecord) => record.type === MessageType.Control;
  const foreign = window.filter((record) => !isControl(record) && record.sender.userId !== userId);
  const unread = foreign.filter(({ status }) => status === MessageStatus.Normal || status === MessageStatus.Edited);
  const mentioning = unread.filter(({ mentions }) => mentions.all || mentions.userIds.includes(userId));
  const exact = !saturated && !ahead;
  const { kind, title, settings, pair, epoch, amendmentNumber } = facts;
  return {
    kind: 'sound',
    summary: {
      conversationId,
      latestConversationSeq: latest,
      lastActivityId: head?.activityId,
      lastMessageId: head?.messageId,
      unreadCount: saturated ? EXACT_UNREAD_SCAN_LIMIT : unread.length,
      unreadExact: exact,
      mentionCount: exact ? mentioning.length : undefined,
    },
    listing: {
      kind,
      title,
      settings,
      pair,
      epoch,
      amendmentNumber,
      preview: previewOf([...records.values()].filter((record) => !isControl(record)).at(-1)),
      previewDamage: undefined,
      member: members.get(userId),
      watermarkAhead: ahead,
    },
    evidence: {
      scanned: window.length,
      own: window.filter((record) => !isControl(record) && record.sender.userId === userId).length,
      control: window.filter(isControl).length,
      recalled: foreign.filter(({ status }) => status === MessageStatus.Recalled).length,
      deleted: foreign.filter(({ status }) => status === MessageStatus.Deleted).length,
      chainUnbroken: window.length > 0,
    },
  };
}

function factsMissing(tenantId: TenantId, { conversationId }: ConversationState): ConversationReading {
  const error = corrupt(tenantId, conversationId, 'factsMissing', SEQ_ZERO);
  return { kind: 'damaged', conversationId, error, listing: undefined, member: undefined, memberKnown: true };
}

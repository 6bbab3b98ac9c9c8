/** People, conversations and requests for one case: no two cases share any of them. */
import {
  type Control,
  ControlKind,
  type ConversationId,
  ConversationKind,
  type ConversationSeq,
  type ConversationSettings,
  HistoryVisibility,
  type MessageContent,
  type MessageRecord,
  MessageStatus,
  MessageType,
  parseActivityId,
  parseConversationId,
  parseConversationSeq,
  parseDeviceId,
  parseTenantId,
  parseUserId,
  Role,
  SEQ_ZERO,
  type TenantId,
  type UserId,
} from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import { expect } from 'vitest';
import type { AmendOutcome, CommitOutcome, CommitRequest, HistoryPage, HistoryQuery, MessageStore } from '../../message/message-store.js';
import type { ConversationReading, ConversationSummary } from '../../message/summary.js';
import type { Store } from '../../store.js';
import { commitRequest, directCreate } from '../requests.js';
import type { OpenedBackend } from './backend.js';

export const TENANT = parseTenantId(7);
export const OTHER_TENANT = parseTenantId(8);
export const NO_MENTIONS = { userIds: [], all: false } as const;
export const FROM_JOINING: ConversationSettings = { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false };

/** Everything of a request but its place, which the chat knows. */
export type Said = Partial<Omit<CommitRequest, 'tenantId' | 'conversationId' | 'sender' | 'content'>> & {
  readonly content?: MessageContent;
};

export const seq = (value: number): ConversationSeq => parseConversationSeq(value);
export const text = (value: string): MessageContent => ({ kind: 'text', text: value });
export const control = (value: Control): MessageContent => ({ kind: 'control', control: value });
/** A Control record that changes nothing. */
export const TITLE: Said = { type: MessageType.Control, content: control({ kind: ControlKind.Title, title: 'a title' }) };

export class Fixture {
  readonly backend: OpenedBackend;
  readonly #id = uuidv7().slice(-12);
  #chats = 0;

  constructor(backend: OpenedBackend) {
    this.backend = backend;
  }

  get store(): Store {
    return this.backend.store;
  }

  /** The person of this name in this case. */
  user(name: string): UserId {
    return parseUserId(`${name} ${this.#id}`);
  }

  conversationId(): ConversationId {
    this.#chats += 1;
    return parseConversationId(`g_${this.#id}_${this.#chats}`);
  }

  /** A chat between two, made by its first message. */
  direct(a: UserId, b: UserId, tenantId = TENANT): Chat {
    return new Chat(this, tenantId, this.conversationId(), directCreate([...new Set([a, b])]));
  }

  /** A group with its first record, a Control of `owner`, as sequence 1. */
  async group(owner: UserId, others: readonly UserId[], settings: Partial<ConversationSettings> = {}): Promise<Chat> {
    const members = [{ userId: owner, role: Role.Owner }, ...others.map((userId) => ({ userId, role: Role.Member }))];
    const made = { kind: ConversationKind.Group, title: 'a group', settings: { ...FROM_JOINING, ...settings }, members, onlyNew: false };
    const chat = new Chat(this, TENANT, this.conversationId(), made);
    const content = control({ kind: ControlKind.Created, title: 'a group', userIds: [owner, ...others] });
    await chat.say(owner, { type: MessageType.Control, content });
    return chat;
  }
}

/** One conversation of a case. */
export class Chat {
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
  readonly create: CommitRequest['create'];
  readonly #fixture: Fixture;

  constructor(fixture: Fixture, tenantId: TenantId, conversationId: ConversationId, create: CommitRequest['create']) {
    this.#fixture = fixture;
    this.tenantId = tenantId;
    this.conversationId = conversationId;
    this.create = create;
  }

  get messages(): MessageStore {
    return this.#fixture.store.messages;
  }

  request(sender: UserId, said: string | Said = 'hello'): CommitRequest {
    return commitRequest(sender, this.conversationId, {
      tenantId: this.tenantId,
      sender: { userId: sender, deviceId: parseDeviceId('phone') },
      create: this.create,
      ...(typeof said === 'string' ? { content: text(said) } : said),
    });
  }

  say(sender: UserId, said?: string | Said): Promise<CommitOutcome> {
    return this.messages.commit(this.request(sender, said));
  }

  async sayTimes(sender: UserId, times: number, said?: Said): Promise<void> {
    for (let n = 1; n <= times; n += 1) await this.say(sender, said ?? `text ${n}`);
  }

  join(by: UserId, ...userIds: UserId[]): Promise<CommitOutcome> {
    const content = control({ kind: ControlKind.Joined, userIds });
    return this.say(by, { type: MessageType.Control, content, needs: 'admin', change: { kind: 'join', userIds } });
  }

  leave(by: UserId, ...userIds: UserId[]): Promise<CommitOutcome> {
    const content = control({ kind: ControlKind.Left, userIds });
    return this.say(by, { type: MessageType.Control, content, needs: 'member', change: { kind: 'leave', userIds } });
  }

  skip(count: number): Promise<void> {
    return this.#fixture.backend.skipSequences(this, count);
  }

  async record(conversationSeq: number): Promise<MessageRecord> {
    const [message] = await this.messages.readMessages(this.tenantId, this.conversationId, [seq(conversationSeq)]);
    if (message === undefined) throw new Error(`no record ${conversationSeq}`);
    return message.record;
  }

  async edit(conversationSeq: number, said: string, over: Partial<MessageRecord> = {}): Promise<AmendOutcome> {
    const target = await this.record(conversationSeq);
    const { mentions } = { ...target, ...over };
    return this.amend(target, { status: MessageStatus.Edited, content: text(said), mentions });
  }

  async recall(conversationSeq: number): Promise<AmendOutcome> {
    return this.amend(await this.record(conversationSeq), { status: MessageStatus.Recalled });
  }

  async delete(conversationSeq: number): Promise<AmendOutcome> {
    return this.amend(await this.record(conversationSeq), { status: MessageStatus.Deleted });
  }

  amend(target: MessageRecord, change: Partial<Pick<MessageRecord, 'status' | 'content' | 'mentions'>>): Promise<AmendOutcome> {
    return this.messages.amend({
      actor: target.sender.userId,
      needs: 'member',
      target,
      activityId: parseActivityId(uuidv7()),
      status: MessageStatus.Edited,
      content: { kind: 'none' },
      mentions: NO_MENTIONS,
      ...change,
    });
  }

  async reading(userId: UserId, watermark = 0): Promise<ConversationReading> {
    const state = { conversationId: this.conversationId, watermark: seq(watermark) };
    const [reading] = await this.messages.readConversations(this.tenantId, userId, [state]);
    if (reading === undefined) throw new Error('one state has one reading');
    return reading;
  }

  async sound(userId: UserId, watermark = 0): Promise<Extract<ConversationReading, { kind: 'sound' }>> {
    const reading = await this.reading(userId, watermark);
    if (reading.kind === 'damaged') throw reading.error;
    return reading;
  }

  async summary(userId: UserId, watermark = 0): Promise<ConversationSummary> {
    const state = { conversationId: this.conversationId, watermark: seq(watermark) };
    const [summary] = await this.messages.conversationSummaries(this.tenantId, userId, [state]);
    if (summary === undefined) throw new Error('one state has one summary');
    return summary;
  }

  /** [unreadCount, unreadExact]. */
  async unread(userId: UserId, watermark = 0): Promise<readonly [number, boolean]> {
    const { unreadCount, unreadExact } = await this.summary(userId, watermark);
    return [unreadCount, unreadExact];
  }

  history(userId: UserId, over: Partial<HistoryQuery> = {}): Promise<HistoryPage> {
    const { tenantId, conversationId } = this;
    return this.messages.readHistory({ tenantId, userId, conversationId, clearedSeq: SEQ_ZERO, position: 'newest', limit: 200, ...over });
  }

  /** Sequences of one page, and whether there is more. */
  async page(userId: UserId, over: Partial<HistoryQuery> = {}): Promise<readonly [readonly number[], boolean]> {
    const { records, hasMore } = await this.history(userId, over);
    return [records.map((record) => record.conversationSeq), hasMore];
  }

  /** Every sequence that the user can see, by paging forward. */
  async sequences(userId: UserId): Promise<number[]> {
    const all: number[] = [];
    for (let hasMore = true; hasMore; ) {
      const page = await this.history(userId, { position: { after: seq(all.at(-1) ?? 0) } });
      all.push(...page.records.map((record) => record.conversationSeq));
      hasMore = page.hasMore;
    }
    return all;
  }
}

/** The call is refused with this code. */
export function refusedWith(call: Promise<unknown>, code: string): Promise<void> {
  return expect(call).rejects.toMatchObject({ code });
}

/** A chat in memory, as plain as can be: what the frame server of these tests answers from. Not a server anyone runs. */
import { create } from '@bufbuild/protobuf';
import {
  type Conversation,
  ConversationKind,
  ConversationSchema,
  ErrorReason,
  type Message,
  MessageSchema,
  MessageStatus,
  MessageType,
} from '@qim/proto/schema';

export interface ModelConversation {
  readonly id: string;
  readonly members: Set<string>;
  readonly read: Map<string, number>;
  messages: Message[];
  head: number;
  epoch: number;
  amendments: number;
  /** Sequence -> number of its newest amendment. */
  readonly amended: Map<number, number>;
  damaged: boolean;
}

export interface CommitOptions {
  readonly text?: string;
  readonly clientMessageId?: string;
  /** Sequences left out before this message. */
  readonly holes?: number;
}

export class ChatModel {
  readonly conversations = new Map<string, ModelConversation>();
  #ids = 0;

  add(id: string, ...members: string[]): ModelConversation {
    const made = {
      id,
      members: new Set(members),
      read: new Map(),
      messages: [],
      head: 0,
      epoch: 1,
      amendments: 0,
      amended: new Map(),
      damaged: false,
    };
    this.conversations.set(id, made);
    return made;
  }

  get(id: string): ModelConversation {
    const found = this.conversations.get(id);
    if (found === undefined) throw new Error(`the test has no conversation ${id}`);
    return found;
  }

  commit(id: string, sender: string, options: CommitOptions = {}): Message {
    const conversation = this.get(id);
    conversation.head += 1 + (options.holes ?? 0);
    const message = create(MessageSchema, {
      messageId: `m${++this.#ids}`,
      conversationId: id,
      epoch: BigInt(conversation.epoch),
      conversationSeq: BigInt(conversation.head),
      activityId: `a${++this.#ids}`,
      senderUserId: sender,
      clientMessageId: options.clientMessageId ?? `c${this.#ids}`,
      type: MessageType.TEXT,
      status: MessageStatus.NORMAL,
      committedAtMs: BigInt(1_700_000_000_000 + conversation.head),
      body: { case: 'text', value: options.text ?? `text ${conversation.head}` },
    });
    conversation.messages.push(message);
    return message;
  }

  recall(id: string, seq: number): Message {
    const conversation = this.get(id);
    const before = conversation.messages.find((message) => message.conversationSeq === BigInt(seq));
    if (before === undefined) throw new Error(`the test has no message ${seq}`);
    conversation.amendments += 1;
    conversation.amended.set(seq, conversation.amendments);
    const status = MessageStatus.RECALLED;
    const changed = {
      ...before,
      status,
      revision: before.revision + 1,
      activityId: `a${++this.#ids}`,
      body: { case: undefined },
    } as Message;
    conversation.messages = conversation.messages.map((message) => (message === before ? changed : message));
    return changed;
  }

  /** As after a restore that lost the newest `count` messages: sequences are given again, under another epoch. */
  lose(id: string, count: number): void {
    const conversation = this.get(id);
    conversation.messages = conversation.messages.slice(0, -count);
    conversation.head = Number(conversation.messages.at(-1)?.conversationSeq ?? 0n);
    conversation.epoch += 1;
    conversation.messages = conversation.messages.map((message) => ({ ...message, epoch: BigInt(conversation.epoch) }));
  }

  history(
    id: string,
    position: { after: number } | { before: number } | 'newest',
    limit: number,
  ): { messages: Message[]; hasMore: boolean } {
    const { messages } = this.get(id);
    if (position !== 'newest' && 'after' in position) {
      const rest = messages.filter((message) => Number(message.conversationSeq) > position.after);
      return { messages: rest.slice(0, limit), hasMore: rest.length > limit };
    }
    const rest = position === 'newest' ? messages : messages.filter((message) => Number(message.conversationSeq) < position.before);
    return { messages: rest.slice(-limit), hasMore: rest.length > limit };
  }

  /** What of the messages up to `after` was amended past the cursor, by number. */
  amendedSince(id: string, after: number, cursor: number): Message[] {
    const { amended, messages } = this.get(id);
    const past = [...amended].filter(([seq, number]) => number > cursor && seq <= after).sort(([, a], [, b]) => a - b);
    return past.flatMap(([seq]) => messages.filter((message) => Number(message.conversationSeq) === seq));
  }

  entry(id: string, user: string): Conversation {
    const conversation = this.get(id);
    const common = { conversationId: id, kind: ConversationKind.GROUP, title: id, epoch: BigInt(conversation.epoch) };
    if (conversation.damaged) {
      return create(ConversationSchema, {
        ...common,
        damaged: { reason: ErrorReason.CORRUPT_RECORD, conversationSeq: 3n, what: 'recordMissing' },
      });
    }
    const read = conversation.read.get(user) ?? 0;
    const unread = conversation.messages.filter((m) => Number(m.conversationSeq) > read && m.senderUserId !== user && m.status < 3).length;
    const last = conversation.messages.at(-1);
    return create(ConversationSchema, {
      ...common,
      latestConversationSeq: BigInt(conversation.head),
      readConversationSeq: BigInt(read),
      unreadCount: Math.min(unread, 200),
      unreadExact: conversation.head - read <= 200,
      amendmentCursor: BigInt(conversation.amendments),
      ...(last && { lastMessageId: last.messageId, lastActivityId: last.activityId }),
    });
  }

  /** By activity, newest first. */
  entriesOf(user: string): Conversation[] {
    const mine = [...this.conversations.values()].filter(({ members }) => members.has(user));
    const activity = ({ messages }: ModelConversation): number => Number(messages.at(-1)?.messageId.slice(1) ?? 0);
    return mine.sort((a, b) => activity(b) - activity(a)).map(({ id }) => this.entry(id, user));
  }
}

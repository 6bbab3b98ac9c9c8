/** People of one item, each with a token, and the calls that the items make again and again. */
import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { type Answer, type Api, array, integer, type Json, type JsonObject, object, text } from './api.js';

export interface Sent {
  readonly conversationId: string;
  readonly conversationSeq: number;
  readonly messageId: string;
  readonly activityId: string;
  readonly duplicate: boolean;
}

/** `claims` may spoil the token on purpose. */
export async function mintToken(secret: string, claims: Record<string, unknown>, ttlSeconds = 3600): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuedAt(now)
    .setExpirationTime(now + ttlSeconds)
    .sign(new TextEncoder().encode(secret));
}

export class Person {
  readonly id: string;
  readonly token: string;
  readonly #api: Api;

  constructor(id: string, token: string, api: Api) {
    this.id = id;
    this.token = token;
    this.#api = api;
  }

  call(method: string, body: JsonObject): Promise<JsonObject> {
    return this.#api.ok(method, this.token, body);
  }

  answer(method: string, body: JsonObject): Promise<Answer> {
    return this.#api.answer(method, this.token, body);
  }

  refused(method: string, body: JsonObject, code: string, reason: string): Promise<JsonObject> {
    return this.#api.fails(method, this.token, body, { code, reason });
  }

  async sendRaw(body: JsonObject): Promise<Sent> {
    const answer = await this.call('MessageService/SendMessage', { clientMessageId: randomUUID(), ...body });
    const message = object(answer.message);
    return {
      conversationId: text(message.conversationId),
      conversationSeq: integer(message.conversationSeq),
      messageId: text(message.messageId),
      activityId: text(message.activityId),
      duplicate: answer.duplicate === true,
    };
  }

  say(conversationId: string, words: string, more: JsonObject = {}): Promise<Sent> {
    return this.sendRaw({ conversationId, type: 'MESSAGE_TYPE_TEXT', text: words, ...more });
  }

  sayTo(userId: string, words: string, more: JsonObject = {}): Promise<Sent> {
    return this.sendRaw({ toUserId: userId, type: 'MESSAGE_TYPE_TEXT', text: words, ...more });
  }

  async sayMany(conversationId: string, count: number): Promise<Sent[]> {
    const sent: Sent[] = [];
    for (let i = 1; i <= count; i += 1) sent.push(await this.say(conversationId, `message ${i}`));
    return sent;
  }

  async list(more: JsonObject = {}): Promise<readonly JsonObject[]> {
    const answer = await this.call('SessionService/ListConversations', more);
    return array(answer.conversations).map(object);
  }

  /** This person's entry for one conversation, as the list shows it. */
  async entry(conversationId: string, more: JsonObject = {}): Promise<JsonObject> {
    const found = (await this.list(more)).find((c) => c.conversationId === conversationId);
    if (found === undefined) throw new Error(`${this.id} does not have the conversation in the list`);
    return found;
  }

  async unread(conversationId: string): Promise<[Json | undefined, Json | undefined]> {
    const entry = await this.entry(conversationId);
    return [entry.unreadCount, entry.unreadExact];
  }

  async history(body: JsonObject): Promise<{ messages: readonly JsonObject[]; hasMore: boolean }> {
    const answer = await this.call('SessionService/ReadHistory', body);
    return { messages: array(answer.messages).map(object), hasMore: answer.hasMore === true };
  }

  /** Forward from the first, page by page. */
  async wholeHistory(conversationId: string, limit = 200): Promise<JsonObject[]> {
    const all: JsonObject[] = [];
    for (let afterSeq = 0; ; ) {
      const page = await this.history({ conversationId, afterSeq: String(afterSeq), limit });
      all.push(...page.messages);
      const last = page.messages.at(-1);
      if (!page.hasMore || last === undefined) return all;
      afterSeq = integer(last.conversationSeq);
    }
  }

  async markRead(conversationId: string, seq: number): Promise<number> {
    const answer = await this.call('SessionService/MarkRead', { conversationId, readConversationSeq: String(seq) });
    return integer(answer.readConversationSeq);
  }

  async createGroup(title: string, members: readonly Person[], more: JsonObject = {}): Promise<string> {
    const answer = await this.call('ConversationService/CreateGroup', { title, memberIds: members.map((m) => m.id), ...more });
    return text(object(answer.conversation).conversationId);
  }
}

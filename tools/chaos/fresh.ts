/** What one sees who fetches everything anew, over plain HTTP: nothing of the SDK can hide a fault here. */
import { Caller } from '../testing/caller.js';
import type { FreshEntry, FreshMessage, FreshView } from './verdict.js';

type Json = Readonly<Record<string, unknown>>;

const PAGE = 200;

export class FreshReader {
  readonly #caller: Caller;

  constructor(url: string, token: string) {
    this.#caller = new Caller(url, token);
  }

  async view(conversationId: string): Promise<FreshView> {
    const entry = await this.#entry(conversationId);
    const messages: FreshMessage[] = [];
    for (let afterSeq = 0, hasMore = true; hasMore; ) {
      const page = await this.#caller.call('SessionService/ReadHistory', { conversationId, afterSeq: String(afterSeq), limit: PAGE });
      messages.push(...(page.messages as Json[]).map(messageOf));
      hasMore = page.hasMore === true && messages.length > 0;
      afterSeq = messages.at(-1)?.conversationSeq ?? 0;
    }
    return { entry, messages };
  }

  /** As the list has it: found by going through its pages. Undefined: it is not in the list. */
  async #entry(conversationId: string): Promise<FreshEntry | undefined> {
    for (let pageToken: unknown = ''; ; ) {
      const page = await this.#caller.call('SessionService/ListConversations', { pageToken });
      const found = (page.conversations as Json[]).find((entry) => entry.conversationId === conversationId);
      if (found !== undefined) return entryOf(found);
      pageToken = page.nextPageToken;
      if (pageToken === '') return undefined;
    }
  }
}

function messageOf(message: Json): FreshMessage {
  return {
    messageId: String(message.messageId),
    conversationSeq: Number(message.conversationSeq),
    clientMessageId: String(message.clientMessageId),
    by: String(message.senderUserId),
    control: message.type === 'MESSAGE_TYPE_CONTROL',
    activityId: String(message.activityId),
    words: typeof message.text === 'string' ? message.text : '',
  };
}

function entryOf(entry: Json): FreshEntry {
  return {
    damaged: entry.damaged !== undefined,
    head: Number(entry.latestConversationSeq),
    read: Number(entry.readConversationSeq),
    unread: Number(entry.unreadCount),
    exact: entry.unreadExact === true,
  };
}

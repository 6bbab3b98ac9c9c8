/** qim in the story: its real write and read side over its embedded store, in a folder of their own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Caller,
  type ConversationId,
  HistoryVisibility,
  LEGACY_TENANT_ID,
  type MessageRecord,
  MessageType,
  parseClientMessageId,
  parseDeviceId,
  parseUserId,
  RECALL_WINDOW_MS,
  SEQ_ZERO,
} from '@qim/proto';
import { openStore } from '@qim/server';
import { type Session, startSession } from '@qim/session';
import type { MessageStore, Store } from '@qim/store';
import { skipSequences } from '@qim/store/testing';
import { createWriter, type Writer } from '@qim/writer';
import { uuidv7 } from 'uuidv7';
import type { Happening, Viewer, Who } from './story.js';

export interface House {
  happens(happening: Happening): Promise<void>;
  /** As the list of that device shows it: `3`, or `200+`. */
  badge(viewer: Viewer): Promise<string>;
  close(): Promise<void>;
}

const person = (who: Who, device = 'phone'): Caller => ({
  tenantId: LEGACY_TENANT_ID,
  userId: parseUserId(who),
  deviceId: parseDeviceId(device),
  admin: false,
});

export async function openHouse(): Promise<House> {
  const house = new EmbeddedHouse(await mkdtemp(join(tmpdir(), 'qim-badges-')));
  await house.open();
  return house;
}

class EmbeddedHouse implements House {
  readonly #data: string;
  readonly #records = new Map<string, MessageRecord>();
  #store: Store | undefined;
  #group: ConversationId | undefined;

  constructor(data: string) {
    this.#data = data;
  }

  async open(): Promise<void> {
    this.#store = await openStore({ store: 'embedded', data: this.#data }, { as: 'server' });
    this.#group ??= await this.#writer().createGroup(person('alice'), {
      clientRequestId: undefined,
      title: 'the group',
      memberIds: [parseUserId('bob')],
      historyVisibility: HistoryVisibility.FromJoining,
      onlyAdminsPost: false,
      readReceipts: false,
    });
  }

  get #opened(): { readonly store: Store; readonly group: ConversationId } {
    if (this.#store === undefined || this.#group === undefined) throw new Error('the house is closed');
    return { store: this.#store, group: this.#group };
  }

  #writer(commit?: MessageStore['commit']): Writer {
    if (this.#store === undefined) throw new Error('the house is closed');
    const { messages, directory, users } = this.#store;
    const deps = { users, now: Date.now, newId: uuidv7, announceRead: () => {}, recallWindowMs: RECALL_WINDOW_MS };
    return createWriter({
      ...deps,
      directMessages: () => 'anyone',
      messages: { ...bound(messages), ...(commit === undefined ? {} : { commit }) },
      directory,
    });
  }

  get #session(): Session {
    return startSession(this.#opened.store, {
      announceRead: () => {},
      announceChange: () => {},
      announceTyping: () => {},
      announceSuspended: () => {},
      now: Date.now,
      newId: uuidv7,
    });
  }

  async happens(happening: Happening): Promise<void> {
    const { store, group } = this.#opened;
    switch (happening.kind) {
      case 'said':
        return this.#say(this.#writer(), happening.by, happening.name);
      case 'saidAsProcessEnds':
        return this.#sayAsProcessEnds(happening.by, happening.name);
      case 'edited': {
        const content = { kind: 'text', text: `${happening.name}, better` } as const;
        await this.#writer().editMessage(person('alice'), { ...this.#ref(happening.name), content, mentionUserIds: [], mentionAll: false });
        return;
      }
      case 'recalled':
        await this.#writer().recallMessage(person('alice'), this.#ref(happening.name));
        return;
      case 'deleted':
        await this.#writer().deleteMessage(person('alice'), this.#ref(happening.name));
        return;
      case 'read': {
        const { who, device } = happening.by;
        await this.#session.markRead(person(who, device), group, this.#record(happening.name).conversationSeq);
        return;
      }
      case 'numbersLost':
        return skipSequences(
          { store: 'embedded', data: this.#data },
          { tenantId: LEGACY_TENANT_ID, conversationId: group, count: happening.count },
        );
      case 'joined':
        return this.#writer().addMembers(person('alice'), group, [parseUserId(happening.who)]);
      case 'oldRemoved': {
        const rule = { olderThanMs: undefined, keepNewest: happening.keepNewest };
        while ((await store.messages.retain(LEGACY_TENANT_ID, group, rule)).more);
        return;
      }
    }
  }

  async #say(writer: Writer, by: Who, name: string): Promise<void> {
    const { message } = await writer.sendMessage(person(by), {
      target: { conversationId: this.#opened.group },
      clientMessageId: parseClientMessageId(name),
      type: MessageType.Text,
      content: { kind: 'text', text: name },
      mentionUserIds: [],
      mentionAll: false,
      replyTo: undefined,
      readConversationSeq: SEQ_ZERO,
    });
    if ('idsOnly' in message) throw new Error('a fresh message has its record');
    this.#records.set(name, message.record);
  }

  /** The message is durable, and the writer never hears of it. */
  async #sayAsProcessEnds(by: Who, name: string): Promise<void> {
    await new Promise<void>((ended, failed) => {
      const commit: MessageStore['commit'] = async (request) => {
        await this.#opened.store.messages.commit(request);
        ended();
        return new Promise(() => {});
      };
      this.#say(this.#writer(commit), by, name).then(() => failed(new Error('the writer came back')), failed);
    });
    await this.#opened.store.close();
    await this.open();
    // The same request again, as a client does that had no answer: it was stored, and is told so.
    await this.#say(this.#writer(), by, name);
  }

  #record(name: string): MessageRecord {
    const record = this.#records.get(name);
    if (record === undefined) throw new Error(`nobody said ${name}`);
    return record;
  }

  #ref(name: string) {
    const { conversationId, conversationSeq, messageId } = this.#record(name);
    return { conversationId, conversationSeq, messageId };
  }

  async badge({ who, device }: Viewer): Promise<string> {
    const { conversations } = await this.#session.listConversations(person(who, device), { pageSize: 0, pageToken: '', explain: false });
    const listed = conversations.find(({ conversationId }) => conversationId === this.#opened.group);
    if (listed === undefined) return 'not listed';
    if (listed.damaged !== undefined) return 'damaged';
    return `${listed.summary.unreadCount}${listed.summary.unreadExact ? '' : '+'}`;
  }

  async close(): Promise<void> {
    await this.#store?.close();
    await rm(this.#data, { recursive: true, force: true });
  }
}

/** What the writer is given of it. */
function bound(messages: MessageStore) {
  return {
    commit: messages.commit.bind(messages),
    amend: messages.amend.bind(messages),
    react: messages.react.bind(messages),
    readMessages: messages.readMessages.bind(messages),
    readConversation: messages.readConversation.bind(messages),
    readMembers: messages.readMembers.bind(messages),
  };
}

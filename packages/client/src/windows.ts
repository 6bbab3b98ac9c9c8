/** The open conversations: one window each, however many hold it. */
import type { ConversationApi } from './api/conversation-api.js';
import { Members } from './members.js';
import { type HeldMessages, MessageWindow, type MessageWindowOptions } from './message-window.js';
import { derived } from './observable.js';
import { conversationView, type OpenConversation } from './open-conversation.js';
import type { Outbox } from './outbox.js';
import { ReadReceipts } from './read-receipts.js';
import type { Conversation, Message } from './types.js';
import type { Typing } from './typing.js';

interface Held {
  readonly window: MessageWindow;
  readonly members: Members;
  readonly receipts: ReadReceipts;
  readonly ends: readonly (() => void)[];
  holders: number;
}

export interface WindowsOptions {
  readonly api: MessageWindowOptions['api'] & Pick<ConversationApi, 'listMembers' | 'readMarks'>;
  readonly outbox: Outbox;
  readonly typing: Typing;
  readonly heldCursor: (conversationId: string) => number | undefined;
  readonly markRead: (conversationId: string, conversationSeq: number) => void;
  /** False: it is known to have no read receipts. */
  readonly hasReceipts: (conversationId: string) => boolean;
  /** What was kept of it; undefined: nothing. Never rejects, and takes a bounded time. */
  readonly kept: (conversationId: string) => Promise<HeldMessages | undefined>;
  /** Its window has changed. */
  readonly changed: (conversationId: string, window: MessageWindow) => void;
}

export class Windows {
  readonly #options: WindowsOptions;
  readonly #held = new Map<string, Held>();

  constructor(options: WindowsOptions) {
    this.#options = options;
  }

  get(conversationId: string): MessageWindow | undefined {
    return this.#held.get(conversationId)?.window;
  }

  /** Each with its id. */
  all(): [string, MessageWindow][] {
    return Array.from(this.#held, ([id, { window }]) => [id, window]);
  }

  push(message: Message): void {
    this.get(message.conversationId)?.push(message);
  }

  readBy(conversationId: string, userId: string, seq: number): void {
    this.#held.get(conversationId)?.receipts.heard(userId, seq);
  }

  /** What a list or a call has just said about it. */
  noted(conversation: Conversation): void {
    const held = this.#held.get(conversation.conversationId);
    held?.window.noted(conversation);
    held?.receipts.start();
  }

  /** Its members may have changed, and its settings; without an id, those of all. */
  touchMembers(conversationId?: string): void {
    const touched = conversationId === undefined ? [...this.#held.values()] : [this.#held.get(conversationId)];
    for (const held of touched) {
      held?.members.touch();
      held?.receipts.touch();
    }
  }

  open(conversationId: string): OpenConversation {
    const held = this.#held.get(conversationId) ?? this.#make(conversationId);
    held.holders += 1;
    let open = true;
    const { outbox, typing, markRead } = this.#options;
    return {
      ...conversationView(held.window, outbox, conversationId),
      conversationId,
      members: held.members,
      readMarks: { subscribe: held.receipts.subscribe, snapshot: held.receipts.snapshot },
      typing: derived(typing.state, (state) => state.get(conversationId) ?? NOBODY),
      loadOlder: () => held.window.loadOlder(),
      jumpTo: (seq) => held.window.jumpTo(seq),
      loadNewer: () => held.window.loadNewer(),
      toLatest: () => held.window.toLatest(),
      markRead: (seq) => markRead(conversationId, seq),
      setTyping: (on) => typing.set(conversationId, on),
      retry: () => held.window.retry(),
      close: () => {
        if (!open) return;
        open = false;
        held.holders -= 1;
        if (held.holders === 0) this.#end(conversationId, held);
      },
    };
  }

  close(): void {
    for (const { window, members, receipts } of this.#held.values()) {
      window.close();
      members.close();
      receipts.close();
    }
  }

  #make(conversationId: string): Held {
    const { api, outbox, heldCursor, hasReceipts, changed } = this.#options;
    const window = new MessageWindow({ conversationId, api, heldCursor: () => heldCursor(conversationId) });
    const settle = (): void => {
      const waiting = outbox.state.snapshot();
      if (waiting.length === 0) return;
      const shown = new Set(window.state.snapshot().messages.map((message) => message.clientMessageId));
      for (const { clientMessageId } of waiting) if (shown.has(clientMessageId)) outbox.settle(clientMessageId);
    };
    const ends = [
      window.state.subscribe(settle),
      outbox.state.subscribe(settle),
      window.state.subscribe(() => changed(conversationId, window)),
    ];
    const held = {
      window,
      members: new Members({ conversationId, api }),
      receipts: new ReadReceipts({ conversationId, api, told: () => hasReceipts(conversationId) }),
      ends,
      holders: 0,
    };
    this.#held.set(conversationId, held);
    void this.#begin(conversationId, window);
    return held;
  }

  async #begin(conversationId: string, window: MessageWindow): Promise<void> {
    const kept = await this.#options.kept(conversationId);
    if (kept !== undefined) window.restore(kept);
    window.resync();
  }

  #end(conversationId: string, { window, members, receipts, ends }: Held): void {
    window.close();
    members.close();
    receipts.close();
    for (const end of ends) end();
    this.#held.delete(conversationId);
    const { outbox } = this.#options;
    // Acknowledged, and nobody is left to show them.
    for (const { clientMessageId, target, status } of outbox.state.snapshot()) {
      if (status === 'sent' && 'conversationId' in target && target.conversationId === conversationId) outbox.settle(clientMessageId);
    }
  }
}

const NOBODY: readonly string[] = [];

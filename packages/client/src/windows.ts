/** The open conversations: one window each, however many hold it. */

import { MessageWindow, type MessageWindowOptions } from './message-window.js';
import { conversationView, type OpenConversation } from './open-conversation.js';
import type { Outbox } from './outbox.js';
import type { Message } from './types.js';

interface Held {
  readonly window: MessageWindow;
  readonly stopSettling: () => void;
  holders: number;
}

export interface WindowsOptions {
  readonly api: MessageWindowOptions['api'];
  readonly outbox: Outbox;
  readonly heldCursor: (conversationId: string) => number | undefined;
  readonly markRead: (conversationId: string, conversationSeq: number) => void;
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

  open(conversationId: string): OpenConversation {
    const held = this.#held.get(conversationId) ?? this.#make(conversationId);
    held.holders += 1;
    let open = true;
    return {
      ...conversationView(held.window, this.#options.outbox, conversationId),
      conversationId,
      loadOlder: () => held.window.loadOlder(),
      markRead: (seq) => this.#options.markRead(conversationId, seq),
      retry: () => held.window.retry(),
      close: () => {
        if (!open) return;
        open = false;
        held.holders -= 1;
        if (held.holders === 0) this.#end(conversationId, held);
      },
    };
  }

  #make(conversationId: string): Held {
    const { api, outbox, heldCursor } = this.#options;
    const window = new MessageWindow({ conversationId, api, heldCursor: () => heldCursor(conversationId) });
    const settle = (): void => {
      const waiting = outbox.state.snapshot();
      if (waiting.length === 0) return;
      const shown = new Set(window.state.snapshot().messages.map((message) => message.clientMessageId));
      for (const { clientMessageId } of waiting) if (shown.has(clientMessageId)) outbox.settle(clientMessageId);
    };
    const ends = [window.state.subscribe(settle), outbox.state.subscribe(settle)];
    const stopSettling = (): void => {
      for (const end of ends) end();
    };
    const held = { window, stopSettling, holders: 0 };
    this.#held.set(conversationId, held);
    window.resync();
    return held;
  }

  #end(conversationId: string, held: Held): void {
    held.window.close();
    held.stopSettling();
    this.#held.delete(conversationId);
    const { outbox } = this.#options;
    // Acknowledged, and nobody is left to show them.
    for (const { clientMessageId, target, status } of outbox.state.snapshot()) {
      if (status === 'sent' && 'conversationId' in target && target.conversationId === conversationId) outbox.settle(clientMessageId);
    }
  }
}

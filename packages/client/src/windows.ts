/** The open conversations: one window each, however many hold it. */
import { CLIENT_READ_MARKS_MAX } from '@qim/proto';
import type { ConversationApi } from './api/conversation-api.js';
import { Members } from './members.js';
import { type HeldMessages, MessageWindow, type MessageWindowOptions } from './message-window.js';
import { Cell, derived } from './observable.js';
import { conversationView, type OpenConversation } from './open-conversation.js';
import type { Outbox } from './outbox.js';
import type { Message } from './types.js';
import type { Typing } from './typing.js';

interface Held {
  readonly window: MessageWindow;
  readonly members: Members;
  readonly readMarks: Cell<ReadonlyMap<string, number>>;
  readonly ends: readonly (() => void)[];
  holders: number;
}

export interface WindowsOptions {
  readonly api: MessageWindowOptions['api'] & Pick<ConversationApi, 'listMembers'>;
  readonly outbox: Outbox;
  readonly typing: Typing;
  readonly heldCursor: (conversationId: string) => number | undefined;
  readonly markRead: (conversationId: string, conversationSeq: number) => void;
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

  /** Only ever raised: events may come in any order. */
  readBy(conversationId: string, userId: string, seq: number): void {
    const cell = this.#held.get(conversationId)?.readMarks;
    const marks = cell?.snapshot();
    if (cell === undefined || marks === undefined || (marks.get(userId) ?? 0) >= seq) return;
    if (!marks.has(userId) && marks.size >= CLIENT_READ_MARKS_MAX) return;
    cell.set(new Map(marks).set(userId, seq));
  }

  /** Its members may have changed; without an id, those of all. */
  touchMembers(conversationId?: string): void {
    if (conversationId !== undefined) this.#held.get(conversationId)?.members.touch();
    else for (const { members } of this.#held.values()) members.touch();
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
      readMarks: { subscribe: held.readMarks.subscribe, snapshot: held.readMarks.snapshot },
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
    for (const { window, members } of this.#held.values()) {
      window.close();
      members.close();
    }
  }

  #make(conversationId: string): Held {
    const { api, outbox, heldCursor, changed } = this.#options;
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
      readMarks: new Cell<ReadonlyMap<string, number>>(new Map()),
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

  #end(conversationId: string, { window, members, ends }: Held): void {
    window.close();
    members.close();
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

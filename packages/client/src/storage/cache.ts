/**
 * What one user's client keeps on this device: the list, the newest messages of the conversations used last, and what is yet
 * to be sent. Opened once it is known whose it is; until then, and when the storage fails, nothing is kept and nothing waits.
 *
 * Of several tabs the one that leads keeps the list; messages are kept by whoever shows them, and only what is newer than
 * what stands there. Unsent messages are their tab's until it ends; then the one that leads sends them.
 */
import {
  CLIENT_CACHE_DELAY_MS,
  CLIENT_CACHE_LIST_MAX,
  CLIENT_CACHE_MESSAGES_MAX,
  CLIENT_CACHE_READ_MS_MAX,
  CLIENT_CACHE_REMOVE_MS_MAX,
  CLIENT_CACHE_WINDOWS_MAX,
} from '@qim/proto';
import type { Environment } from '../environment.js';
import { storageFailed } from '../errors.js';
import type { HeldMessages, MessageWindow } from '../message-window.js';
import type { KeptMessage, OutboxKeeper } from '../outbox.js';
import type { Conversation } from '../types.js';
import type { AccountStorage, ClientStorage } from './storage.js';

export interface CacheOptions {
  readonly storage: ClientStorage;
  readonly environment: Environment;
  /** The list as it is now; undefined: nothing that the server has said. */
  readonly list: () => readonly Conversation[] | undefined;
  /** The read marks that wait. */
  readonly marks: () => ReadonlyMap<string, number>;
  /** What another tab left unsent. */
  readonly left: (messages: readonly KeptMessage[]) => void;
  /** Another tab has logged this user out. */
  readonly loggedOut: () => void;
}

interface KeptInTab {
  readonly tabId: string;
  readonly message: KeptMessage;
}

/** Keys. A conversation id needs no escape: it is made of letters, digits, _ and -. */
const LIST = 'list';
const WINDOW = 'window/';
const USED = 'used/';
const OUTBOX = 'outbox/';
const MARKS = 'marks/';

/** What was kept. */
export interface Kept {
  readonly list: readonly Conversation[];
  readonly outbox: readonly KeptMessage[];
  readonly marks: ReadonlyMap<string, number>;
}

export class Cache implements OutboxKeeper {
  readonly #options: CacheOptions;
  readonly #changedWindows = new Map<string, MessageWindow>();
  /** Conversations whose messages were found not to be so: what is kept of them does not count. */
  readonly #begunAnew = new Set<string>();
  /** Conversations whose messages are held, as far as this tab knows. */
  readonly #used = new Set<string>();
  #opening: Promise<AccountStorage | undefined> = Promise.resolve(undefined);
  #opened: AccountStorage | undefined;
  /** Undefined: it is not known yet whose it is. */
  #name: string | undefined;
  #listChanged = false;
  #marksChanged = false;
  /** There are marks under this tab's key. */
  #marksKept = false;
  #cancelTimer: (() => void) | undefined;
  #closed = false;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /** The first call counts. Resolves with what was kept; never rejects, and takes CLIENT_CACHE_READ_MS_MAX at most. */
  async open(name: string): Promise<Kept> {
    this.#name = name;
    this.#opening = this.#open(name);
    const opened = await this.#opening;
    const [list, outbox, marks] = await Promise.all([
      this.#soon(async () => (await opened?.get(LIST)) as readonly Conversation[] | undefined),
      this.#soon(() => this.#leftHere(opened)),
      this.#soon(() => this.#marksLeft(opened)),
    ]);
    return { list: Array.isArray(list) ? list : [], outbox: outbox ?? [], marks: marks ?? new Map() };
  }

  get isOpening(): boolean {
    return this.#name !== undefined;
  }

  /** What is kept of one conversation. Never rejects; undefined as well while it is not known whose the cache is. */
  async window(conversationId: string): Promise<HeldMessages | undefined> {
    const opened = await this.#opening;
    const held = await this.#soon(async () => (await opened?.get(WINDOW + conversationId)) as HeldMessages | undefined);
    return held !== undefined && Array.isArray(held.messages) && held.messages.length > 0 ? held : undefined;
  }

  listChanged(): void {
    this.#listChanged = true;
    this.#later();
  }

  marksChanged(): void {
    this.#marksChanged = true;
    this.#later();
  }

  windowChanged(conversationId: string, window: MessageWindow): void {
    this.#changedWindows.set(conversationId, window);
    if (window.state.snapshot().status === 'loading') this.#begunAnew.add(conversationId);
    this.#later();
  }

  put(message: KeptMessage): void {
    const tabId = this.#opened?.tabs?.tabId ?? '';
    this.#write(new Map([[outboxKey(message), { tabId, message } satisfies KeptInTab]]));
  }

  remove(message: KeptMessage): void {
    this.#write(new Map([[outboxKey(message), undefined]]));
  }

  /** Looks for what tabs that have ended left unsent, when this one leads. */
  async adopt(): Promise<void> {
    const opened = this.#opened;
    if (opened?.tabs?.leads() !== true) return;
    const left = await this.#soon(() => this.#leftIn(opened));
    if (left !== undefined && left.length > 0 && !this.#closed) this.#options.left(left);
  }

  /** Writes what has changed, and ends. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#cancelTimer?.();
    await this.#soon(() => this.#flush());
    this.#closed = true;
    this.#opened?.close();
  }

  /** Removes everything that is kept, in every tab, also after `close`. @throws QimClientError STORAGE_FAILED */
  async destroy(): Promise<void> {
    const name = this.#name;
    const opening = this.#closed ? undefined : this.#opening;
    this.#closed = true;
    this.#cancelTimer?.();
    if (name === undefined) return;
    try {
      await this.#within(CLIENT_CACHE_REMOVE_MS_MAX, async () => {
        const opened = (await opening) ?? (await this.#options.storage.open(name));
        opened.tabs?.post({ kind: 'loggedOut' });
        await opened.destroy();
      });
    } catch (error) {
      throw storageFailed(error);
    }
  }

  async #open(name: string): Promise<AccountStorage | undefined> {
    const opened = await this.#soon(() => this.#options.storage.open(name));
    if (opened === undefined) return undefined;
    if (this.#closed) {
      opened.close();
      return undefined;
    }
    this.#opened = opened;
    this.#listen(opened);
    return opened;
  }

  #listen(opened: AccountStorage): void {
    const { tabs } = opened;
    const tidy = (): void => void this.#soon(() => this.#makeRoom(opened));
    if (tabs === undefined) {
      tidy();
      return;
    }
    tabs.onMessage(({ kind }) => {
      if (kind === 'left') void this.adopt();
      else this.#endedElsewhere();
    });
    if (!tabs.leads()) tabs.onLead(() => void this.adopt());
    tabs.onLead(tidy);
  }

  #endedElsewhere(): void {
    this.#closed = true;
    this.#cancelTimer?.();
    this.#options.loggedOut();
  }

  /** What this tab has to send first. Where another one leads, that one is told to look. */
  async #leftHere(opened: AccountStorage | undefined): Promise<readonly KeptMessage[]> {
    if (opened?.tabs === undefined || opened.tabs.leads()) return opened === undefined ? [] : this.#leftIn(opened);
    opened.tabs.post({ kind: 'left' });
    return [];
  }

  /**
   * The greatest of each conversation, of this tab and of others: it does no harm that two send the same. They are this tab's now;
   * one that lives has its own in hand.
   */
  async #marksLeft(opened: AccountStorage | undefined): Promise<ReadonlyMap<string, number>> {
    const marks = new Map<string, number>();
    if (opened === undefined) return marks;
    const kept = await opened.list(MARKS);
    for (const [id, seq] of kept.flatMap(([, value]) => (Array.isArray(value) ? (value as [string, number][]) : []))) {
      marks.set(id, Math.max(seq, marks.get(id) ?? 0));
    }
    if (kept.length === 0) return marks;
    const own = marksKey(opened);
    await opened.write(new Map([...kept.map(([key]) => [key, undefined] as const), [own, [...marks]] as const]));
    this.#marksKept = true;
    return marks;
  }

  /** Those of tabs that have ended; where tabs are not known, all. */
  async #leftIn(opened: AccountStorage): Promise<readonly KeptMessage[]> {
    const kept = (await opened.list(OUTBOX)).map(([, value]) => value as KeptInTab);
    const { tabs } = opened;
    const others = [...new Set(kept.map(({ tabId }) => tabId))];
    const alive = tabs === undefined ? new Set<string>() : await tabs.alive(others);
    return kept.filter(({ tabId }) => !alive.has(tabId)).map(({ message }) => message);
  }

  #later(): void {
    if (this.#closed || this.#opened === undefined) return;
    this.#cancelTimer ??= this.#options.environment.schedule(CLIENT_CACHE_DELAY_MS, () => {
      this.#cancelTimer = undefined;
      void this.#soon(() => this.#flush());
    });
  }

  async #flush(): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined || this.#closed) return;
    const changes = new Map<string, unknown>();
    const list = this.#listChanged ? this.#options.list() : undefined;
    this.#listChanged = false;
    if (list !== undefined && opened.tabs?.leads() !== false) changes.set(LIST, list.slice(0, CLIENT_CACHE_LIST_MAX));
    if (this.#marksChanged) this.#keepMarks(opened, changes);
    const windows = [...this.#changedWindows];
    this.#changedWindows.clear();
    for (const [conversationId, window] of windows) await this.#keepWindow(opened, conversationId, window, changes);
    if (changes.size > 0 && !this.#closed) await opened.write(changes);
    if (this.#used.size > CLIENT_CACHE_WINDOWS_MAX) await this.#makeRoom(opened);
  }

  #keepMarks(opened: AccountStorage, changes: Map<string, unknown>): void {
    this.#marksChanged = false;
    const marks = [...this.#options.marks()];
    if (marks.length > 0 || this.#marksKept) changes.set(marksKey(opened), marks.length > 0 ? marks : undefined);
    this.#marksKept = marks.length > 0;
  }

  async #keepWindow(opened: AccountStorage, conversationId: string, window: MessageWindow, changes: Map<string, unknown>): Promise<void> {
    const key = WINDOW + conversationId;
    if (window.state.snapshot().status === 'removed') {
      changes.set(key, undefined);
      changes.set(USED + conversationId, undefined);
      this.#used.delete(conversationId);
      return;
    }
    const held = window.held(CLIENT_CACHE_MESSAGES_MAX);
    if (held === undefined) return;
    if (!this.#begunAnew.delete(conversationId) && isAsNew((await opened.get(key)) as HeldMessages | undefined, held)) return;
    changes.set(key, held);
    changes.set(USED + conversationId, this.#options.environment.now());
    this.#used.add(conversationId);
  }

  /** Those used longest ago go. */
  async #makeRoom(opened: AccountStorage): Promise<void> {
    const used = (await opened.list(USED)).map(([key, atMs]) => ({ conversationId: key.slice(USED.length), atMs: Number(atMs) }));
    used.sort((a, b) => b.atMs - a.atMs);
    this.#used.clear();
    for (const { conversationId } of used.slice(0, CLIENT_CACHE_WINDOWS_MAX)) this.#used.add(conversationId);
    const gone = used.slice(CLIENT_CACHE_WINDOWS_MAX).flatMap(({ conversationId }) => [WINDOW + conversationId, USED + conversationId]);
    if (gone.length > 0 && !this.#closed) await opened.write(new Map(gone.map((key) => [key, undefined])));
  }

  #write(changes: ReadonlyMap<string, unknown>): void {
    if (this.#closed || this.#opened === undefined) return;
    this.#opened.write(changes).catch(() => {});
  }

  /** Undefined when it fails or does not come in time: the client goes on without. */
  async #soon<T>(run: () => Promise<T>): Promise<T | undefined> {
    try {
      return await this.#within(CLIENT_CACHE_READ_MS_MAX, run);
    } catch {
      return undefined;
    }
  }

  /** @throws Error what the storage throws, or that it was late */
  async #within<T>(ms: number, run: () => Promise<T>): Promise<T> {
    let cancel: () => void = () => {};
    const late = new Promise<never>((_, reject) => {
      cancel = this.#options.environment.schedule(ms, () => reject(new Error(`the storage did not answer within ${ms} ms`)));
    });
    try {
      return await Promise.race([run(), late]);
    } finally {
      cancel();
    }
  }
}

function marksKey({ tabs }: AccountStorage): string {
  return MARKS + (tabs?.tabId ?? '');
}

function outboxKey({ order, input }: KeptMessage): string {
  return `${OUTBOX}${String(order).padStart(String(Number.MAX_SAFE_INTEGER).length, '0')}/${input.clientMessageId}`;
}

/** Whether what stands there leads at least as far: another tab has kept it. */
function isAsNew(there: HeldMessages | undefined, held: HeldMessages): boolean {
  if (there === undefined || there.epoch < held.epoch) return false;
  if (there.epoch > held.epoch) return true;
  const [seqThere, seqHeld] = [there, held].map(({ messages }) => messages.at(-1)?.conversationSeq ?? 0) as [number, number];
  if (seqThere !== seqHeld) return seqThere > seqHeld;
  // A recalled text must go from here too, whether or not a cursor has moved.
  if (revisionsOf(there) < revisionsOf(held)) return false;
  return (there.cursor ?? -1) >= (held.cursor ?? -1) && there.messages.length >= held.messages.length;
}

function revisionsOf({ messages }: HeldMessages): number {
  return messages.reduce((sum, { revision, reactionsRevision }) => sum + revision + reactionsRevision, 0);
}

/**
 * The members of one conversation: read while somebody watches, and again when an event says that they may have changed.
 * One reading at a time; a change during it asks for one more.
 */
import { MEMBERS_PAGE_SIZE } from '@qim/proto';
import type { ConversationApi } from './api/conversation-api.js';
import { asClientError, isWithoutLink, type QimClientError } from './errors.js';
import { type Observable, WatchedCell } from './observable.js';
import type { Member } from './types.js';

export interface MembersState {
  /** loading: nothing was read yet. error: reading failed, and what was read before is still there. */
  readonly status: 'loading' | 'ready' | 'error';
  readonly error: QimClientError | undefined;
  readonly members: readonly Member[];
  /** `loadMore` has more. */
  readonly hasMore: boolean;
}

export interface MembersView extends Observable<MembersState> {
  /** One more page, shown when it is there. */
  readonly loadMore: () => void;
  /** Reads them again. */
  readonly refresh: () => void;
}

export interface MembersOptions {
  readonly conversationId: string;
  readonly api: Pick<ConversationApi, 'listMembers'>;
}

export class Members implements MembersView {
  readonly #options: MembersOptions;
  readonly #state: WatchedCell<MembersState>;
  /** What is held is not known to be so any more. */
  #stale = true;
  #wanted = MEMBERS_PAGE_SIZE;
  #running = false;
  #closed = false;

  constructor(options: MembersOptions) {
    this.#options = options;
    const state: MembersState = { status: 'loading', error: undefined, members: [], hasMore: false };
    this.#state = new WatchedCell(state, () => this.#start());
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener);
  readonly snapshot = (): MembersState => this.#state.snapshot();

  readonly loadMore = (): void => {
    const { hasMore, members } = this.snapshot();
    if (!hasMore) return;
    this.#wanted = members.length + 1;
    this.touch();
  };

  readonly refresh = (): void => this.touch();

  /** They may have changed. */
  touch(): void {
    this.#stale = true;
    this.#start();
  }

  close(): void {
    this.#closed = true;
  }

  #start(): void {
    if (this.#stale && this.#state.watched && !this.#running && !this.#closed) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (this.#stale && !this.#closed) {
        this.#stale = false;
        await this.#read();
      }
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#running = false;
    }
  }

  async #read(): Promise<void> {
    const { api, conversationId } = this.#options;
    const read = new Map<string, Member>();
    let nextPageToken = '';
    do {
      const page = await api.listMembers(conversationId, nextPageToken);
      for (const member of page.members) read.set(member.userId, member);
      nextPageToken = page.members.length === 0 ? '' : page.nextPageToken;
    } while (nextPageToken !== '' && read.size < this.#wanted);
    this.#state.set({ status: 'ready', error: undefined, members: [...read.values()], hasMore: nextPageToken !== '' });
  }

  #failed(error: unknown): void {
    this.#stale = true;
    const known = asClientError(error, 'reading members');
    // The next welcome asks again.
    if (!this.#closed && !isWithoutLink(known)) this.#state.set({ ...this.snapshot(), status: 'error', error: known });
  }
}

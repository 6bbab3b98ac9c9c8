/** One round that is waited for: its replies come in groups, and each group is read as soon as it is whole. */
import { type Replies, UnexpectedReply } from './wire-replies.js';

/** What to make of the replies of one group; `group` counts from 0. */
export type GroupReader<T> = (replies: Replies, group: number) => T;

export class WireRound {
  readonly #groups: readonly number[];
  readonly #read: GroupReader<unknown>;
  readonly #resolve: (whole: boolean) => void;
  readonly #reject: (error: unknown) => void;
  #next = 0;
  /** Something was not what was asked for; what follows is passed over, to keep the place in the stream. */
  #unexpected = false;

  /** `groups`: how many replies each has. `resolve` is told whether all were read. */
  constructor(groups: readonly number[], read: GroupReader<unknown>, resolve: (whole: boolean) => void, reject: (error: unknown) => void) {
    this.#groups = groups;
    this.#read = read;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Of the group that comes next; 0: there is none. */
  get nextReplies(): number {
    return this.#groups[this.#next] ?? 0;
  }

  get isOver(): boolean {
    return this.#next >= this.#groups.length;
  }

  /** The next group, whole. */
  take(replies: Replies): void {
    const group = this.#next;
    this.#next += 1;
    if (this.#unexpected) return;
    try {
      this.#read(replies, group);
      replies.done();
    } catch (error) {
      this.#unexpected = true;
      if (!(error instanceof UnexpectedReply)) this.#reject(error);
    }
  }

  settle(): void {
    this.#resolve(!this.#unexpected);
  }

  /** No more of it will come. */
  lose(): void {
    this.#resolve(false);
  }
}

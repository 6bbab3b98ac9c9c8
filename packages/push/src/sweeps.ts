/**
 * Moves a conversation up in the lists of many members, behind the live events and beside everything else: one sweep of a
 * conversation at a time, a bounded number of members in each step, PUSH_SWEEPS_MAX conversations at once. What comes for a
 * conversation while its sweep waits is done by that one sweep: only the newest activity counts.
 *
 * Until it is done the conversation stands lower in some lists than it should. No head and no count depends on it.
 */
import { type ConversationId, isQimError, PUSH_SWEEPS_MAX, PUSH_TOUCH_AT_ONCE, type TenantId, type UserId } from '@qim/proto';
import type { Activity } from '@qim/store';
import type { PushDeps } from './ports.js';
import { retryWait } from './retry-wait.js';

export interface Sweep {
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
  readonly memberIds: readonly UserId[];
  readonly activity: Activity;
}

interface Waiting {
  sweep: Sweep;
  done: Promise<boolean>;
}

export class Sweeps {
  readonly #deps: Pick<PushDeps, 'directory' | 'sleep' | 'log'>;
  readonly #signal: AbortSignal;
  /** By conversation: what has not begun, and takes in what comes. */
  readonly #waiting = new Map<string, Waiting>();
  /** By conversation: what has begun. */
  readonly #begun = new Map<string, Promise<boolean>>();
  readonly #turns: (() => void)[] = [];
  #free = PUSH_SWEEPS_MAX;

  /** Once the signal aborts, what has begun is finished if the store answers, and the rest given up. */
  constructor(deps: Pick<PushDeps, 'directory' | 'sleep' | 'log'>, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
  }

  /** True once all lists have this activity or a newer one; false: given up. Never rejects. */
  run(sweep: Sweep): Promise<boolean> {
    const key = `${sweep.tenantId} ${sweep.conversationId}`;
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) {
      waiting.sweep = newer(waiting.sweep, sweep);
      return waiting.done;
    }
    const next: Waiting = { sweep, done: Promise.resolve(false) };
    this.#waiting.set(key, next);
    next.done = this.#whenItsTurn(key, next);
    return next.done;
  }

  async #whenItsTurn(key: string, next: Waiting): Promise<boolean> {
    await this.#begun.get(key);
    await this.#turn();
    this.#waiting.delete(key);
    try {
      if (this.#signal.aborted) return false;
      const work = this.#sweep(next.sweep);
      this.#begun.set(key, work);
      return await work;
    } finally {
      this.#begun.delete(key);
      this.#free += 1;
      this.#turns.shift()?.();
    }
  }

  /** Resolves when there is a place; it is taken then. */
  async #turn(): Promise<void> {
    while (this.#free === 0) await new Promise<void>((resolve) => this.#turns.push(resolve));
    this.#free -= 1;
  }

  async #sweep({ tenantId, conversationId, memberIds, activity }: Sweep): Promise<boolean> {
    for (let from = 0, failures = 0; from < memberIds.length; ) {
      const some = memberIds.slice(from, from + PUSH_TOUCH_AT_ONCE);
      try {
        await this.#deps.directory.touch(tenantId, conversationId, some, activity);
        from += some.length;
        failures = 0;
      } catch (error) {
        if (!isQimError(error) || error.code !== 'StoreUnavailable') {
          // Nothing that time mends. The order of some lists stays behind until the next message.
          this.#deps.log.error({ err: error }, 'some lists were not brought up to date');
          return true;
        }
        if (this.#signal.aborted) return false;
        await this.#deps.sleep(retryWait(failures), this.#signal);
        failures += 1;
      }
    }
    return true;
  }
}

/** Members as they were read last; a member who left meanwhile is passed over by the store. */
function newer(one: Sweep, other: Sweep): Sweep {
  return other.activity.conversationSeq >= one.activity.conversationSeq ? other : one;
}

/**
 * Goes through all conversations again and again and removes what its rule says, one conversation at a time and at a
 * bounded rate: nobody waits for it. What it could not do it does the next time round. Of the processes that share a store
 * one sweeps; two that do so for a moment, as while that changes, do the same work twice, and no harm.
 */
import {
  RETENTION_CONVERSATIONS_AT_ONCE,
  RETENTION_FAILURE_PAUSE_MS,
  RETENTION_LOOK_PAUSE_MS,
  RETENTION_STEP_PAUSE_MS,
  RETENTION_SWEEP_PAUSE_MS,
  RETENTION_TURN_PAUSE_MS,
} from '@qim/proto';
import type { ConversationsPage, MessageStore, RetentionPolicy } from '@qim/store';
import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import type { RetentionPolicies, RetentionRule } from './policy.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Told of what metrics count. */
export interface RetentionObserver {
  retentionRemoved(records: number): void;
  retentionFailed(): void;
  /** All conversations were looked at once. */
  retentionSwept(): void;
}

export interface SweepDeps extends Pick<Clock, 'now' | 'sleep'> {
  readonly messages: Pick<MessageStore, 'conversations' | 'retain'>;
  readonly policies: RetentionPolicies;
  readonly log: Log;
  readonly observer: RetentionObserver;
  /** It is this process that sweeps. */
  readonly mine: () => boolean;
}

type Place = ConversationsPage['conversations'][number];

export class RetentionSweep {
  readonly #deps: SweepDeps;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(deps: SweepDeps) {
    this.#deps = deps;
  }

  /** Begins at once, and again RETENTION_SWEEP_PAUSE_MS after each end. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Waits for the step that is being done. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  get #stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const swept = this.#mayGoOn() && (await this.#sweep());
      await this.#pause(swept ? RETENTION_SWEEP_PAUSE_MS : RETENTION_TURN_PAUSE_MS);
    }
  }

  /** False: it was not done to the end. */
  async #sweep(): Promise<boolean> {
    let cursor: string | undefined;
    while (this.#mayGoOn()) {
      const page = await this.#nextPage(cursor);
      for (const place of page?.conversations ?? []) {
        if (!this.#mayGoOn()) return false;
        await this.#retain(place);
      }
      cursor = page === undefined ? cursor : page.next;
      if (page === undefined || cursor !== undefined) continue;
      this.#deps.observer.retentionSwept();
      return true;
    }
    return false;
  }

  #mayGoOn(): boolean {
    return !this.#stopped && this.#deps.mine();
  }

  /** Undefined: no answer; the same is asked for again. */
  async #nextPage(cursor: string | undefined): Promise<ConversationsPage | undefined> {
    try {
      return await this.#deps.messages.conversations(cursor, RETENTION_CONVERSATIONS_AT_ONCE);
    } catch (error) {
      await this.#failed(error, 'the conversations could not be enumerated');
      return undefined;
    }
  }

  async #retain({ tenantId, conversationId }: Place): Promise<void> {
    const { messages, policies, now, observer } = this.#deps;
    const rule = policies.ruleFor(tenantId, conversationId);
    if (rule.days === undefined && rule.messages === undefined) return;
    try {
      for (let more = true; more && this.#mayGoOn(); ) {
        const outcome = await messages.retain(tenantId, conversationId, policyOf(rule, now()));
        if (outcome.removed > 0) observer.retentionRemoved(outcome.removed);
        more = outcome.more;
        await this.#pause(outcome.removed > 0 ? RETENTION_STEP_PAUSE_MS : RETENTION_LOOK_PAUSE_MS);
      }
    } catch (error) {
      await this.#failed(error, 'retention left a conversation as it was');
    }
  }

  async #failed(error: unknown, what: string): Promise<void> {
    const { observer, log } = this.#deps;
    observer.retentionFailed();
    log.warn({ err: error }, what);
    await this.#pause(RETENTION_FAILURE_PAUSE_MS);
  }

  #pause(ms: number): Promise<void> {
    return this.#deps.sleep(ms, this.#stopping.signal);
  }
}

function policyOf({ days, messages }: RetentionRule, now: number): RetentionPolicy {
  return { olderThanMs: days === undefined ? undefined : now - days * DAY_MS, keepNewest: messages };
}

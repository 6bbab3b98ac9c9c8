/**
 * Web Push to the browsers of who is away, beside the webhook's order: a browser names its push service itself, so a slow
 * one holds up nothing but its own notifications. The entry stays in the queue until they are sent or given up.
 *
 * At least once: an owner that dies may have sent some of them. A page tells them by the message's id.
 */
import {
  isQimError,
  type Message,
  OFFLINE_PUSH_RECIPIENTS_MAX,
  type UserId,
  WEB_PUSH_MESSAGES_IN_FLIGHT_MAX,
  WEB_PUSH_MESSAGES_WAITING_MAX,
  WEB_PUSH_RETRY_MAX_MS,
  WEB_PUSH_RETRY_MIN_MS,
  WEB_PUSH_SENDS_AT_ONCE,
  WEB_PUSH_TRIES_MAX,
} from '@qim/proto';
import type { HookJob, WebPushSubscription } from '@qim/store';
import { eachBounded } from '../each-bounded.js';
import type { PushDeps } from '../ports.js';
import type { Badge, HookObserver, Hooks } from './ports.js';
import { type RecipientDeps, whomItConcerns, withBadges } from './recipients.js';

export interface WebPushDeps extends RecipientDeps, Pick<PushDeps, 'monotonicNow' | 'log'> {
  readonly hooks: Hooks;
  readonly observer?: HookObserver | undefined;
}

/** How far the notifications of one message are. */
export interface Pushing {
  phase: 'waits' | 'running' | 'done';
  tries: number;
  /** By our clock: not before. */
  dueAtMs: number;
  /** Browsers that are done with, as `placeOf` names them. */
  readonly settled: Set<string>;
}

export interface PushTurn {
  readonly job: HookJob;
  readonly pushing: Pushing;
  /** Messages of the partition that wait before this one. */
  readonly ahead: number;
  readonly signal: AbortSignal;
  /** Called when the message is done with, or is to be looked at again at `pushing.dueAtMs`. */
  readonly settled: () => void;
}

interface Target {
  readonly userId: UserId;
  readonly subscription: WebPushSubscription;
}

export class WebPushes {
  readonly #deps: WebPushDeps;
  readonly #running = new Set<Promise<void>>();

  constructor(deps: WebPushDeps) {
    this.#deps = deps;
  }

  /** later: it is being sent, or waits. Cost: 3 at the first look, none after it. @throws StoreUnavailable | CorruptRecord */
  async step(turn: PushTurn): Promise<'done' | 'later'> {
    const { pushing, ahead } = turn;
    if (pushing.phase === 'done') return 'done';
    if (pushing.phase === 'running' || pushing.dueAtMs > this.#deps.monotonicNow()) return 'later';
    if (this.#running.size >= WEB_PUSH_MESSAGES_IN_FLIGHT_MAX) {
      if (ahead < WEB_PUSH_MESSAGES_WAITING_MAX) return 'later';
      this.#giveUp(turn);
      return 'done';
    }
    const [message, targets] = await this.#plan(turn.job);
    if (message === undefined || targets.length === 0) return 'done';
    pushing.phase = 'running';
    const running = this.#run(turn, message, targets).finally(() => this.#running.delete(running));
    this.#running.add(running);
    return 'later';
  }

  /** Until what is under way has ended. */
  async end(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #plan({ tenantId, conversationId, conversationSeq }: HookJob): Promise<readonly [Message | undefined, readonly Target[]]> {
    const { messages, users } = this.#deps;
    const [message] = await messages.readMessages(tenantId, conversationId, [conversationSeq]);
    if (message === undefined) return [undefined, []];
    const userIds = await whomItConcerns(this.#deps, message);
    const subscriptions = await users.webPush(tenantId, userIds);
    return [message, userIds.flatMap((userId, i) => (subscriptions[i] ?? []).map((subscription) => ({ userId, subscription })))];
  }

  /** Never throws. */
  async #run(turn: PushTurn, message: Message, targets: readonly Target[]): Promise<void> {
    const { pushing, signal } = turn;
    let left = true;
    try {
      left = await this.#send(turn, message, targets);
    } catch (error) {
      const expected = isQimError(error) && error.code === 'StoreUnavailable';
      if (!expected) this.#deps.log.error({ err: error }, 'notifications of a message could not be made');
    }
    if (signal.aborted) return;
    pushing.tries += 1;
    pushing.phase = left ? 'waits' : 'done';
    pushing.dueAtMs = this.#deps.monotonicNow() + waitAfter(pushing.tries);
    if (left && pushing.tries >= WEB_PUSH_TRIES_MAX) this.#giveUp(turn);
    turn.settled();
  }

  #giveUp({ pushing }: PushTurn): void {
    pushing.phase = 'done';
    this.#deps.observer?.webPushSent?.('givenUp');
  }

  /** True: some are to be tried again. @throws StoreUnavailable */
  async #send({ pushing, signal }: PushTurn, message: Message, targets: readonly Target[]): Promise<boolean> {
    const open = targets.filter((target) => !pushing.settled.has(placeOf(target)));
    const userIds = [...new Set(open.map(({ userId }) => userId))];
    const away = await this.#deps.away.among(message.record.tenantId, userIds, signal);
    let left = false;
    for (let from = 0; from < away.length; from += OFFLINE_PUSH_RECIPIENTS_MAX) {
      const recipients = await withBadges(this.#deps, message, away.slice(from, from + OFFLINE_PUSH_RECIPIENTS_MAX));
      const badges = new Map(recipients.map(({ userId, badge }) => [userId, badge]));
      await eachBounded(open, WEB_PUSH_SENDS_AT_ONCE, async (target) => {
        const badge = badges.get(target.userId);
        if (badge === undefined || signal.aborted) return;
        if (await this.#notify(target, message, badge, signal)) pushing.settled.add(placeOf(target));
        else left = true;
      });
    }
    return left;
  }

  /** False: it is to be tried again. Never throws. */
  async #notify({ userId, subscription }: Target, message: Message, badge: Badge, signal: AbortSignal): Promise<boolean> {
    const { hooks, users, observer } = this.#deps;
    const { tenantId } = message.record;
    try {
      const { deviceId } = subscription;
      if (deviceId !== undefined && (await users.isSuspended(tenantId, userId, deviceId))) return true;
      const outcome = (await hooks.webPush?.({ userId, subscription, message, badge }, signal)) ?? 'refused';
      observer?.webPushSent?.(outcome);
      if (outcome === 'gone') await users.removeWebPush(tenantId, userId, subscription.endpoint);
      return outcome !== 'failed';
    } catch (error) {
      // Another message finds out again that it is gone.
      if (!isQimError(error)) this.#deps.log.error({ err: error }, 'a notification could not be made');
      return false;
    }
  }
}

export function newPushing(): Pushing {
  return { phase: 'waits', tries: 0, dueAtMs: 0, settled: new Set() };
}

function placeOf({ userId, subscription }: Target): string {
  return `${userId}\n${subscription.endpoint}`;
}

function waitAfter(tries: number): number {
  return Math.min(WEB_PUSH_RETRY_MAX_MS, WEB_PUSH_RETRY_MIN_MS * 2 ** (tries - 1));
}

/**
 * Empties the webhook's queues of the partitions that are ours. Conversations beside each other, the entries of each in
 * their order: one that was not taken holds up its conversation and no other, until it is taken or a dead letter. While
 * nobody answers at all, one conversation after the other finds out and the rest of the pass is left.
 *
 * An owner that dies, or loses a partition, may have told what it had not removed yet: the next owner tells it again.
 */
import {
  HOOK_CONVERSATIONS_IN_FLIGHT_MAX,
  HOOK_LOOK_MS,
  HOOK_PAGES_MAX,
  HOOK_READ_MAX,
  HOOK_REFUSALS_MAX,
  HOOK_RETRY_MAX_MS,
  HOOK_RETRY_MIN_MS,
  HOOKS_WAITING_MAX,
  isQimError,
} from '@qim/proto';
import { type HookJob, isDamage, type OutboxEntry, type OutboxLease } from '@qim/store';
import { eachBounded } from '../each-bounded.js';
import type { Leases } from '../leases.js';
import type { PushDeps } from '../ports.js';
import { type Progress, type TellDeps, tellJob } from './tell-job.js';
import { newPushing, type WebPushDeps, WebPushes } from './web-pushes.js';

export interface CourierDeps extends TellDeps, WebPushDeps, Pick<PushDeps, 'now' | 'sleep'> {}

/** What is known of one partition under one lease. */
interface Lane {
  readonly lease: OutboxLease;
  /** By our clock: when it is looked at next. */
  dueAtMs: number;
  running: boolean;
  /** Notifications wait for room, which other partitions may have. */
  crowded: boolean;
  /** Passes in a row that left something. */
  failures: number;
  /** By entry that was tried and is still there. */
  readonly progress: Map<string, Progress>;
  /** Once through what waits, in as many passes as it takes. */
  round: Round;
}

interface Round {
  /** The entry that the next pass goes on after; undefined: from the first. */
  after: string | undefined;
  /** Conversations that wait for their first entry. */
  readonly heldUp: Set<string>;
  /** Entries of which nothing is left but notifications. */
  pushing: number;
}

/** What one pass over a partition has met. */
interface Pass {
  readonly lane: Lane;
  readonly signal: AbortSignal;
  readonly round: Round;
  readonly done: string[];
  unreachable: boolean;
}

/** later: it stays, and holds up nothing. */
type Verdict = 'done' | 'later' | 'wait' | { readonly dead: string };

export class Courier {
  readonly #deps: CourierDeps;
  readonly #leases: Pick<Leases, 'current' | 'owns' | 'lost'>;
  readonly #webPushes: WebPushes | undefined;
  readonly #lanes = new Map<number, Lane>();
  #wake = new AbortController();

  constructor(deps: CourierDeps, leases: Pick<Leases, 'current' | 'owns' | 'lost'>) {
    this.#deps = deps;
    this.#leases = leases;
    this.#webPushes = deps.hooks.webPush && new WebPushes(deps);
  }

  /** Before the entries are acknowledged. False: the lease was lost. @throws StoreUnavailable */
  async take(lease: OutboxLease, entries: readonly OutboxEntry[]): Promise<boolean> {
    const held = await this.#deps.hooks.queue.append(lease, entries, HOOKS_WAITING_MAX);
    const lane = this.#lanes.get(lease.partition);
    // One that backs off is not hurried by what comes behind.
    if (lane !== undefined && lane.failures === 0) lane.dueAtMs = 0;
    this.#wake.abort();
    return held;
  }

  /** Until the signal aborts, and what is under way has ended. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const running = new Set<Promise<void>>();
    while (!signal.aborted) {
      this.#wake = new AbortController();
      for (const lane of this.#due()) {
        lane.running = true;
        const pass = this.#visit(lane, signal).finally(() => {
          running.delete(pass);
          lane.running = false;
          this.#wake.abort();
        });
        running.add(pass);
      }
      await this.#deps.sleep(this.#waitMs(), AbortSignal.any([signal, this.#wake.signal]));
    }
    await Promise.all(running);
    await this.#webPushes?.end();
  }

  #due(): Lane[] {
    for (const lease of this.#leases.current()) {
      if (this.#lanes.get(lease.partition)?.lease.token === lease.token) continue;
      this.#lanes.set(lease.partition, {
        lease,
        dueAtMs: 0,
        running: false,
        crowded: false,
        failures: 0,
        progress: new Map(),
        round: newRound(),
      });
    }
    const nowMs = this.#deps.monotonicNow();
    return [...this.#lanes.values()].filter((lane) => !lane.running && lane.dueAtMs <= nowMs && this.#leases.owns(lane.lease));
  }

  #waitMs(): number {
    const dues = [...this.#lanes.values()].filter(({ running }) => !running).map(({ dueAtMs }) => dueAtMs);
    return Math.max(1, Math.min(HOOK_LOOK_MS, Math.min(...dues) - this.#deps.monotonicNow()));
  }

  async #visit(lane: Lane, signal: AbortSignal): Promise<void> {
    // What is added from here on asks for another visit.
    lane.dueAtMs = Number.POSITIVE_INFINITY;
    lane.crowded = false;
    let end: 'more' | 'left' | 'empty' = 'left';
    try {
      end = await this.#passOver(lane, signal);
    } catch (error) {
      this.#deps.log.warn({ err: error, partition: lane.lease.partition }, 'what waits for the webhook could not be read or removed');
    }
    if (end === 'more') {
      lane.dueAtMs = 0;
      return;
    }
    lane.round = newRound();
    lane.failures = end === 'left' ? lane.failures + 1 : 0;
    if (end === 'left')
      lane.dueAtMs = this.#deps.monotonicNow() + Math.min(HOOK_RETRY_MAX_MS, HOOK_RETRY_MIN_MS * 2 ** Math.min(lane.failures - 1, 30));
  }

  /** more: the next pass goes on behind this one. left: something must wait. @throws StoreUnavailable */
  async #passOver(lane: Lane, signal: AbortSignal): Promise<'more' | 'left' | 'empty'> {
    const { queue } = this.#deps.hooks;
    const { round } = lane;
    const pass: Pass = { lane, signal, round, done: [], unreachable: false };
    for (let pages = 0; pages < HOOK_PAGES_MAX && this.#goesOn(pass); pages += 1) {
      const { jobs, poison, last } = await queue.read(lane.lease.partition, round.after, HOOK_READ_MAX);
      if (last === undefined) return round.heldUp.size > 0 ? 'left' : 'empty';
      for (const { entryId, reason } of poison) await this.#bury(lane, entryId, reason);
      await eachBounded(byConversation(jobs), HOOK_CONVERSATIONS_IN_FLIGHT_MAX, (some) => this.#tellInOrder(pass, some));
      await this.#remove(pass);
      round.after = last;
    }
    return this.#goesOn(pass) ? 'more' : 'left';
  }

  #goesOn({ lane, signal, unreachable }: Pass): boolean {
    return !signal.aborted && !unreachable && this.#leases.owns(lane.lease);
  }

  /** Never throws: what the store did not answer waits. */
  async #tellInOrder(pass: Pass, jobs: readonly HookJob[]): Promise<void> {
    const [first] = jobs;
    if (first === undefined || pass.round.heldUp.has(conversationOf(first))) return;
    for (const job of jobs) {
      const verdict = this.#goesOn(pass) ? await this.#try(pass, job) : this.#untried(pass, job);
      if (verdict === 'wait') {
        pass.round.heldUp.add(conversationOf(job));
        return;
      }
      if (verdict === 'done') pass.done.push(job.entryId);
      else if (verdict === 'later') pass.round.pushing += 1;
      else if (!(await this.#buryOrWait(pass, job, verdict.dead))) return;
    }
  }

  /** While nobody answers, what is too old need not be tried to be given up. */
  #untried({ unreachable, signal, lane }: Pass, job: HookJob): Verdict {
    const given = unreachable && !signal.aborted && this.#leases.owns(lane.lease) && this.#tooOld(job);
    return given ? { dead: 'unreachable' } : 'wait';
  }

  async #try(pass: Pass, job: HookJob): Promise<Verdict> {
    const { lane, signal } = pass;
    const progress = lane.progress.get(job.entryId) ?? newProgress();
    lane.progress.set(job.entryId, progress);
    try {
      if (progress.taken) return await this.#push(pass, job, progress);
      const answer = await tellJob(this.#deps, job, progress, signal);
      progress.taken = answer.outcome === 'taken';
      if (answer.outcome === 'taken') return await this.#push(pass, job, progress);
      if (answer.outcome === 'unreachable') pass.unreachable = true;
      return this.#judge(job, progress, answer.outcome === 'refused', `${answer.outcome} ${answer.why}`);
    } catch (error) {
      if (isDamage(error)) return this.#judge(job, progress, true, `${error.code} ${error.detail.reason}`);
      if (!isQimError(error)) this.#deps.log.error({ err: error, partition: lane.lease.partition }, 'a webhook event could not be made');
      return isQimError(error) && error.code === 'StoreUnavailable' ? 'wait' : this.#judge(job, progress, true, 'Internal');
    }
  }

  /** @throws StoreUnavailable | CorruptRecord */
  async #push({ lane, signal, round }: Pass, job: HookJob, progress: Progress): Promise<'done' | 'later'> {
    if (this.#webPushes === undefined || job.kind === 'amended' || this.#tooOld(job)) return 'done';
    const pushing = progress.pushing ?? newPushing();
    progress.pushing = pushing;
    const settled = () => {
      lane.dueAtMs = Math.min(lane.dueAtMs, pushing.phase === 'done' ? 0 : pushing.dueAtMs);
      for (const other of this.#lanes.values()) if (other.crowded) other.dueAtMs = 0;
      this.#wake.abort();
    };
    const verdict = await this.#webPushes.step({ job, pushing, ahead: round.pushing, signal, settled });
    if (verdict === 'later' && pushing.phase === 'waits') {
      const nowMs = this.#deps.monotonicNow();
      lane.crowded ||= pushing.dueAtMs <= nowMs;
      lane.dueAtMs = Math.min(lane.dueAtMs, Math.max(pushing.dueAtMs, nowMs + HOOK_LOOK_MS));
    }
    return verdict;
  }

  #judge(job: HookJob, progress: Progress, refused: boolean, why: string): Verdict {
    if (refused) progress.refusals += 1;
    const over = progress.refusals >= HOOK_REFUSALS_MAX || this.#tooOld(job);
    return over ? { dead: why } : 'wait';
  }

  #tooOld({ committedAtMs }: HookJob): boolean {
    return this.#deps.now() - committedAtMs > this.#deps.hooks.giveUpMs;
  }

  /** False: the conversation waits. */
  async #buryOrWait(pass: Pass, job: HookJob, reason: string): Promise<boolean> {
    try {
      await this.#bury(pass.lane, job.entryId, reason);
      return true;
    } catch {
      pass.round.heldUp.add(conversationOf(job));
      return false;
    }
  }

  async #bury({ lease, progress }: Lane, entryId: string, reason: string): Promise<void> {
    const { hooks, observer, log } = this.#deps;
    if (!(await hooks.queue.setAside(lease, entryId, reason))) return this.#leases.lost(lease);
    progress.delete(entryId);
    observer?.hookDead?.();
    log.error({ partition: lease.partition, entryId, reason }, 'the webhook was not told of an entry, which is a dead letter now');
  }

  /** Until it is removed its progress says that it was told. */
  async #remove({ lane, done }: Pass): Promise<void> {
    if (done.length === 0) return;
    if (!(await this.#deps.hooks.queue.remove(lane.lease, done))) this.#leases.lost(lane.lease);
    for (const entryId of done.splice(0)) lane.progress.delete(entryId);
  }
}

function newRound(): Round {
  return { after: undefined, heldUp: new Set(), pushing: 0 };
}

function newProgress(): Progress {
  return { told: false, notified: new Set(), taken: false, pushing: undefined, refusals: 0 };
}

function conversationOf({ tenantId, conversationId }: HookJob): string {
  return `${tenantId} ${conversationId}`;
}

/** In the order of their first entries. */
function byConversation(jobs: readonly HookJob[]): HookJob[][] {
  const groups = new Map<string, HookJob[]>();
  for (const job of jobs) {
    const group = groups.get(conversationOf(job));
    if (group === undefined) groups.set(conversationOf(job), [job]);
    else group.push(job);
  }
  return [...groups.values()];
}

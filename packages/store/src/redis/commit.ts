/**
 * Commits on Redis: those that wait at the same moment go in as few script calls as may be, in one flush.
 *
 * A lane holds what waits for one conversation. It has at most one call in flight, so that a conversation's commits go
 * in the order of their callers, and what comes meanwhile goes together in the next call. Lanes that are ready in the same
 * turn share a call where one server has all keys; on a Cluster, where they are of one partition. What is decided and
 * written of a commit is the same alone and together.
 *
 * Bucket and week are part of the key names, so they are guessed; the script does nothing where a guess is wrong and tells
 * the right ones.
 */
import {
  COMMIT_BATCH_BYTES_MAX,
  COMMIT_BATCH_MAX,
  COMMIT_CONVERSATIONS_MAX,
  COMMIT_HINTS_MAX,
  COMMITS_WAITING_MAX,
  type ConversationSeq,
  DEDUP_WEEK_MS,
  GROUP_MEMBERS_MAX,
  RECORD_BUCKET_SIZE,
  SEQ_MAX,
} from '@qim/proto';
import { nextTurn } from '../clock.js';
import { corrupt, unavailable } from '../errors.js';
import type { CommitOutcome, CommitRequest } from '../message/message-store.js';
import { committedRecord } from '../message/record.js';
import { packedValues } from './commit-arguments.js';
import { CommitLane, type Part, type Waiting } from './commit-lane.js';
import { type CommitResult, parseCommitResult } from './commit-results.js';
import { isWrongType, type Reply } from './connection.js';
import type { RedisContext } from './context.js';
import { bucketOf, type ConversationKeys } from './keys.js';
import { asArray, asDecimal, asSequence, asText } from './replies.js';

/** A guess is the script's own word from the second try on; it is wrong again only when others commit in between. */
const GUESSES_MAX = 16;

export class RedisCommits {
  readonly #context: RedisContext;
  /** By the key of the conversation's facts; a lane is there while something waits or is in flight. */
  readonly #lanes = new Map<string, CommitLane>();
  #ready: CommitLane[] = [];
  /** The same key -> bucket of the newest known sequence. The most recently used ones. */
  readonly #buckets = new Map<string, number>();

  constructor(context: RedisContext) {
    this.#context = context;
  }

  /** @throws as MessageStore.commit */
  async commit(request: CommitRequest): Promise<CommitResult> {
    return new Promise((resolve, reject) => this.#enqueue({ request, resolve, reject }));
  }

  #enqueue(entry: Waiting): void {
    const { request, reject } = entry;
    const keys = this.#context.keys.conversation(request.tenantId, request.conversationId);
    const lane = this.#lanes.get(keys.facts);
    if (lane === undefined) {
      const fresh = new CommitLane(request, keys);
      this.#lanes.set(keys.facts, fresh);
      fresh.push(entry);
      this.#isReady(fresh);
    } else if (lane.length >= COMMITS_WAITING_MAX) {
      reject(unavailable('too many commits wait for one conversation'));
    } else {
      lane.push(entry);
    }
  }

  #isReady(lane: CommitLane): void {
    // Not at once: what is called in the same turn goes in the same step.
    if (this.#ready.length === 0) queueMicrotask(() => this.#sendReady());
    this.#ready.push(lane);
  }

  #sendReady(): void {
    const parts = this.#ready.map((lane) => lane.take());
    this.#ready = [];
    for (const part of parts.filter(({ batch }) => batch.length === 0)) this.#end(part);
    const filled = parts.filter(({ batch }) => batch.length > 0);
    for (const group of grouped(filled, this.#context.callsTogether)) void this.#drain(group);
  }

  async #drain(parts: readonly Part[]): Promise<void> {
    const done = this.#attempt(parts);
    await nextTurn();
    for (const { lane } of parts) lane.encodeNext();
    await done;
    for (const part of parts) this.#end(part);
  }

  /** What its lane has next is ready; once. */
  #end(part: Part): void {
    const { lane } = part;
    if (!lane.isUnderWay(part)) return;
    lane.ended();
    if (lane.length > 0) this.#isReady(lane);
    else this.#lanes.delete(lane.keys.facts);
  }

  /** Never throws. */
  async #attempt(parts: readonly Part[]): Promise<void> {
    try {
      await this.#send(parts);
    } catch (error) {
      // Of those that have their result already it changes nothing.
      for (const { batch } of parts) for (const { reject } of batch) reject(error);
    }
  }

  async #send(parts: readonly Part[]): Promise<void> {
    let left = parts;
    for (let guesses = 0; guesses < GUESSES_MAX; guesses += 1) {
      const reply = await this.#call(left);
      // It says not whose key it was, and nothing was done.
      if (isWrongType(reply)) {
        await this.#withoutWrongTypes(left);
        return;
      }
      const [kind, ...values] = asArray(reply);
      if (asText(kind) === 'guess') this.#context.weeks.learn(asDecimal(values[0]));
      else left = await this.#settle(left, values);
      if (left.length === 0) return;
    }
    throw unavailable('the place of a commit could not be guessed');
  }

  async #withoutWrongTypes(parts: readonly Part[]): Promise<void> {
    const [only] = parts;
    // Each by itself: no lane is ready again before the last of them has its answer.
    if (parts.length > 1) await Promise.all(parts.map((part) => this.#attempt([part])));
    else for (const { request, reject } of only?.batch ?? []) reject(corrupt(request.tenantId, request.conversationId, 'wrongType'));
  }

  #call(parts: readonly Part[]): Promise<Reply> {
    const { scripts, weeks, clockOffsetMs } = this.#context;
    const week = weeks.week();
    const keys: string[] = [];
    const packed: Buffer[] = [];
    for (const { lane, batch } of parts) {
      const bucket = this.#buckets.get(lane.keys.facts) ?? 0;
      keys.push(...scriptKeys(lane.keys, bucket, week));
      const { tenantId, conversationId } = lane.place;
      const commits = Buffer.concat(batch.map((entry) => entry.packed));
      packed.push(packedValues([String(bucket), String(tenantId), conversationId, commits]));
    }
    const settings = [clockOffsetMs(), week, DEDUP_WEEK_MS, RECORD_BUCKET_SIZE, GROUP_MEMBERS_MAX, SEQ_MAX].map(String);
    return scripts.run('commit', keys, [...settings, Buffer.concat(packed)]);
  }

  /** Those whose bucket was guessed wrong. */
  async #settle(parts: readonly Part[], results: readonly Reply[]): Promise<Part[]> {
    const again: Part[] = [];
    const done: [Part, readonly Reply[]][] = [];
    let next = 0;
    for (const part of parts) {
      const own = results.slice(next, next + part.batch.length);
      next += part.batch.length;
      const [kind, bucket] = asArray(own[0]);
      if (asText(kind) === 'guess') {
        this.#remember(part.lane.keys, asDecimal(bucket));
        again.push(part);
      } else {
        const sequence = newestOf(own);
        if (sequence !== undefined) this.#remember(part.lane.keys, bucketOf(sequence));
        done.push([part, own]);
      }
    }
    await this.#sendFull(done.map(([part]) => part));
    for (const [part, own] of done) answer(part, own);
    return again;
  }

  /** Nothing that the answers bring about can join a full call, so the server works on it while they are told. */
  async #sendFull(ended: readonly Part[]): Promise<void> {
    const full = ended.filter(({ lane }) => lane.isFull);
    if (full.length === 0) return;
    for (const part of full) this.#end(part);
    this.#sendReady();
    // The client library writes at the end of this turn.
    await nextTurn();
  }

  #remember(keys: ConversationKeys, bucket: number): void {
    this.#buckets.delete(keys.facts);
    this.#buckets.set(keys.facts, bucket);
    if (this.#buckets.size <= COMMIT_HINTS_MAX) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}

function answer({ batch }: Part, results: readonly Reply[]): void {
  for (const [i, { request, resolve, reject }] of batch.entries()) {
    try {
      resolve(parseCommitResult(results[i], request, neededRole(request)));
    } catch (error) {
      reject(error);
    }
  }
}

/** The last sequence that was given. */
function newestOf(results: readonly Reply[]): ConversationSeq | undefined {
  const newest = results.map(asArray).findLast(([kind]) => asText(kind) === 'committed');
  return newest === undefined ? undefined : asSequence(newest[1]);
}

/** In the order of commit.lua. */
function scriptKeys(keys: ConversationKeys, bucket: number, week: number): readonly string[] {
  return [
    keys.facts,
    keys.members,
    keys.history,
    keys.dedup(week),
    keys.dedup(week - 1),
    keys.outbox,
    keys.records(bucket),
    keys.records(bucket + 1),
    keys.bodies(bucket),
    keys.bodies(bucket + 1),
    keys.dedup(week + 1),
    ...keys.guard,
  ];
}

/** Which of them share a call. */
function grouped(parts: readonly Part[], together: RedisContext['callsTogether']): Part[][] {
  if (together === 'never') return parts.map((part) => [part]);
  const groups: Part[][] = [];
  /** By what its keys must have in common. */
  const open = new Map<number, { readonly parts: Part[]; commits: number; bytes: number }>();
  for (const part of parts) {
    const place = together === 'samePartition' ? part.lane.keys.partition : 0;
    let group = open.get(place);
    const fits =
      group !== undefined &&
      group.parts.length < COMMIT_CONVERSATIONS_MAX &&
      group.commits + part.batch.length <= COMMIT_BATCH_MAX &&
      group.bytes + part.bytes <= COMMIT_BATCH_BYTES_MAX;
    if (group === undefined || !fits) {
      group = { parts: [], commits: 0, bytes: 0 };
      open.set(place, group);
      groups.push(group.parts);
    }
    group.parts.push(part);
    group.commits += part.batch.length;
    group.bytes += part.bytes;
  }
  return groups;
}

/** A member who may not post lacks this: every member may post unless only admins do. */
function neededRole({ needs }: CommitRequest): string {
  return needs === 'post' ? 'admin' : needs;
}

export function committedOutcome(request: CommitRequest, { stamp, created, epoch }: CommitResult & { kind: 'committed' }): CommitOutcome {
  const { messageId, activityId } = request;
  const { conversationSeq, committedAtMs } = stamp;
  const message = { record: committedRecord(request, stamp), epoch };
  return { duplicate: false, conversationSeq, messageId, activityId, committedAtMs, created, message };
}

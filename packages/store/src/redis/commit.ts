/**
 * Commits on Redis: one script call for all that wait for the same conversation.
 *
 * A lane holds what waits for one conversation. It has at most one call in flight, so that a conversation's commits go
 * in the order of their callers, and what comes meanwhile goes together in the next call. Bucket and week are part of
 * the key names, so they are guessed; the script does nothing when a guess is wrong and tells the right ones.
 */
import {
  assert,
  COMMIT_BATCH_BYTES_MAX,
  COMMIT_BATCH_MAX,
  COMMIT_HINTS_MAX,
  COMMITS_WAITING_MAX,
  DEDUP_WEEK_MS,
  GROUP_MEMBERS_MAX,
  RECORD_BUCKET_SIZE,
  SEQ_MAX,
} from '@qim/proto';
import { corrupt, unavailable } from '../errors.js';
import type { CommitOutcome, CommitRequest } from '../message/message-store.js';
import { committedRecord } from '../message/record.js';
import { type CommitArguments, commitArguments } from './commit-arguments.js';
import { type CommitResult, parseCommitResult } from './commit-results.js';
import { isWrongType, type Reply } from './connection.js';
import type { RedisContext } from './context.js';
import { bucketOf, type ConversationKeys } from './keys.js';
import { asArray, asDecimal, asText } from './replies.js';

/** A guess is the script's own word from the second try on; it is wrong again only when others commit in between. */
const GUESSES_MAX = 16;

interface Waiting extends CommitArguments {
  readonly request: CommitRequest;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

interface Lane {
  readonly keys: ConversationKeys;
  waiting: Waiting[];
}

export class RedisCommits {
  readonly #context: RedisContext;
  /** By the key of the conversation's facts; a lane is there while something waits or is in flight. */
  readonly #lanes = new Map<string, Lane>();
  /** The same key -> bucket of the newest known sequence. The most recently used ones. */
  readonly #buckets = new Map<string, number>();

  constructor(context: RedisContext) {
    this.#context = context;
  }

  /** @throws as MessageStore.commit */
  async commit(request: CommitRequest): Promise<CommitResult> {
    const prepared = commitArguments(request);
    const keys = this.#context.keys.conversation(request.tenantId, request.conversationId);
    return new Promise((resolve, reject) => this.#enqueue(keys, { ...prepared, request, resolve, reject }));
  }

  #enqueue(keys: ConversationKeys, entry: Waiting): void {
    const lane = this.#lanes.get(keys.facts);
    if (lane === undefined) {
      const fresh = { keys, waiting: [entry] };
      this.#lanes.set(keys.facts, fresh);
      // Not at once: what is called in the same turn goes in the same step.
      queueMicrotask(() => void this.#drain(fresh));
    } else if (lane.waiting.length >= COMMITS_WAITING_MAX) {
      entry.reject(unavailable('too many commits wait for one conversation'));
    } else {
      lane.waiting.push(entry);
    }
  }

  async #drain(lane: Lane): Promise<void> {
    while (lane.waiting.length > 0) {
      const count = batchLength(lane.waiting);
      const batch = lane.waiting.slice(0, count);
      lane.waiting = lane.waiting.slice(count);
      try {
        await this.#send(lane.keys, batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#lanes.delete(lane.keys.facts);
  }

  async #send(keys: ConversationKeys, batch: readonly Waiting[]): Promise<void> {
    const { weeks } = this.#context;
    for (let guesses = 0; guesses < GUESSES_MAX; guesses += 1) {
      const reply = await this.#call(keys, batch);
      if (isWrongType(reply)) {
        for (const { request, reject } of batch) reject(corrupt(request.tenantId, request.conversationId, 'wrongType'));
        return;
      }
      const [kind, ...values] = asArray(reply);
      if (asText(kind) === 'done') {
        this.#settle(keys, batch, values);
        return;
      }
      weeks.learn(asDecimal(values[0]));
      this.#remember(keys, asDecimal(values[1]));
    }
    throw unavailable('the place of a commit could not be guessed');
  }

  #call(keys: ConversationKeys, batch: readonly Waiting[]): Promise<Reply> {
    const { scripts, weeks, clockOffsetMs } = this.#context;
    const week = weeks.week();
    const bucket = this.#buckets.get(keys.facts) ?? 0;
    const { facts, members, history, outbox } = keys;
    const places = [keys.records(bucket), keys.records(bucket + 1), keys.bodies(bucket), keys.bodies(bucket + 1)];
    const [first] = batch;
    assert(first !== undefined, 'a batch has a commit');
    const { tenantId, conversationId } = first.request;
    const settings = [clockOffsetMs(), week, bucket, tenantId, conversationId].map(String);
    const limits = [DEDUP_WEEK_MS, RECORD_BUCKET_SIZE, GROUP_MEMBERS_MAX, SEQ_MAX, batch.length].map(String);
    const scriptKeys = [
      facts,
      members,
      history,
      keys.dedup(week),
      keys.dedup(week - 1),
      outbox,
      ...places,
      keys.dedup(week + 1),
      ...keys.guard,
    ];
    return scripts.run('commit', scriptKeys, [...settings, ...limits, Buffer.concat(batch.map(({ packed }) => packed))]);
  }

  #settle(keys: ConversationKeys, batch: readonly Waiting[], results: readonly Reply[]): void {
    for (const [i, { request, resolve, reject }] of batch.entries()) {
      try {
        const result = parseCommitResult(results[i], request, neededRole(request));
        if (result.kind === 'committed') this.#remember(keys, bucketOf(result.stamp.conversationSeq));
        resolve(result);
      } catch (error) {
        reject(error);
      }
    }
  }

  #remember(keys: ConversationKeys, bucket: number): void {
    this.#buckets.delete(keys.facts);
    this.#buckets.set(keys.facts, bucket);
    if (this.#buckets.size <= COMMIT_HINTS_MAX) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}

/** How many of the first ones go in one call. */
function batchLength(waiting: readonly Waiting[]): number {
  let bytes = 0;
  for (const [i, entry] of waiting.entries()) {
    bytes += entry.bytes;
    if (i === COMMIT_BATCH_MAX || (i > 0 && bytes > COMMIT_BATCH_BYTES_MAX)) return i;
  }
  return waiting.length;
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

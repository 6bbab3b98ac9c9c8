/**
 * What waits for one conversation, in the order of its callers. What the next call takes is encoded already; what comes
 * behind it is not before its turn, so that a crowd does not keep the server waiting for the encoding of all.
 */
import { COMMIT_BATCH_BYTES_MAX, COMMIT_BATCH_MAX } from '@qim/proto';
import type { CommitRequest } from '../message/message-store.js';
import { type CommitArguments, commitArguments } from './commit-arguments.js';
import type { CommitResult } from './commit-results.js';
import type { ConversationKeys, ConversationPlace } from './keys.js';

export interface Waiting {
  readonly request: CommitRequest;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

export interface Encoded extends Waiting, CommitArguments {}

/** What one call takes of a lane. */
export interface Part {
  readonly lane: CommitLane;
  readonly batch: readonly Encoded[];
  /** Of all records and bodies. */
  readonly bytes: number;
}

export class CommitLane {
  readonly place: ConversationPlace;
  readonly keys: ConversationKeys;
  #waiting: Waiting[] = [];
  /** For the next call: encoded, at most COMMIT_BATCH_MAX and COMMIT_BATCH_BYTES_MAX, but at least one. */
  #next: Encoded[] = [];
  #nextBytes = 0;
  /** Encoded, and one too many for the next call. */
  #left: Encoded | undefined;
  #underWay: Part | undefined;

  constructor(place: ConversationPlace, keys: ConversationKeys) {
    this.place = place;
    this.keys = keys;
  }

  get length(): number {
    return this.#next.length + (this.#left === undefined ? 0 : 1) + this.#waiting.length;
  }

  /** Nothing that comes can go in the next call. */
  get isFull(): boolean {
    return this.#next.length === COMMIT_BATCH_MAX || this.#left !== undefined;
  }

  push(entry: Waiting): void {
    this.#waiting.push(entry);
    this.encodeNext();
  }

  /** Empty when nothing of what waits can be encoded. */
  take(): Part {
    this.encodeNext();
    const part = { lane: this, batch: this.#next, bytes: this.#nextBytes };
    const left = this.#left;
    this.#next = left === undefined ? [] : [left];
    this.#nextBytes = left?.bytes ?? 0;
    this.#left = undefined;
    this.#underWay = part;
    return part;
  }

  /** What was taken last, and has not ended. */
  isUnderWay(part: Part): boolean {
    return this.#underWay === part;
  }

  ended(): void {
    this.#underWay = undefined;
  }

  /** Encodes what else the next call takes. */
  encodeNext(): void {
    let encoded = 0;
    for (; encoded < this.#waiting.length && !this.isFull; encoded += 1) this.#encode(this.#waiting[encoded]);
    if (encoded > 0) this.#waiting = this.#waiting.slice(encoded);
  }

  /** One that cannot be encoded is its own caller's fault alone. */
  #encode(entry: Waiting | undefined): void {
    if (entry === undefined) return;
    try {
      this.#join({ ...entry, ...commitArguments(entry.request) });
    } catch (error) {
      entry.reject(error);
    }
  }

  #join(entry: Encoded): void {
    if (this.#next.length > 0 && this.#nextBytes + entry.bytes > COMMIT_BATCH_BYTES_MAX) this.#left = entry;
    else {
      this.#next.push(entry);
      this.#nextBytes += entry.bytes;
    }
  }
}

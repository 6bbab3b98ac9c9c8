/**
 * Reading of the outbox streams on a connection of its own, which may wait there without holding up anything else.
 *
 * The consumer group has one constant consumer, so what one owner read and did not acknowledge is pending for the next.
 * For each lease the reader keeps a place: first it goes through what is pending, then it takes what is new. An entry
 * can become pending without having been handed out: a reply was lost, or a former owner read once more after its lease.
 * So the pending ones are gone through again after a failed read, and whenever an idle read finds more of them than are
 * in the owner's hands. What is read under a lease that does not stand any more is not handed out.
 */
import { OUTBOX_BATCH_MAX } from '@qim/proto';
import { ErrorReply } from 'redis';
import { unavailable } from '../errors.js';
import type { OutboxLease } from '../outbox/outbox.js';
import { type Command, type RedisConnection, type Reply, replyCode } from './connection.js';
import type { RedisContext } from './context.js';
import { fieldsOf, type StoredEntry } from './outbox-entry.js';
import { createGroups, OUTBOX_GROUP } from './outbox-groups.js';
import { asArray, asNumber, asOptionalText, asText, rightTypeOf } from './replies.js';

const rightType = rightTypeOf('the outbox');
const CONSUMER = 'qim';
/** Before every entry. */
const FIRST = '0-0';
const NEW = '>';
/** One is enough unless it overtakes the read; a connection that hangs fails by its own timeout. */
const UNBLOCK_TRIES_MAX = 100;

interface Place {
  readonly lease: OutboxLease;
  readonly stream: string;
  /** The last pending entry that was gone through; undefined: all were, and new ones are read. */
  pendingAfter: string | undefined;
  /** Handed out, and neither acknowledged nor set aside. */
  readonly inHand: Set<string>;
}

export class OutboxReader {
  readonly #connection: RedisConnection;
  readonly #context: RedisContext;
  readonly #places = new Map<number, Place>();
  #reading: Promise<unknown> = Promise.resolve();

  /** `connection`: where it waits. Others than that of the context, which ends the wait. */
  constructor(connection: RedisConnection, context: RedisContext) {
    this.#connection = connection;
    this.#context = context;
  }

  /** Reads follow one another: a second one waits for the first. @throws StoreUnavailable */
  read(leases: readonly OutboxLease[], waitMs: number, signal: AbortSignal): Promise<readonly StoredEntry[]> {
    const turn = this.#reading.then(() => this.#readNow(leases, waitMs, signal));
    this.#reading = turn.catch(() => {});
    return turn;
  }

  /** These entries are gone from the stream. */
  settled({ partition, token }: OutboxLease, entryIds: readonly string[]): void {
    const place = this.#places.get(partition);
    if (place?.lease.token === token) for (const id of entryIds) place.inHand.delete(id);
  }

  async #readNow(leases: readonly OutboxLease[], waitMs: number, signal: AbortSignal): Promise<readonly StoredEntry[]> {
    if (leases.length === 0) return [];
    let places = leases.map((lease) => this.#placeOf(lease));
    try {
      while (!signal.aborted && places.length > 0) {
        // Redis does not wait when one of the streams is asked for pending entries.
        const pending = places.some((place) => place.pendingAfter !== undefined);
        const { standing, reply } = await this.#readOnce(places, pending ? 0 : waitMs, signal);
        const entries = take(standing, reply);
        if (entries.length > 0) return entries;
        places = standing;
        if (!pending && !(await this.#findLost(places))) return [];
      }
      return [];
    } catch (error) {
      for (const place of places) place.pendingAfter = FIRST;
      throw error;
    }
  }

  #placeOf(lease: OutboxLease): Place {
    const known = this.#places.get(lease.partition);
    if (known?.lease.token === lease.token) return known;
    const { outbox } = this.#context.keys.outbox(lease.partition);
    const place: Place = { lease, stream: outbox, pendingAfter: FIRST, inHand: new Set() };
    this.#places.set(lease.partition, place);
    return place;
  }

  /** What the streams had, without those places whose lease did not stand after they gave something. */
  async #readOnce(places: readonly Place[], waitMs: number, signal: AbortSignal): Promise<{ standing: Place[]; reply: Reply }> {
    const streams = places.map((place) => place.stream);
    const from = places.map((place) => place.pendingAfter ?? NEW);
    const block = waitMs > 0 ? ['BLOCK', String(Math.ceil(waitMs))] : [];
    const count = ['COUNT', String(OUTBOX_BATCH_MAX)];
    const read: Command = ['XREADGROUP', 'GROUP', OUTBOX_GROUP, CONSUMER, ...count, ...block, 'STREAMS', ...streams, ...from];
    // In one write with the read, but not waiting for it: whom to wake when the signal fires.
    const clientId =
      waitMs > 0 ? this.#connection.pipeline([['CLIENT', 'ID']], { at: streams[0] ?? '' }).then(([id]) => asNumber(id)) : undefined;
    const work = this.#connection.pipeline([read], { extraMs: waitMs });
    const [reply = null] = clientId === undefined ? await work : await this.#untilAborted(work, clientId, streams[0] ?? '', signal);
    if (!(reply instanceof ErrorReply)) return { standing: await this.#standing(places, reply), reply };
    if (replyCode(reply) !== 'NOGROUP') throw unavailable('a key of the outbox has a wrong type', reply);
    await createGroups(this.#connection, streams);
    return { standing: [...places], reply: null };
  }

  /** Asks for the leases of those that gave something: of 64 partitions mostly one or two. Cost: 1, or 0 when none did. */
  async #standing(places: readonly Place[], reply: Reply): Promise<Place[]> {
    const gave = new Set(reply === null ? [] : asArray(reply).map((stream) => asText(asArray(stream)[0])));
    const asked = places.filter(({ stream }) => gave.has(stream));
    if (asked.length === 0) return [...places];
    const leases = asked.map(({ lease }): Command => ['HMGET', this.#context.keys.outbox(lease.partition).lease, 'token', 'untilMs']);
    const found = await this.#connection.pipeline([...leases, ['TIME']]);
    const nowMs = serverMs(found.at(-1)) + this.#context.clockOffsetMs();
    const fallen = new Set(asked.filter(({ lease }, i) => !stands(lease, found[i], nowMs)));
    return places.filter((place) => !fallen.has(place));
  }

  /** Once the signal fires the server is told to end the wait, again until it has: the telling may overtake the waiting. */
  async #untilAborted(
    work: Promise<readonly Reply[]>,
    clientId: Promise<number>,
    at: string,
    signal: AbortSignal,
  ): Promise<readonly Reply[]> {
    let settled = false;
    const unblock = async (): Promise<void> => {
      const id = await clientId;
      for (let tries = 0; tries < UNBLOCK_TRIES_MAX && !settled; tries += 1) {
        await this.#context.connection.pipeline([['CLIENT', 'UNBLOCK', String(id)]], { at });
      }
    };
    // When this connection is lost, so is the read, which says so.
    clientId.catch(() => {});
    const onAbort = () => void unblock().catch(() => {});
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await work;
    } finally {
      settled = true;
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Sends places back to their pending entries where there are more of these than were handed out. */
  async #findLost(places: readonly Place[]): Promise<boolean> {
    const replies = await this.#connection.pipeline(places.map(({ stream }): Command => ['XPENDING', stream, OUTBOX_GROUP]));
    let lost = false;
    for (const [i, place] of places.entries()) {
      const reply = replies[i];
      if (reply instanceof ErrorReply || asNumber(asArray(reply)[0]) <= place.inHand.size) continue;
      place.pendingAfter = FIRST;
      lost = true;
    }
    return lost;
  }
}

function stands(lease: OutboxLease, reply: Reply | undefined, nowMs: number): boolean {
  const [token, untilMs] = asArray(rightType(reply)).map(asOptionalText);
  return token === String(lease.token) && Number(untilMs) > nowMs;
}

/** The reply of TIME in Unix milliseconds. */
function serverMs(reply: Reply | undefined): number {
  const [seconds, micros] = asArray(reply).map((part) => Number(asText(part)));
  return (seconds ?? 0) * 1000 + Math.floor((micros ?? 0) / 1000);
}

function take(places: readonly Place[], reply: Reply): StoredEntry[] {
  const byStream = new Map(reply === null ? [] : asArray(reply).map(streamOf));
  const entries: StoredEntry[] = [];
  for (const place of places) {
    const found = byStream.get(place.stream) ?? [];
    if (found.length === 0) place.pendingAfter = undefined;
    for (const entry of found) {
      const [id, fields] = asArray(entry);
      const entryId = asText(id);
      if (place.pendingAfter !== undefined) place.pendingAfter = entryId;
      if (place.inHand.has(entryId)) continue;
      place.inHand.add(entryId);
      entries.push({ partition: place.lease.partition, entryId, fields: fields === null ? undefined : fieldsOf(asArray(fields)) });
    }
  }
  return entries;
}

/** [key, entries] of one stream in the reply. */
function streamOf(reply: Reply): [string, readonly Reply[]] {
  const [key, entries] = asArray(reply);
  return [asText(key), asArray(entries)];
}

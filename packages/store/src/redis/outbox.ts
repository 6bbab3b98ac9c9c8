/** The Outbox on Redis: a stream and a lease per partition. */
import { OUTBOX_POISON_MAX } from '@qim/proto';
import { parseDecimal } from '../message/decimal.js';
import type { Outbox, OutboxBatch, OutboxEntry, OutboxLease, PoisonEntry } from '../outbox/outbox.js';
import type { Argument, Reply } from './connection.js';
import type { RedisContext } from './context.js';
import { OWNERS_KEY } from './keys.js';
import { parseEntry } from './outbox-entry.js';
import { OUTBOX_GROUP } from './outbox-groups.js';
import type { OutboxReads } from './outbox-reads.js';
import { readAside, readBacklog, type StreamKeys } from './partition-streams.js';
import { asNumber, asOptionalText, rightTypeOf } from './replies.js';
import type { ScriptName } from './scripts.js';

const rightType = rightTypeOf('the outbox');

export class RedisOutbox implements Outbox {
  readonly partitionCount: number;
  readonly #context: RedisContext;
  readonly #reads: OutboxReads;

  constructor(context: RedisContext, reads: OutboxReads) {
    this.#context = context;
    this.#reads = reads;
    this.partitionCount = context.keys.partitionCount;
  }

  async announceOwner(ownerId: string, forMs: number): Promise<number> {
    return asNumber(await this.#run('outbox-owners', [OWNERS_KEY], [ownerId, String(forMs), this.#offset]));
  }

  async withdrawOwner(ownerId: string): Promise<void> {
    rightType(await this.#context.connection.call('ZREM', OWNERS_KEY, ownerId));
  }

  async acquire(partition: number, ownerId: string, leaseMs: number): Promise<OutboxLease | undefined> {
    const { lease } = this.#context.keys.outbox(partition);
    const token = asOptionalText(await this.#run('outbox-acquire', [lease], [ownerId, String(leaseMs), this.#offset]));
    return token === undefined ? undefined : { partition, token: parseDecimal(token) };
  }

  async renew({ partition, token }: OutboxLease, leaseMs: number): Promise<boolean> {
    const { lease } = this.#context.keys.outbox(partition);
    const stands = (await this.#run('outbox-renew', [lease], [String(token), String(leaseMs), this.#offset])) === 1;
    if (!stands) await this.#reads.ended({ partition, token });
    return stands;
  }

  async release({ partition, token }: OutboxLease): Promise<void> {
    await this.#reads.ended({ partition, token });
    const { lease } = this.#context.keys.outbox(partition);
    await this.#run('outbox-release', [lease], [String(token)]);
  }

  async read(leases: readonly OutboxLease[], waitMs: number, signal: AbortSignal): Promise<OutboxBatch> {
    const stored = await this.#reads.read(leases, waitMs, signal);
    const entries: OutboxEntry[] = [];
    const poison: { partition: number; entryId: string; reason: string }[] = [];
    for (const entry of stored) {
      const parsed = parseEntry(entry);
      if (typeof parsed !== 'string') entries.push(parsed);
      else poison.push({ partition: entry.partition, entryId: entry.entryId, reason: parsed });
    }
    return { entries, poison };
  }

  async acknowledge({ partition, token }: OutboxLease, entryIds: readonly string[]): Promise<boolean> {
    if (entryIds.length === 0) return true;
    const { lease, outbox } = this.#context.keys.outbox(partition);
    const removed =
      (await this.#run('outbox-acknowledge', [lease, outbox], [String(token), this.#offset, OUTBOX_GROUP, ...entryIds])) === 1;
    if (removed) this.#reads.settled({ partition, token }, entryIds);
    return removed;
  }

  async setAside({ partition, token }: OutboxLease, entryId: string, reason: string): Promise<boolean> {
    const { lease, outbox, poison } = this.#context.keys.outbox(partition);
    const args = [String(token), this.#offset, OUTBOX_GROUP, entryId, reason, String(OUTBOX_POISON_MAX)];
    const moved = (await this.#run('outbox-set-aside', [lease, outbox, poison], args)) === 1;
    if (moved) this.#reads.settled({ partition, token }, [entryId]);
    return moved;
  }

  poison(limit: number): Promise<readonly PoisonEntry[]> {
    return readAside(this.#context.connection, this.#streams, limit, rightType);
  }

  async backlog(): Promise<{ readonly entries: number; readonly oldestMs: number; readonly poison: number }> {
    const { waiting: entries, oldestMs, aside: poison } = await readBacklog(this.#context.connection, this.#streams, rightType);
    return { entries, oldestMs, poison };
  }

  /** Ends the waits and their connections. */
  close(): void {
    this.#reads.close();
  }

  get #streams(): readonly StreamKeys[] {
    return this.#context.keys.outboxes().map(({ outbox, poison }) => ({ waiting: outbox, aside: poison }));
  }

  get #offset(): string {
    return String(this.#context.clockOffsetMs());
  }

  async #run(name: ScriptName, keys: readonly string[], args: readonly Argument[]): Promise<Reply> {
    return rightType(await this.#context.scripts.run(name, keys, args));
  }
}

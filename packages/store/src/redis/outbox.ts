/** The Outbox on Redis: a stream and a lease per partition. */
import { OUTBOX_POISON_MAX } from '@qim/proto';
import { unavailable } from '../errors.js';
import { parseDecimal } from '../message/decimal.js';
import type { Outbox, OutboxBatch, OutboxEntry, OutboxLease, PoisonEntry } from '../outbox/outbox.js';
import { type Argument, type Command, isWrongType, type Reply } from './connection.js';
import type { RedisContext } from './context.js';
import { OWNERS_KEY } from './keys.js';
import { parseEntry, poisonFrom, writtenAt } from './outbox-entry.js';
import { OUTBOX_GROUP } from './outbox-groups.js';
import type { OutboxReads } from './outbox-reads.js';
import { asArray, asNumber, asOptionalText, asText } from './replies.js';
import type { ScriptName } from './scripts.js';

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

  async poison(limit: number): Promise<readonly PoisonEntry[]> {
    const { keys, connection } = this.#context;
    const partitions = Array.from({ length: this.partitionCount }, (_, partition) => partition);
    const newest = partitions.map((each): Command => ['XREVRANGE', keys.outbox(each).poison, '+', '-', 'COUNT', String(limit)]);
    const replies = (await connection.pipeline(newest)).map(rightType);
    return replies.flatMap((reply, partition) => asArray(reply).map((entry) => poisonFrom(partition, entry))).slice(0, limit);
  }

  async backlog(): Promise<{ readonly entries: number; readonly oldestMs: number; readonly poison: number }> {
    const { keys, connection } = this.#context;
    const commands: Command[] = [['TIME']];
    for (let partition = 0; partition < this.partitionCount; partition += 1) {
      const { outbox, poison } = keys.outbox(partition);
      commands.push(['XLEN', outbox], ['XLEN', poison], ['XRANGE', outbox, '-', '+', 'COUNT', '1']);
    }
    const [time, ...replies] = (await connection.pipeline(commands)).map(rightType);
    const nowMs = Number(asText(asArray(time)[0])) * 1000;
    let [entries, poison, oldestMs] = [0, 0, 0];
    for (let i = 0; i < replies.length; i += 3) {
      entries += asNumber(replies[i]);
      poison += asNumber(replies[i + 1]);
      const [oldest] = asArray(replies[i + 2]);
      if (oldest !== undefined) oldestMs = Math.max(oldestMs, nowMs - writtenAt(asText(asArray(oldest)[0])));
    }
    return { entries, oldestMs, poison };
  }

  /** Ends the waits and their connections. */
  close(): void {
    this.#reads.close();
  }

  get #offset(): string {
    return String(this.#context.clockOffsetMs());
  }

  async #run(name: ScriptName, keys: readonly string[], args: readonly Argument[]): Promise<Reply> {
    return rightType(await this.#context.scripts.run(name, keys, args));
  }
}

function rightType(reply: Reply): Reply {
  if (isWrongType(reply)) throw unavailable('a key of the outbox has a wrong type', reply);
  return reply;
}

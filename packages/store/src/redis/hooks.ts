/** The queue of the webhook on Redis: a stream per partition, whose entries have the ids that they had in the outbox. */
import { OUTBOX_POISON_MAX } from '@qim/proto';
import { unavailable } from '../errors.js';
import { type HookBatch, type HookJob, type HookQueue, QUEUE_FULL } from '../hooks/hook-queue.js';
import type { OutboxEntry, OutboxLease, PoisonEntry } from '../outbox/outbox.js';
import { type Command, isWrongType, type Reply } from './connection.js';
import type { RedisContext } from './context.js';
import { fieldsOf, parseEntry, poisonFrom, writtenAt } from './outbox-entry.js';
import { asArray, asNumber, asText } from './replies.js';

export class RedisHooks implements HookQueue {
  readonly #context: RedisContext;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  async append({ partition, token }: OutboxLease, entries: readonly OutboxEntry[], keep: number): Promise<boolean> {
    if (entries.length === 0) return true;
    const { lease, hooks, deadHooks } = this.#keys(partition);
    const given = entries.flatMap((entry) => [
      entry.entryId,
      entry.kind,
      String(entry.tenantId),
      entry.conversationId,
      String(entry.conversationSeq),
    ]);
    const args = [String(token), this.#offset, String(keep), String(OUTBOX_POISON_MAX), QUEUE_FULL, ...given];
    return rightType(await this.#context.scripts.run('hooks-append', [lease, hooks, deadHooks], args)) === 1;
  }

  async read(partition: number, after: string | undefined, limit: number): Promise<HookBatch> {
    const from = after === undefined ? '-' : `(${after}`;
    const reply = rightType(await this.#context.connection.call('XRANGE', this.#keys(partition).hooks, from, '+', 'COUNT', String(limit)));
    const jobs: HookJob[] = [];
    const poison: { entryId: string; reason: string }[] = [];
    let last: string | undefined;
    for (const entry of asArray(reply)) {
      const [id, stored] = asArray(entry);
      last = asText(id);
      const parsed = parseEntry({ partition, entryId: last, fields: fieldsOf(asArray(stored)) });
      if (typeof parsed === 'string') poison.push({ entryId: last, reason: parsed });
      else jobs.push({ ...parsed, committedAtMs: writtenAt(last) });
    }
    return { jobs, poison, last };
  }

  remove(lease: OutboxLease, entryIds: readonly string[]): Promise<boolean> {
    return this.#remove(lease, entryIds, '');
  }

  setAside(lease: OutboxLease, entryId: string, reason: string): Promise<boolean> {
    return this.#remove(lease, [entryId], reason);
  }

  async dead(limit: number): Promise<readonly PoisonEntry[]> {
    const newest = this.#partitions().map((each): Command => ['XREVRANGE', this.#keys(each).deadHooks, '+', '-', 'COUNT', String(limit)]);
    const replies = (await this.#context.connection.pipeline(newest)).map(rightType);
    return replies.flatMap((reply, partition) => asArray(reply).map((entry) => poisonFrom(partition, entry))).slice(0, limit);
  }

  async backlog(): Promise<{ readonly waiting: number; readonly oldestMs: number; readonly dead: number }> {
    const commands = this.#partitions().flatMap((partition): Command[] => {
      const { hooks, deadHooks } = this.#keys(partition);
      return [
        ['XLEN', hooks],
        ['XLEN', deadHooks],
        ['XRANGE', hooks, '-', '+', 'COUNT', '1'],
      ];
    });
    const [time, ...replies] = (await this.#context.connection.pipeline([['TIME'], ...commands])).map(rightType);
    const nowMs = Number(asText(asArray(time)[0])) * 1000;
    let [waiting, dead, oldestMs] = [0, 0, 0];
    for (let i = 0; i < replies.length; i += 3) {
      waiting += asNumber(replies[i]);
      dead += asNumber(replies[i + 1]);
      const [oldest] = asArray(replies[i + 2]);
      if (oldest !== undefined) oldestMs = Math.max(oldestMs, nowMs - writtenAt(asText(asArray(oldest)[0])));
    }
    return { waiting, oldestMs, dead };
  }

  async #remove({ partition, token }: OutboxLease, entryIds: readonly string[], reason: string): Promise<boolean> {
    if (entryIds.length === 0) return true;
    const { lease, hooks, deadHooks } = this.#keys(partition);
    const args = [String(token), this.#offset, String(OUTBOX_POISON_MAX), reason, ...entryIds];
    return rightType(await this.#context.scripts.run('hooks-remove', [lease, hooks, deadHooks], args)) === 1;
  }

  #partitions(): number[] {
    return Array.from({ length: this.#context.keys.partitionCount }, (_, partition) => partition);
  }

  #keys(partition: number) {
    return this.#context.keys.outbox(partition);
  }

  get #offset(): string {
    return String(this.#context.clockOffsetMs());
  }
}

function rightType(reply: Reply): Reply {
  if (isWrongType(reply)) throw unavailable('a key of the webhook has a wrong type', reply);
  return reply;
}

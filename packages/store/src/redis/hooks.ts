/** The queue of the webhook on Redis: a stream per partition, whose entries have the ids that they had in the outbox. */
import { OUTBOX_POISON_MAX } from '@qim/proto';
import { type HookBatch, type HookJob, type HookQueue, QUEUE_FULL } from '../hooks/hook-queue.js';
import type { OutboxEntry, OutboxLease, PoisonEntry } from '../outbox/outbox.js';
import type { RedisContext } from './context.js';
import { fieldsOf, parseEntry, writtenAt } from './outbox-entry.js';
import { readAside, readBacklog, type StreamKeys } from './partition-streams.js';
import { asArray, asText, rightTypeOf } from './replies.js';

const rightType = rightTypeOf('the webhook');

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

  dead(limit: number): Promise<readonly PoisonEntry[]> {
    return readAside(this.#context.connection, this.#streams, limit, rightType);
  }

  async backlog(): Promise<{ readonly waiting: number; readonly oldestMs: number; readonly dead: number }> {
    const { aside: dead, ...rest } = await readBacklog(this.#context.connection, this.#streams, rightType);
    return { ...rest, dead };
  }

  async #remove({ partition, token }: OutboxLease, entryIds: readonly string[], reason: string): Promise<boolean> {
    if (entryIds.length === 0) return true;
    const { lease, hooks, deadHooks } = this.#keys(partition);
    const args = [String(token), this.#offset, String(OUTBOX_POISON_MAX), reason, ...entryIds];
    return rightType(await this.#context.scripts.run('hooks-remove', [lease, hooks, deadHooks], args)) === 1;
  }

  get #streams(): readonly StreamKeys[] {
    return this.#context.keys.outboxes().map(({ hooks, deadHooks }) => ({ waiting: hooks, aside: deadHooks }));
  }

  #keys(partition: number) {
    return this.#context.keys.outbox(partition);
  }

  get #offset(): string {
    return String(this.#context.clockOffsetMs());
  }
}

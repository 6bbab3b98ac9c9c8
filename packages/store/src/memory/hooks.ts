/** The queue of the webhook in the reference model: a list for each partition. */
import type { HookJob, HookQueue } from '../hooks/hook-queue.js';
import { QUEUE_FULL } from '../hooks/hook-queue.js';
import type { PoisonEntry } from '../outbox/outbox.js';
import { aboutOf, owned } from './outbox.js';
import type { MemoryState } from './state.js';

interface Queue {
  jobs: HookJob[];
  /** Number of the newest entry that was ever added. */
  through: number;
  dead: PoisonEntry[];
}

export function memoryHooks(state: MemoryState): HookQueue {
  const queues: readonly Queue[] = state.partitions.map(() => ({ jobs: [], through: 0, dead: [] }));
  const queueAt = (partition: number): Queue => queues[partition] ?? { jobs: [], through: 0, dead: [] };

  function bury(partition: number, entryId: string, reason: string): void {
    const queue = queueAt(partition);
    const about = aboutOf(queue.jobs.find((job) => job.entryId === entryId));
    queue.jobs = queue.jobs.filter((job) => job.entryId !== entryId);
    queue.dead.unshift({ partition, entryId, reason, setAsideAtMs: state.now(), about });
  }

  return {
    async append(lease, entries, keep) {
      const partition = owned(state, lease);
      if (partition === undefined) return false;
      const queue = queueAt(lease.partition);
      for (const entry of entries) {
        if (Number(entry.entryId) <= queue.through) continue;
        queue.through = Number(entry.entryId);
        const committedAtMs = partition.entries.find((each) => each.entry.entryId === entry.entryId)?.atMs ?? state.now();
        queue.jobs.push({ ...entry, committedAtMs });
      }
      for (const { entryId } of queue.jobs.slice(0, Math.max(0, queue.jobs.length - keep))) bury(lease.partition, entryId, QUEUE_FULL);
      return true;
    },

    async read(partition, after, limit) {
      const { jobs } = queueAt(partition);
      const next = jobs.filter(({ entryId }) => Number(entryId) > Number(after ?? 0)).slice(0, limit);
      return { jobs: next, poison: [], last: next.at(-1)?.entryId };
    },

    async remove(lease, entryIds) {
      if (owned(state, lease) === undefined) return false;
      const queue = queueAt(lease.partition);
      queue.jobs = queue.jobs.filter(({ entryId }) => !entryIds.includes(entryId));
      return true;
    },

    async setAside(lease, entryId, reason) {
      if (owned(state, lease) === undefined) return false;
      bury(lease.partition, entryId, reason);
      return true;
    },

    async dead(limit) {
      return queues.flatMap(({ dead }) => dead).slice(0, limit);
    },

    async backlog() {
      const jobs = queues.flatMap((queue) => queue.jobs);
      const oldest = Math.min(...jobs.map(({ committedAtMs }) => committedAtMs));
      const dead = queues.reduce((sum, queue) => sum + queue.dead.length, 0);
      return { waiting: jobs.length, oldestMs: jobs.length === 0 ? 0 : Math.max(0, state.now() - oldest), dead };
    },
  };
}

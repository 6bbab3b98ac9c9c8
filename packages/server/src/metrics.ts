/**
 * What a server counts. One registry for each server: two in one process do not meet. Label values come from closed lists
 * (methods of the schema, error codes, close codes, damage reasons), so that no caller can make new series.
 */
import type { CorruptReason, ErrorCode, MethodName } from '@qim/proto';
import type { HookAnswer, HookKind, WebPushOutcome } from '@qim/push';
import type { Outbox, OutboxKind, Store } from '@qim/store';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { RetentionObserver } from './retention/sweep.js';

export interface Metrics extends RetentionObserver {
  connectionOpened(): void;
  connectionClosed(closeCode: number): void;
  callEnded(method: MethodName, outcome: 'ok' | ErrorCode, seconds: number): void;
  eventSent(): void;
  slowConsumer(): void;
  /** `seconds`: until it was as durable as the store makes it. */
  committed(seconds: number): void;
  damage(reason: CorruptReason): void;
  redo(): void;
  roundTrip(): void;
  takeOver(kind: 'noted' | 'risen'): void;
  entryDelivered(kind: OutboxKind, lagMs: number | undefined): void;
  entrySetAside(): void;
  deliveryDeferred(): void;
  leaseLost(): void;
  partitionsHeld(count: number): void;
  eventMalformed(): void;
  eventsInterrupted(): void;
  announcementLost(): void;
  hookTold(kind: HookKind, outcome: HookAnswer['outcome']): void;
  hookDead(): void;
  webPushSent(outcome: WebPushOutcome | 'givenUp'): void;
  beforeSendAsked(outcome: 'allowed' | 'denied' | 'failed'): void;
  /**
   * The exposition; outbox and webhook's queue are asked now. One that does not answer leaves its gauges out. `hooks` undefined: there
   * is no webhook.
   */
  expose(
    outbox: Pick<Outbox, 'backlog'>,
    hooks?: Pick<Store['hooks'], 'backlog'>,
  ): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Calls take from a fraction of a millisecond (embedded) to the store's timeout. Seconds. */
const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** From the commit to the devices. Seconds. */
const LAG_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300];

/** The protocol's own close codes and ours; a peer may send any other of 1000-4999. */
function closeLabel(code: number): string {
  return (code >= 1000 && code <= 1015) || [4400, 4401, 4413, 4500, 4503, 4508, 4509].includes(code) ? String(code) : 'other';
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) => new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  collectDefaultMetrics({ register: registry });

  const connections = gauge('qim_connections', 'WebSocket connections open now');
  const closed = counter('qim_connections_closed_total', 'WebSocket connections closed, by close code', ['code']);
  const calls = new Histogram({
    name: 'qim_call_seconds',
    help: 'Calls by method and outcome (ok or the error code), and how long they took',
    labelNames: ['method', 'outcome'],
    buckets: CALL_SECONDS,
    registers,
  });
  const deliveries = counter('qim_deliveries_total', 'Events sent to connected devices');
  const slow = counter('qim_slow_consumers_total', 'Connections closed because the device read too slowly');
  const backlog = {
    entries: gauge('qim_outbox_entries', 'Outbox entries waiting for delivery'),
    oldest: gauge('qim_outbox_oldest_seconds', 'How long the oldest of them has waited'),
    poison: gauge('qim_outbox_poison', 'Outbox entries that lie set aside'),
    untold: gauge('qim_webhook_waiting', 'Events that the webhook is still to be told'),
    untoldOldest: gauge('qim_webhook_oldest_seconds', 'How long the oldest of them has waited'),
  };

  return {
    connectionOpened: () => connections.inc(),
    connectionClosed: (code) => {
      connections.dec();
      closed.inc({ code: closeLabel(code) });
    },
    callEnded: (method, outcome, seconds) => calls.observe({ method, outcome }, seconds),
    eventSent: () => deliveries.inc(),
    slowConsumer: () => slow.inc(),
    ...storeCounters(counter, registers),
    ...pushCounters(counter, registers),
    ...sharingCounters(counter, gauge),
    ...retentionCounters(counter),
    ...webhookCounters(counter),
    expose: async (outbox, hooks) => {
      await Promise.all([showBacklog(backlog, outbox), showUntold(backlog, hooks)]);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

type MakeCounter = (name: string, help: string, labelNames?: string[]) => Counter;
type StoreCounters = Pick<Metrics, 'committed' | 'damage' | 'redo' | 'roundTrip' | 'takeOver'>;
type PushCounters = Pick<Metrics, 'entryDelivered' | 'entrySetAside' | 'deliveryDeferred' | 'leaseLost'>;

function storeCounters(counter: MakeCounter, registers: Registry[]): StoreCounters {
  const commits = counter('qim_commits_total', 'Messages committed; duplicates are not among them');
  const commitSeconds = new Histogram({
    name: 'qim_commit_seconds',
    help: 'Time that the store took to commit a message, until it was durable by its own setting',
    buckets: CALL_SECONDS,
    registers,
  });
  const damage = counter('qim_damage_total', 'Damage met in stored data, by reason; any is a reason to look', ['reason']);
  const redo = counter('qim_redo_total', 'Conversations read once more before they were called broken, or for another floor');
  const takeOvers = counter('qim_store_take_overs_total', 'Partitions whose writes another server takes now, by what became of the epoch', [
    'kind',
  ]);
  const roundTrips = counter('qim_store_round_trips_total', 'Flushes to the store');
  return {
    committed: (seconds) => {
      commits.inc();
      commitSeconds.observe(seconds);
    },
    damage: (reason) => damage.inc({ reason }),
    redo: () => redo.inc(),
    roundTrip: () => roundTrips.inc(),
    takeOver: (kind) => takeOvers.inc({ kind }),
  };
}

function pushCounters(counter: MakeCounter, registers: Registry[]): PushCounters {
  const entries = counter('qim_push_entries_total', 'Outbox entries handed on, by kind', ['kind']);
  const lag = new Histogram({
    name: 'qim_push_lag_seconds',
    help: 'Time from the commit of a message to its handing on to devices',
    buckets: LAG_SECONDS,
    registers,
  });
  const deferred = counter('qim_push_deferred_total', 'Passes over a partition that left entries to try again');
  const leasesLost = counter('qim_push_leases_lost_total', 'Partitions that another process took over from this one');
  const setAside = counter('qim_push_set_aside_total', 'Outbox entries that could not be handled and were set aside');
  return {
    entryDelivered: (kind, lagMs) => {
      entries.inc({ kind });
      if (lagMs !== undefined) lag.observe(Math.max(0, lagMs) / 1_000);
    },
    entrySetAside: () => setAside.inc(),
    deliveryDeferred: () => deferred.inc(),
    leaseLost: () => leasesLost.inc(),
  };
}

type SharingObserver = Pick<Metrics, 'partitionsHeld' | 'eventMalformed' | 'eventsInterrupted' | 'announcementLost'>;

function sharingCounters(counter: (name: string, help: string) => Counter, gauge: (name: string, help: string) => Gauge): SharingObserver {
  const held = gauge('qim_push_partitions', 'Partitions of the outbox that this process follows now');
  const malformed = counter('qim_bus_malformed_total', 'Messages of other processes that were no events, and were dropped');
  const interrupted = counter('qim_bus_interruptions_total', 'Times that events of other processes may have been lost');
  const lost = counter('qim_bus_announcements_lost_total', 'Hints such as read marks that did not reach the other processes');
  return {
    partitionsHeld: (count) => held.set(count),
    eventMalformed: () => malformed.inc(),
    eventsInterrupted: () => interrupted.inc(),
    announcementLost: () => lost.inc(),
  };
}

function retentionCounters(counter: (name: string, help: string) => Counter): RetentionObserver {
  const removed = counter('qim_retention_removed_total', 'Records that retention removed');
  const failed = counter('qim_retention_failures_total', 'Conversations, or looks for them, that a sweep had to leave for the next one');
  const swept = counter('qim_retention_sweeps_total', 'Times that all conversations were looked at');
  return {
    retentionRemoved: (records) => removed.inc(records),
    retentionFailed: () => failed.inc(),
    retentionSwept: () => swept.inc(),
  };
}

function webhookCounters(counter: (name: string, help: string, labels: string[]) => Counter) {
  const told = counter('qim_webhook_calls_total', 'Calls to the webhook, by event and what became of them', ['event', 'outcome']);
  const dead = counter('qim_webhook_dead_letters_total', 'Events that the webhook did not take and was given up on', []);
  const pushed = counter('qim_web_push_total', 'Notifications to browsers, by what became of a try; givenUp: of a message', ['outcome']);
  const asked = counter('qim_before_send_total', 'Messages that the before-send webhook was asked about, by its answer', ['outcome']);
  return {
    hookTold: (event: HookKind, outcome: HookAnswer['outcome']) => told.inc({ event, outcome }),
    hookDead: () => dead.inc(),
    webPushSent: (outcome: WebPushOutcome | 'givenUp') => pushed.inc({ outcome }),
    beforeSendAsked: (outcome: 'allowed' | 'denied' | 'failed') => asked.inc({ outcome }),
  };
}

interface BacklogGauges {
  readonly entries: Gauge;
  readonly oldest: Gauge;
  readonly poison: Gauge;
  readonly untold: Gauge;
  readonly untoldOldest: Gauge;
}

async function showBacklog(gauges: BacklogGauges, outbox: Pick<Outbox, 'backlog'>): Promise<void> {
  const waiting = await outbox.backlog().catch(() => undefined);
  if (waiting === undefined) {
    // No number at all: a stale one would look like a quiet outbox.
    for (const gauge of [gauges.entries, gauges.oldest, gauges.poison]) gauge.remove();
    return;
  }
  gauges.entries.set(waiting.entries);
  gauges.oldest.set(waiting.oldestMs / 1_000);
  gauges.poison.set(waiting.poison);
}

async function showUntold({ untold, untoldOldest }: BacklogGauges, hooks: Pick<Store['hooks'], 'backlog'> | undefined): Promise<void> {
  const queue = await hooks?.backlog().catch(() => undefined);
  if (queue === undefined) {
    for (const gauge of [untold, untoldOldest]) gauge.remove();
    return;
  }
  untold.set(queue.waiting);
  untoldOldest.set(queue.oldestMs / 1_000);
}

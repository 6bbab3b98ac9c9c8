import { expect, test } from 'vitest';
import { createMetrics } from '../src/metrics.js';

const quiet = { backlog: async () => ({ entries: 0, oldestMs: 0, poison: 0 }) };

async function lines(metrics: ReturnType<typeof createMetrics>, outbox = quiet): Promise<readonly string[]> {
  const { contentType, text } = await metrics.expose(outbox);
  expect(contentType).toContain('text/plain');
  return text.split('\n').filter((line) => line.startsWith('qim_'));
}

test('each thing that is told is counted under its name', async () => {
  const metrics = createMetrics();
  metrics.connectionOpened();
  metrics.connectionOpened();
  metrics.connectionClosed(4508);
  metrics.callEnded('qim.v1.MessageService/SendMessage', 'ok', 0.004);
  metrics.callEnded('qim.v1.MessageService/SendMessage', 'NotMember', 0.2);
  metrics.damage('recordMissing');
  metrics.entryDelivered('committed', 30);
  metrics.entryDelivered('amended', undefined);
  metrics.committed(0.003);
  const { redo, roundTrip, eventSent, slowConsumer, entrySetAside, deliveryDeferred, leaseLost } = metrics;
  for (const count of [redo, roundTrip, eventSent, slowConsumer, entrySetAside, deliveryDeferred, leaseLost]) count();
  metrics.retentionRemoved(40);
  metrics.retentionRemoved(2);
  for (const count of [metrics.retentionFailed, metrics.retentionSwept]) count();
  metrics.partitionsHeld(22);
  for (const count of [metrics.eventMalformed, metrics.eventsInterrupted, metrics.announcementLost]) count();
  const told = await lines(metrics, { backlog: async () => ({ entries: 3, oldestMs: 1_500, poison: 2 }) });
  for (const line of [
    'qim_connections 1',
    'qim_connections_closed_total{code="4508"} 1',
    'qim_call_seconds_count{method="qim.v1.MessageService/SendMessage",outcome="ok"} 1',
    'qim_call_seconds_bucket{le="0.0025",method="qim.v1.MessageService/SendMessage",outcome="ok"} 0',
    'qim_call_seconds_bucket{le="0.005",method="qim.v1.MessageService/SendMessage",outcome="ok"} 1',
    'qim_call_seconds_count{method="qim.v1.MessageService/SendMessage",outcome="NotMember"} 1',
    'qim_damage_total{reason="recordMissing"} 1',
    'qim_commits_total 1',
    'qim_commit_seconds_bucket{le="0.0025"} 0',
    'qim_commit_seconds_bucket{le="0.005"} 1',
    'qim_redo_total 1',
    'qim_store_round_trips_total 1',
    'qim_deliveries_total 1',
    'qim_slow_consumers_total 1',
    'qim_push_set_aside_total 1',
    'qim_push_entries_total{kind="amended"} 1',
    'qim_push_lag_seconds_count 1',
    'qim_push_lag_seconds_bucket{le="0.025"} 0',
    'qim_push_lag_seconds_bucket{le="0.05"} 1',
    'qim_push_deferred_total 1',
    'qim_push_leases_lost_total 1',
    'qim_push_partitions 22',
    'qim_bus_malformed_total 1',
    'qim_bus_interruptions_total 1',
    'qim_bus_announcements_lost_total 1',
    'qim_retention_removed_total 42',
    'qim_retention_failures_total 1',
    'qim_retention_sweeps_total 1',
    'qim_outbox_entries 3',
    'qim_outbox_oldest_seconds 1.5',
    'qim_outbox_poison 2',
  ]) {
    expect(told).toContain(line);
  }
});

test('a close code of a peer makes no series of its own', async () => {
  const metrics = createMetrics();
  for (const code of [3000, 4999, 1016]) metrics.connectionClosed(code);
  expect(await lines(metrics)).toContain('qim_connections_closed_total{code="other"} 3');
});

test('an outbox that does not answer shows no number, and the rest is shown', async () => {
  const metrics = createMetrics();
  expect(await lines(metrics)).toContain('qim_outbox_entries 0');
  const told = await lines(metrics, { backlog: () => Promise.reject(new Error('away')) });
  expect(told.filter((line) => line.startsWith('qim_outbox'))).toEqual([]);
  expect(told).toContain('qim_commits_total 0');
});

test('the queue of the webhook is shown where there is one, and not as a number when it does not answer', async () => {
  const metrics = createMetrics();
  const untold = async (hooks: Parameters<typeof metrics.expose>[1]) => {
    const { text } = await metrics.expose(quiet, hooks);
    return text.split('\n').filter((line) => line.startsWith('qim_webhook_waiting') || line.startsWith('qim_webhook_oldest'));
  };
  expect(await untold({ backlog: async () => ({ waiting: 4, oldestMs: 2_500, dead: 0 }) })).toEqual([
    'qim_webhook_waiting 4',
    'qim_webhook_oldest_seconds 2.5',
  ]);
  expect(await untold({ backlog: () => Promise.reject(new Error('away')) })).toEqual([]);
  expect(await untold(undefined)).toEqual([]);
});

test('two servers in one process do not count together', async () => {
  const [one, two] = [createMetrics(), createMetrics()];
  one.committed(0.1);
  expect(await lines(two)).toContain('qim_commits_total 0');
});

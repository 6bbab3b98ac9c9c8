/** The delivery side put together: leases, the loop that follows the outbox, and the bus to the devices. */
import { setMaxListeners } from 'node:events';
import { assert, OUTBOX_LEASE_MS } from '@qim/proto';
import type { EventSink, Push } from './contract.js';
import { DeviceBus } from './event-bus.js';
import { Follower } from './follow.js';
import { Leases } from './leases.js';
import type { PushDeps } from './ports.js';
import { Presence } from './presence.js';
import { Receipts } from './receipts.js';
import { Sweeps } from './sweeps.js';

export function createPush(deps: PushDeps): Push {
  const { log, sleep, leaseMs = OUTBOX_LEASE_MS, ownerId, observer } = deps;
  const bus = new DeviceBus(deps.bus, ownerId, log, observer);
  const presence = new Presence({ ...deps, bus });
  const receipts = new Receipts({ ...deps, bus });
  const leases = new Leases(deps, leaseMs);
  const stopping = new AbortController();
  const sweeps = new Sweeps(deps, stopping.signal);
  const follower = new Follower({ ...deps, sleep, bus, sweeps }, leases);
  // Every partition that must wait listens to it; Node would warn of a leak from the eleventh on.
  setMaxListeners(0, stopping.signal);
  let running: Promise<unknown> | undefined;

  async function subscribe(sink: EventSink): Promise<() => void> {
    const { tenantId, userId, deviceId } = sink;
    // What is said of oneself is between processes.
    const deliver: EventSink['deliver'] = (event) => {
      if (event.kind !== 'presence' || event.userId !== userId) sink.deliver(event);
    };
    const end = await bus.subscribe({ tenantId, userId, deviceId, deliver });
    const gone = presence.came(tenantId, userId);
    return () => {
      end();
      gone();
    };
  }

  /** Three tries at renewing fit into a lease, and two into the time that it is trusted. */
  async function keepLeases(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(leaseMs / 3, stopping.signal);
      if (stopping.signal.aborted) return;
      await leases.renewAll();
      await leases.balance((partition) => follower.busy(partition));
    }
  }

  return {
    async start() {
      assert(running === undefined, 'the delivery side is started once');
      const acquired = leases.balance(() => false);
      running = acquired.then(() => Promise.all([follower.run(stopping.signal), keepLeases()]));
      await acquired;
      log.info({ partitions: leases.current().length, of: deps.outbox.partitionCount }, 'following the outbox');
    },
    async stop() {
      stopping.abort();
      presence.stop();
      await running;
      await leases.giveUpAll();
    },
    leads: () => leases.holds(0),
    subscribe,
    announceRead(tenantId, userId, conversationId, readConversationSeq) {
      const event = { kind: 'readAdvanced', conversationId, userId, readConversationSeq } as const;
      bus.announce({ tenantId, event, userIds: [userId], except: undefined });
      void receipts.tell({ tenantId, userId, conversationId, readConversationSeq });
    },
    announceTyping(tenantId, userIds, typing) {
      bus.announce({ tenantId, event: { kind: 'typing', ...typing }, userIds, except: undefined });
    },
    announceSuspended(tenantId, userId, deviceId) {
      bus.announce({ tenantId, event: { kind: 'suspended', deviceId }, userIds: [userId], except: undefined });
    },
    announceChange(tenantId, userId, conversationId) {
      bus.announce({ tenantId, event: { kind: 'conversationChanged', conversationId }, userIds: [userId], except: undefined });
    },
  };
}

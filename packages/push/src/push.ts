/** The delivery side put together: leases, the loop that follows the outbox, and the bus to the devices. */
import { setMaxListeners } from 'node:events';
import { assert, OUTBOX_LEASE_MS, PUSH_LOOK_MS } from '@qim/proto';
import type { Push } from './contract.js';
import { DeviceBus } from './event-bus.js';
import { Follower } from './follow.js';
import { Away } from './hooks/away.js';
import { Courier } from './hooks/courier.js';
import { Leases } from './leases.js';
import type { PushDeps } from './ports.js';
import { Presence } from './presence.js';
import { Receipts } from './receipts.js';
import { Sweeps } from './sweeps.js';

export function createPush(deps: PushDeps): Push {
  const { log, sleep, monotonicNow, leaseMs = OUTBOX_LEASE_MS, ownerId, observer } = deps;
  const bus = new DeviceBus(deps.bus, ownerId, log, observer);
  const presence = new Presence({ ...deps, bus });
  const receipts = new Receipts({ ...deps, bus });
  const leases = new Leases(deps, leaseMs);
  const stopping = new AbortController();
  const sweeps = new Sweeps(deps, stopping.signal);
  const away = new Away({ ...deps, bus, isHere: (...of) => presence.isHere(...of) });
  const courier = deps.hooks && new Courier({ ...deps, hooks: deps.hooks, away }, leases);
  const follower = new Follower({ ...deps, sleep, bus, sweeps, courier }, leases);
  // Every partition that must wait listens to it; Node would warn of a leak from the eleventh on.
  setMaxListeners(0, stopping.signal);
  let running: Promise<unknown> | undefined;

  /** Three tries at renewing fit into a lease, and two into the time that it is trusted. Others are looked for more often. */
  async function keepLeases(): Promise<void> {
    const lookMs = Math.min(PUSH_LOOK_MS, leaseMs / 3);
    let renewAtMs = monotonicNow() + leaseMs / 3;
    while (!stopping.signal.aborted) {
      await sleep(lookMs, stopping.signal);
      if (stopping.signal.aborted) return;
      if (monotonicNow() + lookMs / 2 >= renewAtMs) {
        renewAtMs = monotonicNow() + leaseMs / 3;
        await leases.renewAll();
      }
      await leases.balance((partition) => follower.busy(partition));
    }
  }

  return {
    async start() {
      assert(running === undefined, 'the delivery side is started once');
      const acquired = leases.balance(() => false);
      running = acquired.then(() => Promise.all([follower.run(stopping.signal), courier?.run(stopping.signal), keepLeases()]));
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
    subscribe: (sink) => presence.subscribe(sink),
    ...announcements(bus, receipts),
  };
}

/** What others have to tell; hints, all of them. */
function announcements(bus: DeviceBus, receipts: Receipts): Pick<Push, `announce${string}` & keyof Push> {
  return {
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

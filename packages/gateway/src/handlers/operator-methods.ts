/** AdminService, of the server itself. That the token has `admin: true` was checked before any of this runs. */
import {
  CALLS_IN_FLIGHT_MAX,
  CLIENT_FRAME_BYTES_MAX,
  CONTENT_BYTES_MAX,
  EXACT_UNREAD_SCAN_LIMIT,
  GROUP_MEMBERS_MAX,
  HISTORY_PAGE_BYTES_MAX,
  HISTORY_PAGE_SIZE_MAX,
  LIST_PAGE_SIZE_MAX,
  MEMBERS_PER_CALL_MAX,
  MENTIONS_MAX,
  TEXT_BYTES_MAX,
  type TenantId,
} from '@qim/proto';
import { AdminService } from '@qim/proto/schema';
import type { OpenConnections } from '../connection-counts.js';
import type { GatewayLimits, GatewayOptions, SendLimits } from '../contract.js';
import { type Method, method } from '../method.js';

export interface OperatorDeps extends Pick<GatewayOptions, 'recallWindowMs' | 'ackDurability' | 'backlog'> {
  /** Undefined: nothing is limited. */
  readonly sendLimits: SendLimits | undefined;
  readonly limits: Pick<GatewayLimits, 'connectionsPerUserMax' | 'connectionsPerAddressMax'>;
  readonly connections: Pick<OpenConnections, 'ofTenant'>;
}

const FIXED = {
  textBytes: TEXT_BYTES_MAX,
  contentBytes: CONTENT_BYTES_MAX,
  mentions: MENTIONS_MAX,
  groupMembers: GROUP_MEMBERS_MAX,
  membersPerCall: MEMBERS_PER_CALL_MAX,
  listPage: LIST_PAGE_SIZE_MAX,
  historyPage: HISTORY_PAGE_SIZE_MAX,
  historyPageBytes: HISTORY_PAGE_BYTES_MAX,
  exactUnread: EXACT_UNREAD_SCAN_LIMIT,
  frameBytes: CLIENT_FRAME_BYTES_MAX,
  callsInFlight: CALLS_IN_FLIGHT_MAX,
} as const;

export function operatorMethods({
  sendLimits,
  limits,
  connections,
  recallWindowMs,
  ackDurability,
  backlog,
}: OperatorDeps): readonly Method[] {
  return [
    method(AdminService.method.getLimits, async ({ caller }) => ({
      ...FIXED,
      rates: ratesOf(sendLimits, caller.tenantId),
      connectionsPerUser: finite(limits.connectionsPerUserMax),
      connectionsPerAddress: finite(limits.connectionsPerAddressMax),
      recallWindowMs: BigInt(recallWindowMs),
    })),
    method(AdminService.method.getStats, async ({ caller }) => {
      const { entries, oldestMs, poison } = await backlog();
      const { connections: open, users } = connections.ofTenant(caller.tenantId);
      return {
        connections: open,
        connectedUsers: users,
        outboxEntries: entries,
        outboxOldestMs: BigInt(Math.round(oldestMs)),
        outboxPoison: poison,
        ackDurability,
      };
    }),
  ];
}

function ratesOf(limits: SendLimits | undefined, tenantId: TenantId) {
  if (limits === undefined) return [];
  const { user, device, address, tenant } = limits;
  return Object.entries({ user, device, address, tenant, quota: limits.quota(tenantId) }).flatMap(([scope, rate]) =>
    rate === undefined ? [] : [{ scope, count: rate.count, windowMs: BigInt(rate.windowMs) }],
  );
}

/** On the wire 0 is no limit. */
function finite(max: number): number {
  return Number.isFinite(max) ? max : 0;
}

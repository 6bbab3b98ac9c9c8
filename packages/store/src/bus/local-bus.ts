/** The bus of a store that one process has: its links hear each other, and mostly there is one. */
import type { TenantId, UserId } from '@qim/proto';
import type { Bus, BusEvent, BusLink, BusListener } from './bus.js';

interface Link {
  readonly listener: BusListener;
  /** By tenant and user: how many subscriptions. */
  readonly users: Map<string, number>;
}

export class LocalBus implements Bus {
  readonly #links = new Set<Link>();

  connect(_processId: string, listener: BusListener): BusLink {
    const links = this.#links;
    const own: Link = { listener, users: new Map() };
    links.add(own);
    return {
      get alone() {
        return links.size === (links.has(own) ? 1 : 0);
      },
      async publish(events) {
        for (const link of [...links]) if (link !== own) for (const event of events) hand(link, event);
      },
      async subscribe(tenantId, userId) {
        const key = keyOf(tenantId, userId);
        own.users.set(key, (own.users.get(key) ?? 0) + 1);
        let over = false;
        return () => {
          if (over) return;
          over = true;
          const left = (own.users.get(key) ?? 1) - 1;
          if (left > 0) own.users.set(key, left);
          else own.users.delete(key);
        };
      },
      close: () => void links.delete(own),
    };
  }
}

function hand({ listener, users }: Link, { tenantId, userIds, payload }: BusEvent): void {
  const heard = userIds.filter((userId) => users.has(keyOf(tenantId, userId)));
  if (heard.length > 0) listener.received({ tenantId, userIds: heard, payload: payload.slice() });
}

function keyOf(tenantId: TenantId, userId: UserId): string {
  return `${tenantId} ${userId}`;
}

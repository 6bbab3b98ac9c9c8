/** How many connections (WebSockets and event streams) are open to this process now, by whose they are. */
import { type Caller, CONNECTIONS_RETRY_AFTER_MS, QimError, type TenantId } from '@qim/proto';
import { addressBlock } from './client-address.js';
import type { GatewayLimits } from './contract.js';

export class ConnectionCounts {
  readonly #max: number;
  readonly #open = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Of those whose name begins so. Cost: looks at all. */
  under(prefix: string): readonly number[] {
    return [...this.#open].filter(([whose]) => whose.startsWith(prefix)).map(([, count]) => count);
  }

  /** The function ends it; called again it does nothing. Undefined: there are as many as may be. */
  open(whose: string): (() => void) | undefined {
    const count = this.#open.get(whose) ?? 0;
    if (count >= this.#max) return undefined;
    this.#open.set(whose, count + 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      const left = (this.#open.get(whose) ?? 1) - 1;
      if (left === 0) this.#open.delete(whose);
      else this.#open.set(whose, left);
    };
  }
}

/** Connections by user and by address, each within its bound. */
export class OpenConnections {
  readonly #users: ConnectionCounts;
  readonly #addresses: ConnectionCounts;

  constructor({
    connectionsPerUserMax,
    connectionsPerAddressMax,
  }: Pick<GatewayLimits, 'connectionsPerUserMax' | 'connectionsPerAddressMax'>) {
    this.#users = new ConnectionCounts(connectionsPerUserMax);
    this.#addresses = new ConnectionCounts(connectionsPerAddressMax);
  }

  /** @returns how it ends. @throws RateLimited */
  ofUser({ tenantId, userId }: Pick<Caller, 'tenantId' | 'userId'>): () => void {
    return begun(this.#users.open(`${tenantId} ${userId}`));
  }

  /** How many there are, and of how many users. */
  ofTenant(tenantId: TenantId): { readonly connections: number; readonly users: number } {
    const counts = this.#users.under(`${tenantId} `);
    return { connections: counts.reduce((sum, count) => sum + count, 0), users: counts.length };
  }

  /** @returns how it ends. @throws RateLimited */
  fromAddress(address: string): () => void {
    return begun(this.#addresses.open(addressBlock(address)));
  }
}

function begun(end: (() => void) | undefined): () => void {
  if (end === undefined) throw new QimError('RateLimited', { retryAfterMs: CONNECTIONS_RETRY_AFTER_MS }, 'too many connections');
  return end;
}

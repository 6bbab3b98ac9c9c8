/** Runs the verifier on a store of a test, with what it tells kept. */
import { openEmbeddedMaintenance } from '../src/embedded/maintenance.js';
import { openRedisMaintenance } from '../src/redis/maintenance.js';
import type { Store } from '../src/store.js';
import type { Finding } from '../src/verify/finding.js';
import type { VerifyCounts, VerifyOptions } from '../src/verify/options.js';
import { type Maintenance, verifyStore } from '../src/verify/verify.js';

export interface Verified {
  readonly finished: boolean;
  readonly counts: VerifyCounts;
  readonly found: readonly Finding[];
  readonly codes: readonly string[];
  readonly mended: readonly (readonly [code: string, did: string])[];
  readonly left: readonly (readonly [code: string, why: string])[];
}

export interface MaintainedBackend {
  readonly store: Store;
  /** What the verifier reads and mends by; `exclusive` as the backend allows while the store is open. */
  maintenance(): Promise<Maintenance & { close(): Promise<void> }>;
}

export async function verify(backend: MaintainedBackend, options: Partial<VerifyOptions> = {}): Promise<Verified> {
  const found: Finding[] = [];
  const mended: [string, string][] = [];
  const left: [string, string][] = [];
  const maintenance = await backend.maintenance();
  try {
    const { counts, finished } = await verifyStore(maintenance, {
      tenantId: undefined,
      conversationId: undefined,
      userId: undefined,
      repair: 'no',
      newerIsDamage: false,
      rate: undefined,
      signal: new AbortController().signal,
      clock: { now: Date.now, monotonicNow: () => performance.now(), sleep: () => Promise.resolve() },
      report: {
        found: (finding) => found.push(finding),
        mended: ({ code }, did) => mended.push([code, did]),
        left: ({ code }, why) => left.push([code, why]),
        progress: () => {},
      },
      ...options,
    });
    return { finished, counts, found, codes: found.map(({ code }) => code), mended, left };
  } finally {
    await maintenance.close();
  }
}

export async function embeddedMaintenance(
  store: Store,
  folder: string,
  exclusive = true,
): Promise<Maintenance & { close(): Promise<void> }> {
  return { messages: store.messages, exclusive, ...(await openEmbeddedMaintenance(folder)) };
}

export async function redisMaintenance(store: Store, url: string): Promise<Maintenance & { close(): Promise<void> }> {
  return { messages: store.messages, exclusive: false, ...(await openRedisMaintenance(url)) };
}

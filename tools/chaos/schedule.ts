/** Which fault when, for how long and where: all of it follows from the seed. */
import { seededRandom } from '../../packages/store/src/testing/random.js';

export const STORE_NAMES = ['embedded', 'redis', 'cluster'] as const;
export type StoreName = (typeof STORE_NAMES)[number];

/** Between clients and a server. */
const LINK = ['linkSlow', 'linkBlackHole', 'linkReset', 'linkServerGone', 'linkClientGone', 'linkCut', 'linkRefused'] as const;
const SERVER = ['serverKilled', 'serverStopped', 'serverRestarted', 'storeFull', 'clockJump'] as const;
/** Between a server and one Redis; the nodes of a Cluster are reached at the addresses that they name themselves. */
const STORE_LINK = ['storeSlow', 'storeBlackHole', 'storeReset', 'storeServerGone', 'storeClientGone', 'storeCut'] as const;
/** A primary. */
const REDIS = ['redisKilled', 'redisStopped'] as const;
/** primaryReplaced: one that is dead until its replica has taken its place. */
const REPLICA = ['replicaKilled', 'replicaStopped', 'primaryReplaced'] as const;
const SEVERAL = ['pushOwnerKilled'] as const;

export type FaultKind = (typeof LINK | typeof SERVER | typeof STORE_LINK | typeof REDIS | typeof REPLICA | typeof SEVERAL)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** Milliseconds from the start of the load. */
  readonly atMs: number;
  readonly holdMs: number;
  /** Which of the servers it meets. */
  readonly server: number;
  /** 0..999, for what else a fault has to choose. */
  readonly dice: number;
}

export interface ScheduleOptions {
  readonly seed: number;
  readonly store: StoreName;
  readonly servers: number;
  readonly durationMs: number;
}

const GAP_MS = { min: 100, spread: 900 } as const;
const HOLD_MS = { min: 200, spread: 1_600 } as const;

export function kindsFor(store: StoreName, servers: number): readonly FaultKind[] {
  const ofStore = { embedded: [], redis: [...STORE_LINK, ...REDIS], cluster: [...REDIS, ...REPLICA] } as const;
  return [...LINK, ...SERVER, ...ofStore[store], ...(servers > 1 ? SEVERAL : [])];
}

/**
 * One fault after the other, with gaps. Each kind comes once before any comes again, so that a short run meets many. All
 * end before `durationMs`.
 */
export function schedule({ seed, store, servers, durationMs }: ScheduleOptions): readonly Fault[] {
  const random = seededRandom(seed);
  const faults: Fault[] = [];
  let deck: FaultKind[] = [];
  for (let atMs = 0; ; ) {
    if (deck.length === 0) deck = [...kindsFor(store, servers)];
    const [kind] = deck.splice(random.below(deck.length), 1);
    if (kind === undefined) throw new Error('there are kinds for every store');
    atMs += GAP_MS.min + random.below(GAP_MS.spread);
    const holdMs = HOLD_MS.min + random.below(HOLD_MS.spread);
    if (atMs + holdMs > durationMs) return faults;
    faults.push({ kind, atMs, holdMs, server: random.below(servers), dice: random.below(1_000) });
    atMs += holdMs;
  }
}

/** The two stores that are verified, each with a way to write into it as a fault would. */
import { damageEmbedded } from '../src/embedded/damage.js';
import { openEmbeddedMaintenance } from '../src/embedded/maintenance.js';
import { openRedisMaintenance } from '../src/redis/maintenance.js';
import type { Store } from '../src/store.js';
import type { OpenedBackend } from '../src/testing/conformance/backend.js';
import { DAMAGE_KINDS, type DamageKind } from '../src/testing/damage-kinds.js';
import type { Maintenance } from '../src/verify/verify.js';
import { EMBEDDED_DAMAGE_KINDS, EmbeddedBackend } from './embedded-backend.js';
import { RedisBackend } from './redis-backend.js';

export type Opened = Maintenance & { close(): Promise<void> };

export interface VerifiedBackend extends OpenedBackend {
  readonly store: Store;
  damage: NonNullable<OpenedBackend['damage']>;
  maintenance(): Promise<Opened>;
}

export interface VerifiedStore {
  readonly name: string;
  readonly damageKinds: readonly DamageKind[];
  open(): Promise<VerifiedBackend>;
}

export const EMBEDDED: VerifiedStore = {
  name: 'embedded',
  damageKinds: EMBEDDED_DAMAGE_KINDS,
  open: () => embedded(true),
};

/** As if a server had it open: nothing is taken for damage at first sight. */
export const EMBEDDED_BESIDE: VerifiedStore = { ...EMBEDDED, name: 'embedded, beside a server', open: () => embedded(false) };

async function embedded(exclusive: boolean): Promise<VerifiedBackend> {
  const backend = await EmbeddedBackend.open();
  return Object.assign(backend, {
    damage: (target: Parameters<typeof damageEmbedded>[1], kind: DamageKind) => damageEmbedded(backend.folder, target, kind),
    maintenance: async (): Promise<Opened> => ({
      messages: backend.store.messages,
      exclusive,
      ...(await openEmbeddedMaintenance(backend.folder)),
    }),
  });
}

export const REDIS: VerifiedStore = {
  name: 'redis',
  damageKinds: DAMAGE_KINDS,
  async open() {
    const backend = await RedisBackend.open();
    return Object.assign(backend, {
      maintenance: async (): Promise<Opened> => ({
        messages: backend.store.messages,
        exclusive: false,
        ...(await openRedisMaintenance(backend.server.url)),
      }),
    });
  },
};

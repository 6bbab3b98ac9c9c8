/** The two stores that are verified, each with a way to write into it as a fault would. */
import { COMMIT_PARTITIONS_DEFAULT, type ConversationId, DEDUP_WEEK_MS, type UserId } from '@qim/proto';
import { damageEmbedded } from '../src/embedded/damage.js';
import type { Snapshot, Write } from '../src/embedded/environment.js';
import { enterFolder } from '../src/embedded/folders.js';
import { ConversationKeys, UserKeys } from '../src/embedded/keys.js';
import { openEmbeddedMaintenance } from '../src/embedded/maintenance.js';
import { dedupIn } from '../src/embedded/maintenance-keys.js';
import { weeksOf } from '../src/embedded/maintenance-walk.js';
import { KeySpace, userKeys } from '../src/redis/keys.js';
import { openRedisMaintenance } from '../src/redis/maintenance.js';
import type { Store } from '../src/store.js';
import type { OpenedBackend } from '../src/testing/conformance/backend.js';
import { TENANT } from '../src/testing/conformance/fixture.js';
import { DAMAGE_KINDS, type DamageKind } from '../src/testing/damage-kinds.js';
import type { RedisCluster } from '../src/testing/redis-cluster.js';
import type { ConversationPlace } from '../src/verify/finding.js';
import type { Maintenance } from '../src/verify/verify.js';
import { ClusterBackend } from './cluster-backend.js';
import { EMBEDDED_DAMAGE_KINDS, EmbeddedBackend } from './embedded-backend.js';
import { type RawClient, RedisBackend, rawClient } from './redis-backend.js';

export type Opened = Maintenance & { close(): Promise<void> };

export interface VerifiedBackend extends OpenedBackend {
  readonly store: Store;
  damage: NonNullable<OpenedBackend['damage']>;
  maintenance(): Promise<Opened>;
  /** Puts text where a user's own entry stands, whatever it is; undefined: takes it away. */
  breakEntry(part: 'view' | 'readMark', userId: UserId, conversationId: ConversationId, text: string | undefined): Promise<void>;
  /** A profile that is no such text, or a blocked name that is no user id. */
  breakUser(part: 'profile' | 'blocks', userId: UserId): Promise<void>;
  /** Cuts every de-duplication entry of the conversation short. */
  breakDedup(place: ConversationPlace): Promise<void>;
  /** Puts a member entry under a name that is no user id. */
  oddMember(place: ConversationPlace): Promise<void>;
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

/** With its clock at one moment. */
export async function embeddedAt(nowMs: number): Promise<{ readonly backend: VerifiedBackend; readonly folder: string }> {
  const opened = await EmbeddedBackend.open({ now: () => nowMs });
  return { backend: verified(opened, true), folder: opened.folder };
}

async function embedded(exclusive: boolean): Promise<VerifiedBackend> {
  return verified(await EmbeddedBackend.open(), exclusive);
}

function verified(backend: EmbeddedBackend, exclusive: boolean): VerifiedBackend {
  const write = async (plan: (snapshot: Snapshot) => readonly Write[]): Promise<void> => {
    const { environment, leave } = await enterFolder(backend.folder, false, 1);
    await environment.write('test', (snapshot) => ({ result: undefined, writes: plan(snapshot) }));
    await leave();
  };
  return Object.assign(backend, {
    breakEntry: (part: 'view' | 'readMark', userId: UserId, conversationId: ConversationId, text: string | undefined) =>
      write(() => [{ key: new UserKeys(TENANT, userId)[part](conversationId), value: text === undefined ? undefined : Buffer.from(text) }]),
    breakUser: (part: 'profile' | 'blocks', userId: UserId) => {
      const keys = new UserKeys(TENANT, userId);
      const key = part === 'profile' ? keys.profile : Buffer.concat([keys.blockPrefix, Buffer.from('%zz')]);
      return write(() => [{ key, value: Buffer.from('no such form') }]);
    },
    breakDedup: (place: ConversationPlace) =>
      write((snapshot) =>
        weeksOf(snapshot)
          .flatMap((week) => snapshot.entries(dedupIn(week, place), 1_000))
          .map(({ key, value }) => ({ key, value: value.subarray(1) })),
      ),
    oddMember: ({ tenantId, conversationId }: ConversationPlace) =>
      write(() => [
        {
          key: Buffer.concat([new ConversationKeys(tenantId, conversationId).memberPrefix, Buffer.from('%zz')]),
          value: Buffer.from('1 1 1'),
        },
      ]),
    damage: (target: Parameters<typeof damageEmbedded>[1], kind: DamageKind) => damageEmbedded(backend.folder, target, kind),
    maintenance: async (): Promise<Opened> => ({
      messages: backend.store.messages,
      exclusive,
      ...(await openEmbeddedMaintenance(backend.folder, { alone: false })),
    }),
  });
}

export const REDIS: VerifiedStore = onRedis('redis', () => RedisBackend.open());

/** On a Cluster that the caller starts and stops. */
export function onCluster(cluster: () => Promise<RedisCluster>): VerifiedStore {
  return onRedis('redis cluster', async () => ClusterBackend.on(await cluster()));
}

function onRedis(name: string, open: () => Promise<RedisBackend | ClusterBackend>): VerifiedStore {
  return { name, damageKinds: DAMAGE_KINDS, open: async () => verifiedRedis(await open()) };
}

function verifiedRedis(backend: RedisBackend | ClusterBackend): VerifiedBackend {
  const raw = async (use: (client: RawClient, keys: KeySpace) => Promise<unknown>): Promise<void> => {
    const client = await rawClient(backend.url);
    await use(client, new KeySpace(COMMIT_PARTITIONS_DEFAULT));
    client.destroy();
  };
  return Object.assign(backend, {
    breakEntry: (part: 'view' | 'readMark', userId: UserId, conversationId: ConversationId, text: string | undefined) =>
      raw((client) => {
        const key = userKeys(TENANT, userId)[part === 'view' ? 'view' : 'read'];
        return client.sendCommand(text === undefined ? ['HDEL', key, conversationId] : ['HSET', key, conversationId, text]);
      }),
    breakUser: (part: 'profile' | 'blocks', userId: UserId) =>
      raw((client) => {
        const { profile, blocks } = userKeys(TENANT, userId);
        return client.sendCommand(part === 'profile' ? ['SET', profile, 'no such form'] : ['SADD', blocks, '']);
      }),
    breakDedup: ({ tenantId, conversationId }: ConversationPlace) =>
      raw(async (client, space) => {
        const key = space.conversation(tenantId, conversationId).dedup(Math.floor(Date.now() / DEDUP_WEEK_MS));
        const fields = await client.sendCommand<Buffer[]>(['HKEYS', key]);
        for (const field of fields) await client.sendCommand(['HSET', key, field, 'too short']);
      }),
    oddMember: ({ tenantId, conversationId }: ConversationPlace) =>
      raw((client, space) => client.sendCommand(['HSET', space.conversation(tenantId, conversationId).members, Buffer.of(0xff), '1 1 1'])),
    maintenance: async (): Promise<Opened> => ({
      messages: backend.store.messages,
      exclusive: false,
      ...(await openRedisMaintenance(backend.url)),
    }),
  });
}

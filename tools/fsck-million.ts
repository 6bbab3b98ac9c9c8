/**
 * `npm run fsck-million [-- --messages N] [-- --store embedded|redis]`: fills a store of its own with messages, runs the
 * built `qim fsck` over it, and prints time and memory; then plants every kind of damage that the store has, each in a
 * conversation of its own, and shows that all are found, mended, and gone, and that the lists answer again.
 *
 * Needs `npm run build`, and redis-server for Redis. Ends with 1 when anything is not as it must be.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LEGACY_TENANT_ID, parseConversationSeq, SEQ_ZERO } from '@qim/proto';
import type { Store } from '@qim/store';
import { openEmbeddedStore } from '@qim/store/embedded';
import { openRedisStore } from '@qim/store/redis';
import { DAMAGE_KINDS, type DamageKind, damage, REDIS_ONLY_DAMAGE_KINDS, type StoreLocation, startRedis } from '@qim/store/testing';
import { fsck, type RanFsck } from './fsck-million/command.js';
import { deliver, fill, type Talk, talksOf } from './fsck-million/fill.js';

const REDIS_ONLY: readonly DamageKind[] = REDIS_ONLY_DAMAGE_KINDS;
/** Progress of filling, in messages. */
const TOLD_EVERY = 100_000;

interface Place {
  readonly location: StoreLocation;
  readonly open: () => Promise<Store>;
  readonly end: () => Promise<void>;
}

async function placeOf(name: string): Promise<Place> {
  const data = await mkdtemp(join(tmpdir(), 'qim-fsck-'));
  if (name === 'embedded') {
    return {
      location: { store: 'embedded', data },
      open: () => openEmbeddedStore(data),
      end: () => rm(data, { recursive: true, force: true }),
    };
  }
  const redis = await startRedis();
  return {
    location: { store: redis.url, data },
    open: () => openRedisStore(redis.url),
    end: async () => {
      await redis.stop();
      await rm(data, { recursive: true, force: true });
    },
  };
}

async function prepare(place: Place, messages: number, kinds: readonly DamageKind[]): Promise<readonly Talk[]> {
  const { talks, spares } = talksOf(messages, kinds.length);
  const store = await place.open();
  let told = 0;
  await fill(store, [...talks, ...spares], (done) => {
    if (done - told < TOLD_EVERY) return;
    told = done;
    console.log(`  ${done} messages committed`);
  });
  await deliver(store, [...talks, ...spares]);
  await store.close();
  return spares;
}

async function plant({ location }: Place, kinds: readonly DamageKind[], spares: readonly Talk[]): Promise<void> {
  for (const [i, kind] of kinds.entries()) {
    const talk = spares[i];
    if (talk === undefined) throw new Error('each kind has a conversation');
    const target = { tenantId: LEGACY_TENANT_ID, conversationId: talk.conversationId, userId: talk.members[1] };
    await damage(location, { ...target, conversationSeq: parseConversationSeq(3) }, kind);
  }
}

/** The conversations whose list does not answer. */
async function silent(place: Place, spares: readonly Talk[]): Promise<number> {
  const store = await place.open();
  try {
    let count = 0;
    for (const { conversationId, members } of spares) {
      const state = { conversationId, watermark: SEQ_ZERO };
      const [reading] = await store.messages.readConversations(LEGACY_TENANT_ID, members[1], [state]);
      if (reading?.kind !== 'sound') count += 1;
    }
    return count;
  } finally {
    await store.close();
  }
}

function summaryOf({ events, err }: RanFsck): Readonly<Record<string, unknown>> {
  const last = events.at(-1);
  if (last?.event !== 'summary') throw new Error(`qim fsck did not come to its end: ${err}`);
  return last;
}

function foundKinds({ events }: RanFsck, spares: readonly Talk[]): number {
  const places = new Set(events.filter(({ event }) => event === 'found').map(({ conversationId }) => conversationId));
  return spares.filter(({ conversationId }) => places.has(conversationId)).length;
}

function tell(what: string, ran: RanFsck): void {
  const summary = summaryOf(ran);
  const told = ['findings', 'mended', 'left', 'conversations', 'users', 'records'].map((name) => `${Number(summary[name])} ${name}`);
  const memory = `peak memory ${ran.peakMb} MB (${ran.peakOwnMb} MB without mapped files)`;
  console.log(`${what}: exit code ${ran.code}; ${told.join(', ')}; ${ran.seconds.toFixed(1)} s, ${memory}`);
}

/** True: everything was as it must be. */
async function show(name: string, messages: number): Promise<boolean> {
  const kinds = DAMAGE_KINDS.filter((kind) => name !== 'embedded' || !REDIS_ONLY.includes(kind));
  const place = await placeOf(name);
  try {
    console.log(`${name}: filling a store with ${messages} messages`);
    const spares = await prepare(place, messages, kinds);
    const clean = await fsck(place.location);
    tell('qim fsck', clean);
    await plant(place, kinds, spares);
    const dirty = await fsck(place.location);
    tell(`qim fsck, ${kinds.length} kinds of damage planted, ${foundKinds(dirty, spares)} of them found`, dirty);
    const repair = await fsck(place.location, '--repair', '--newer-is-damage');
    tell('qim fsck --repair', repair);
    const after = await fsck(place.location);
    tell('qim fsck after it', after);
    const mute = await silent(place, spares);
    console.log(`lists that answer again: ${spares.length - mute} of ${spares.length}`);
    const allFound = dirty.code === 1 && foundKinds(dirty, spares) === kinds.length;
    return clean.code === 0 && allFound && repair.code === 0 && after.code === 0 && mute === 0;
  } finally {
    await place.end();
  }
}

const { values } = parseArgs({ options: { messages: { type: 'string', default: '1000000' }, store: { type: 'string' } } });
const stores = values.store === undefined ? ['embedded', 'redis'] : [values.store];
let holds = true;
for (const name of stores) holds = (await show(name, Number(values.messages))) && holds;
process.exitCode = holds ? 0 : 1;

/** Stores that are moved: filled with everything there is, exported, imported, and compared as lines. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEDUP_WEEK_MS, parseDeviceId, parseMessageId } from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import { type ArchiveSink, type ArchiveSource, type ArchiveState, exportStore, importArchive } from '../src/archive/index.js';
import { formatLine } from '../src/archive/line-text.js';
import { readArchive } from '../src/archive/reader.js';
import { openEmbeddedArchiveSink, openEmbeddedArchiveSource, openEmbeddedStore } from '../src/embedded/open.js';
import { openRedisArchiveSink, openRedisArchiveSource, openRedisStore } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import { Fixture, seq, TENANT, text } from '../src/testing/conformance/fixture.js';
import { runModel } from '../src/testing/model/index.js';
import { startRedis } from '../src/testing/redis-server.js';

/** In memory where there is such a thing: what a flush is worth is no matter here. */
const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A place that a store can be in. */
export interface Place {
  readonly name: string;
  store(): Promise<Store>;
  source(): Promise<ArchiveSource>;
  sink(): Promise<ArchiveSink>;
  close(): Promise<void>;
}

export interface EmbeddedPlace extends Place {
  readonly folder: string;
}

export function embeddedPlace(): EmbeddedPlace {
  const folder = mkdtempSync(join(BASE, 'qim-archive-'));
  return {
    folder,
    name: 'embedded',
    store: () => openEmbeddedStore(folder),
    source: () => openEmbeddedArchiveSource(folder),
    sink: () => openEmbeddedArchiveSink(folder),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** On a Redis or Cluster at a URL; `stop` ends it. */
export function redisPlace(url: string, stop: () => Promise<unknown>): Place {
  return {
    name: url.startsWith('redis+cluster') ? 'cluster' : 'redis',
    store: () => openRedisStore(url),
    source: () => openRedisArchiveSource(url),
    sink: async () => {
      await (await openRedisStore(url, { importing: true })).close();
      return openRedisArchiveSink(url);
    },
    close: async () => void (await stop()),
  };
}

export async function ownRedis(): Promise<Place> {
  const server = await startRedis();
  return redisPlace(server.url, () => server.stop());
}

/** `rounds` of a group with long messages and everything else that is kept; about 300 KiB of archive each. */
export async function fill(place: Place, rounds = 1): Promise<void> {
  const store = await place.store();
  try {
    for (let i = 0; i < rounds; i += 1) await fillOnce(store);
  } finally {
    await store.close();
  }
}

async function fillOnce(store: Store): Promise<void> {
  const fixture = new Fixture({ store, advance: () => {}, skipSequences: async () => {}, close: async () => {} });
  const [alice, bob, carol] = [fixture.user('alice'), fixture.user('bob: ünï'), fixture.user('carol')];
  const chat = await fixture.group(alice, [bob, carol]);
  const { conversationId } = chat;
  for (let n = 0; n < 30; n += 1) await chat.say(n % 2 === 0 ? alice : bob, { content: text(`${n} ${'x'.repeat(6_000)}`) });
  await chat.sayTimes(bob, 40);
  const { directory, users } = store;
  const activity = { conversationSeq: seq(71), activityAtMs: Date.now() };
  const joined = [alice, bob, carol].map((userId) => ({ userId, joinedSeq: seq(1), visibleFrom: seq(1) }));
  await directory.join(TENANT, conversationId, joined, activity);
  await directory.raiseRead(TENANT, alice, conversationId, seq(12));
  await directory.setFlags(TENANT, bob, conversationId, { pinned: true, muted: true }, activity);
  await directory.clear(TENANT, bob, conversationId, seq(3));
  await chat.edit(5, 'edited');
  await chat.recall(6);
  await chat.leave(carol, carol);
  await directory.leave(TENANT, conversationId, [carol], seq(72));
  await queueForWebhook(store);
  await directory.groupForRequest(TENANT, alice, 'request: 1', conversationId);
  await users.setProfile(TENANT, alice, { displayName: 'Alice Ünï', avatarUrl: '' });
  await users.block(TENANT, alice, carol);
  await users.suspend(TENANT, carol, parseDeviceId('phone'), true);
  await users.suspend(TENANT, carol, undefined, true);
  for (const comment of ['first', 'second']) {
    const ids = { conversationId, conversationSeq: seq(2), messageId: parseMessageId(uuidv7()), senderId: alice, reporterId: bob };
    await users.addReport(TENANT, { reportId: uuidv7(), reportedAtMs: 1, comment, ...ids });
  }
}

/** The first entry of each partition waits for the webhook as well. */
async function queueForWebhook({ outbox, hooks }: Store): Promise<void> {
  for (let partition = 0; partition < outbox.partitionCount; partition += 1) {
    const lease = await outbox.acquire(partition, 'a webhook', 60_000);
    if (lease === undefined) continue;
    const { entries } = await outbox.read([lease], 0, never());
    await hooks.append(lease, entries.slice(0, 1), 1_000);
    await outbox.release(lease);
  }
}

/** A store that has been through random work, so that it holds what no list of cases thinks of. */
export async function fillAtRandom(place: Place, seed: number): Promise<void> {
  let store = await place.store();
  const subject = {
    name: place.name,
    get store() {
      return store;
    },
    now: Date.now,
    advance: () => {},
    skipSequences: async () => {},
    async restart(meanwhile: () => Promise<unknown>) {
      await meanwhile().catch(() => {});
      await store.close();
      store = await place.store();
    },
    close: () => store.close(),
  };
  await runModel(subject, { seed, sequences: 4, commands: 20 });
  await store.close();
}

/** An archive in memory. */
export class Bytes {
  #pieces: Buffer[] = [];

  readonly write = async (bytes: Buffer): Promise<void> => {
    this.#pieces.push(bytes);
  };

  get all(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  keep(length: number): void {
    this.#pieces = [this.all.subarray(0, length)];
  }

  /** In pieces that end anywhere. */
  async *read(): AsyncGenerator<Uint8Array> {
    const { all } = this;
    for (let from = 0; from < all.length; from += 50_001) yield all.subarray(from, from + 50_001);
  }
}

const nothing = (): void => {};
export const never = (): AbortSignal => new AbortController().signal;

export async function exported(place: Place, bytes = new Bytes(), write = bytes.write): Promise<Bytes> {
  const source = await place.source();
  try {
    await exportStore({ source, write, after: undefined, id: uuidv7(), now: Date.now, signal: never(), progress: nothing });
    return bytes;
  } finally {
    await source.close();
  }
}

export async function imported(
  place: Place,
  bytes: Bytes,
  change: (sink: ArchiveSink) => Partial<ArchiveSink> = () => ({}),
): Promise<ArchiveState | undefined> {
  const sink = await place.sink();
  try {
    const own: ArchiveSink = {
      isEmpty: () => sink.isEmpty(),
      note: () => sink.note(),
      begin: (note) => sink.begin(note),
      apply: (lines, note) => sink.apply(lines, note),
      end: () => sink.end(),
      close: () => sink.close(),
      ...change(sink),
    };
    return await importArchive({ sink: own, open: () => bytes.read(), now: Date.now, signal: never(), progress: nothing });
  } finally {
    await sink.close();
  }
}

/** Of all conversations. */
export async function epochsIn(bytes: Bytes): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const each of readArchive(bytes.read())) {
    if (each.part !== 'chunk') continue;
    for (const line of each.chunk.lines) if (line.kind === 'conversation' && line.facts !== undefined) found.push(line.facts.epoch);
  }
  return found;
}

/** Every line with what it belongs to, in order; what a move may change is left out: epochs, and what expires anyway. */
export async function linesIn(bytes: Bytes): Promise<readonly string[]> {
  const oldest = Math.floor(Date.now() / DEDUP_WEEK_MS) - 1;
  const found: string[] = [];
  let owner = '';
  for await (const each of readArchive(bytes.read())) {
    if (each.part !== 'chunk') continue;
    for (const line of each.chunk.lines) {
      if (line.kind === 'conversation') owner = `${line.tenantId} ${line.conversationId}`;
      if (line.kind === 'user') owner = `${line.tenantId} ${line.userId}`;
      if (line.kind === 'user' && line.continued) continue;
      if (line.kind === 'conversation') {
        if (line.facts !== undefined) found.push(`${owner} ${formatLine({ ...line, facts: { ...line.facts, epoch: 1 } })}`);
      } else if (line.kind === 'untold') found.push(` ${formatLine({ ...line, committedAtMs: 0 })}`);
      else if (line.kind === 'left') found.push(` ${formatLine({ ...line, atMs: Math.floor(line.atMs / DEDUP_WEEK_MS) })}`);
      else if (line.kind === 'skipped' || ('week' in line && line.week < oldest)) continue;
      else found.push(`${'tenantId' in line ? '' : owner} ${formatLine(line)}`);
    }
  }
  return found.sort();
}

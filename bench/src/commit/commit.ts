/** Area commit: durable messages per second, by how many are in flight and what an acknowledgement is worth. */
import { parseConversationId } from '@qim/proto';
import type { CommitRequest, Store } from '@qim/store';
import { peerOf, READER, request, TEXT, text } from '../data.js';
import { type Contender, interleaved, ratioOf, spreadOf } from '../measure.js';
import { POSTGRES_MISSING, startPostgres } from '../postgres.js';
import { partsOf, profiled } from '../profile.js';
import { redisUse } from '../redis-use.js';
import type { Results } from '../result.js';
import type { Scale } from '../scale.js';
import { embeddedStore, redisServer, redisStore, temporaryFolder, withCleanup } from '../stores.js';
import { openPostgresCommit } from './postgres-commit.js';
import { openCommitFloor } from './redis-floor.js';

const MODES = ['no', 'everysec', 'always'] as const;
const ONE = 'qim, one conversation';
const MANY = 'qim, many conversations';
const FLOOR_ONE = 'HSET+ZADD, one key';
const FLOOR_MANY = 'HSET+ZADD, many keys';
const POSTGRES = 'PostgreSQL, one transaction';
const MANY_CONVERSATIONS = 256;
const CPU_TURNS = 4;

/** Writes so many, all in flight at once. */
type Write = (count: number) => Promise<unknown>;

export async function commitArea(results: Results, scale: Scale): Promise<void> {
  for (const mode of MODES) await redisCommits(results, scale, mode);
  await durableCommits(results, scale);
}

function redisCommits(results: Results, scale: Scale, mode: (typeof MODES)[number]): Promise<void> {
  return withCleanup(async (cleanup) => {
    const redis = await redisServer(cleanup, mode);
    const store = await redisStore(cleanup, redis.url);
    const [floorOne, floorMany] = [
      await openCommitFloor(cleanup, redis.port, 1),
      await openCommitFloor(cleanup, redis.port, MANY_CONVERSATIONS),
    ];
    const writes: [string, Write][] = [
      [ONE, checkedCommits(store, 1)],
      [MANY, checkedCommits(store, MANY_CONVERSATIONS)],
      [FLOOR_ONE, floorOne.write],
      [FLOOR_MANY, floorMany.write],
    ];
    const rates = new Map<number, Awaited<ReturnType<typeof interleaved>>>();
    for (const depth of scale.depths) rates.set(depth, await measureDepth(results, scale, `AOF ${mode}`, depth, writes));
    const [wide, deep] = [rates.get(128), rates.get(1024)];
    if (mode === 'everysec' && wide !== undefined && deep !== undefined) {
      results.ratios.commit_batched_vs_floor = ratioOf(deep, ONE, FLOOR_ONE);
      results.ratios.commit_single_vs_floor = ratioOf(wide, MANY, FLOOR_MANY);
      await cpuOfCommits(results, scale, redis.port, writes);
      await whereTimeGoes(results, scale, store);
    }
    if (mode === 'always') results.ratios.commit_group_gain_always = gainOf(rates, ONE, 128);
  });
}

function durableCommits(results: Results, scale: Scale): Promise<void> {
  return withCleanup(async (cleanup) => {
    const store = await embeddedStore(cleanup, await temporaryFolder(cleanup));
    const postgres = await (await startPostgres(cleanup))?.client();
    if (postgres === undefined) results.missing.push(POSTGRES_MISSING);
    const writes: [string, Write][] = [[ONE, checkedCommits(store, 1)]];
    if (postgres !== undefined) writes.push([POSTGRES, await openPostgresCommit(postgres)]);
    const rates = new Map<number, Awaited<ReturnType<typeof interleaved>>>();
    for (const depth of scale.depths) rates.set(depth, await measureDepth(results, scale, 'embedded, flushed', depth, writes));
    results.ratios.lmdb_durable_1024_vs_1 = gainOf(rates, ONE, 1024);
  });
}

/** In rounds of their own, so by medians: depths do not take turns with each other. */
function gainOf(rates: ReadonlyMap<number, Awaited<ReturnType<typeof interleaved>>>, who: string, depth: number): number {
  const rate = (at: number) => spreadOf(rates.get(at)?.get(who) ?? []).median;
  return rate(depth) / rate(1);
}

async function measureDepth(results: Results, scale: Scale, how: string, depth: number, writes: readonly [string, Write][]) {
  const contenders = writes.map(([name, write]): Contender => ({ name, turn: rateOf(write, depth, scale.turnMs) }));
  const samples = await interleaved(contenders, Math.ceil(scale.rounds / 2));
  for (const [contender, values] of samples)
    results.row('commit', `commit, ${how}, ${depth} in flight`, contender, 'per second', spreadOf(values));
  return samples;
}

function rateOf(write: Write, depth: number, forMs: number): () => Promise<number> {
  return async () => {
    const begin = performance.now();
    let written = 0;
    for (; performance.now() - begin < forMs; written += depth) await write(depth);
    return written / ((performance.now() - begin) / 1000);
  };
}

let runs = 0;

/** Each outcome must be fresh, and the sequences of one conversation must rise without a hole. */
function checkedCommits(store: Store, conversations: number): Write {
  const run = ++runs;
  const last = new Map<string, number>();
  let next = 0;
  const made = (): CommitRequest => {
    const index = next++ % conversations;
    return request(parseConversationId(`g_commit_${run}_${index}`), [peerOf(index), READER], text(TEXT));
  };
  return async (count) => {
    const requests = Array.from({ length: count }, made);
    const outcomes = await Promise.all(requests.map((each) => store.messages.commit(each)));
    for (const [i, { conversationId }] of requests.entries()) {
      const { duplicate, conversationSeq = 0 } = outcomes[i] ?? {};
      const before = last.get(conversationId) ?? 0;
      if (duplicate !== false || conversationSeq !== before + 1) throw new Error('a commit was answered wrongly');
      last.set(conversationId, conversationSeq);
    }
  };
}

/** How busy the machine is with others matters less to it than to a rate. */
async function cpuOfCommits(results: Results, scale: Scale, port: number, writes: readonly [string, Write][]): Promise<void> {
  for (const depth of scale.depths) {
    for (const [name, write] of writes) {
      const [own, before, begin] = [process.cpuUsage(), await redisUse(port), performance.now()];
      let written = 0;
      for (; performance.now() - begin < scale.turnMs * CPU_TURNS; written += depth) await write(depth);
      const { user, system } = process.cpuUsage(own);
      const subject = `CPU for one commit, AOF everysec, ${depth} in flight`;
      const redisUs = ((await redisUse(port)).cpuSeconds - before.cpuSeconds) * 1_000_000;
      results.value('commit', subject, `${name}: the client`, 'us', (user + system) / written);
      results.value('commit', subject, `${name}: Redis`, 'us', redisUs / written);
    }
  }
}

async function whereTimeGoes(results: Results, scale: Scale, store: Store): Promise<void> {
  const cases: [string, number, number][] = [
    ['one commit of 1024 in flight, one conversation, on Redis', 1, 1024],
    ['one commit of 128 in flight, many conversations, on Redis', MANY_CONVERSATIONS, 128],
  ];
  for (const [of, conversations, depth] of cases) {
    const write = checkedCommits(store, conversations);
    await write(depth);
    const { profile, times } = await profiled(() => write(depth), scale.turnMs * 8);
    results.parts.push({ area: 'commit', of, parts: partsOf(profile, times * depth) });
  }
}

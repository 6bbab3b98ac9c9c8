/** Area page: `conversationSummaries` on Redis against the floor, the obvious code and PostgreSQL, over the same messages. */
import { WIRE_PIECE_CONVERSATIONS } from '@qim/proto';
import type { ConversationState, Store } from '@qim/store';
import type { Client } from 'pg';
import { checkAnswers, expectedAnswer, fill, type KnownConversation, READER, stateAt, TENANT } from '../data.js';
import { type Contender, cpuOf, interleaved, ratioOf, spreadOf, timesOf } from '../measure.js';
import { POSTGRES_MISSING, startPostgres } from '../postgres.js';
import { partsOf, profiled } from '../profile.js';
import type { Results } from '../result.js';
import type { Scale } from '../scale.js';
import { type Cleanup, embeddedStore, redisServer, redisStore, temporaryFolder, withCleanup } from '../stores.js';
import { Floor } from './floor.js';
import { obviousPage, openObvious } from './obvious.js';
import { countPage, fillPostgres, shipPage } from './postgres-page.js';
import { Recorder, type Round } from './recorder.js';

interface PageCase {
  readonly name: string;
  /** Unread by distance, one for each conversation of the page. */
  readonly distances: readonly number[];
}

const QIM = 'qim on Redis';
const PLAIN = 'qim on Redis, no short cuts';
const FLOOR = 'the same bytes, discarded';
const HGET = 'node-redis, HGET each';
const HMGET = 'node-redis, HMGET';
const COUNT = 'PostgreSQL, count only';
const SHIP = 'PostgreSQL, records shipped';
const EMBEDDED = 'qim, embedded';
/** Where the client's own CPU is measured, too. */
const CPU_CASE = 'page 100x20';
/** Past what is counted. */
const SATURATED = 205;
const WIRE_TRIES_MAX = 1_000;

function pageCases(): PageCase[] {
  const all = (distance: number) => Array.from({ length: 100 }, () => distance);
  const some = (count: number, from: number, to: number) =>
    Array.from({ length: count }, (_, i) => from + Math.round(((to - from) * i) / Math.max(count - 1, 1)));
  return [
    ...[0, 5, 20, 200].map((distance) => ({ name: `page 100x${distance}`, distances: all(distance) })),
    { name: 'inbox', distances: [...some(60, 0, 0), ...some(25, 1, 5), ...some(10, 6, 30), ...some(4, 31, 150), SATURATED] },
  ];
}

interface Bench {
  readonly known: readonly KnownConversation[];
  readonly store: Store;
  readonly plain: Store;
  /** `ordinary`: connections of its own beside the wire of pages, which is opened last. */
  readonly recorded: { readonly recorder: Recorder; readonly store: Store; readonly ordinary: number };
  readonly floor: Floor;
  readonly obvious: Awaited<ReturnType<typeof openObvious>>;
  readonly postgres: Client | undefined;
  readonly embedded: { readonly store: Store; readonly known: readonly KnownConversation[] };
}

export function pageArea(results: Results, scale: Scale): Promise<void> {
  return withCleanup(async (cleanup) => {
    const bench = await prepare(cleanup, results, scale);
    for (const each of pageCases()) await measureCase(results, scale, bench, each);
    for (const [where, store, known] of [
      ['on Redis', bench.store, bench.known],
      ['on the embedded store', bench.embedded.store, bench.embedded.known],
    ] as const) {
      const states = Array.from({ length: 100 }, (_, i) => stateAt(at(known, i), 20));
      const { profile, times } = await profiled(() => store.messages.conversationSummaries(TENANT, READER, states), scale.turnMs * 16);
      results.parts.push({ area: 'page', of: `one page of 100x20 ${where}`, parts: partsOf(profile, times) });
    }
  });
}

async function prepare(cleanup: Cleanup, results: Results, scale: Scale): Promise<Bench> {
  const redis = await redisServer(cleanup);
  const store = await redisStore(cleanup, redis.url);
  const known = await fill(store, scale.conversations, scale.messagesEach);
  const recorder = await Recorder.start(cleanup, redis.port);
  const recording = await redisStore(cleanup, recorder.url, { observer: { roundTrip: recorder.roundBegins } });
  const postgres = await (await startPostgres(cleanup))?.client();
  if (postgres === undefined) results.missing.push(POSTGRES_MISSING);
  else await fillPostgres(postgres, known);
  const inFolder = await embeddedStore(cleanup, await temporaryFolder(cleanup));
  return {
    known,
    store,
    plain: await redisStore(cleanup, redis.url, { fastPaths: false }),
    recorded: { recorder, store: recording, ordinary: recorder.connections },
    floor: await Floor.open(cleanup, redis.port),
    obvious: await openObvious(cleanup, redis.url),
    postgres,
    embedded: { store: inFolder, known: await fill(inFolder, scale.conversations, scale.messagesEach) },
  };
}

async function measureCase(results: Results, scale: Scale, bench: Bench, { name, distances }: PageCase): Promise<void> {
  const contenders: Contender[] = [];
  const works = new Map<string, () => Promise<unknown>>();
  const add = (who: string, work: () => Promise<unknown>) => {
    works.set(who, work);
    contenders.push({ name: who, turn: timesOf(work, scale.turnMs) });
  };
  const checked = async (who: string, work: () => ReturnType<Bench['obvious']>, known = bench.known) => {
    checkAnswers(
      `${who}, ${name}`,
      await work(),
      distances.map((distance, i) => expectedAnswer(at(known, i), at(known, i).records.length - distance)),
    );
    add(who, work);
  };
  const summaries = (store: Store, known: readonly KnownConversation[]) => {
    const states = distances.map((distance, i) => stateAt(at(known, i), distance));
    return async () => [...(await store.messages.conversationSummaries(TENANT, READER, states))];
  };
  await checked(QIM, summaries(bench.store, bench.known));
  await checked(PLAIN, summaries(bench.plain, bench.known));
  await checked(EMBEDDED, summaries(bench.embedded.store, bench.embedded.known), bench.embedded.known);

  const rounds = await recordedRounds(
    bench,
    distances.map((distance, i) => stateAt(at(bench.known, i), distance)),
  );
  await bench.floor.ask(rounds);
  add(FLOOR, () => bench.floor.ask(rounds));
  const watermarks = distances.map((distance, i) => at(bench.known, i).records.length - distance);
  const [singly, bundled] = [obviousPage(rounds, watermarks, true), obviousPage(rounds, watermarks, false)];
  await checked(HGET, () => bench.obvious(singly));
  await checked(HMGET, () => bench.obvious(bundled));
  const { postgres } = bench;
  if (postgres !== undefined) {
    const page = { places: distances.map((_, i) => i % bench.known.length), marks: watermarks };
    await checked(COUNT, () => countPage(postgres, page));
    if (distances.every((distance) => distance > 0 && distance < SATURATED)) await checked(SHIP, () => shipPage(postgres, page));
  }
  report(results, name, await interleaved(contenders, scale.rounds));
  if (name === CPU_CASE) for (const [who, work] of works) results.row('page', `${name}, CPU of the client`, who, 'us', await cpuOf(work));
}

/** What the page asks in its two rounds: piece after piece, because the recorder could not tell apart what is under way together. */
async function recordedRounds(bench: Bench, states: readonly ConversationState[]): Promise<readonly Round[]> {
  const pieces: (readonly Round[])[] = [];
  for (let from = 0; from < states.length; from += WIRE_PIECE_CONVERSATIONS) {
    pieces.push(await recordedPiece(bench, states.slice(from, from + WIRE_PIECE_CONVERSATIONS)));
  }
  return [0, 1].map((n) => {
    const parts = pieces.flatMap((rounds) => rounds[n] ?? []);
    return { asked: Buffer.concat(parts.map(({ asked }) => asked)), answerBytes: parts.reduce((sum, part) => sum + part.answerBytes, 0) };
  });
}

/** Over the wire, which is there from the second page on. */
async function recordedPiece({ recorded: { recorder, store, ordinary } }: Bench, states: readonly ConversationState[]) {
  for (let tries = 0; tries < WIRE_TRIES_MAX; tries += 1) {
    const rounds = await recorder.record(() => store.messages.conversationSummaries(TENANT, READER, states));
    if (rounds.length !== 2) throw new Error(`a page takes two rounds, not ${rounds.length}`);
    if (rounds.every(({ connection }) => connection >= ordinary)) return rounds;
  }
  throw new Error('no page went over the wire');
}

function report(results: Results, name: string, samples: Awaited<ReturnType<typeof interleaved>>): void {
  for (const [contender, values] of samples) results.row('page', name, contender, 'ms', spreadOf(values));
  for (const [ratio, subject, against] of RATIOS) {
    if (subject === name && samples.has(against)) results.ratios[ratio] = ratioOf(samples, against, QIM);
  }
}

const RATIOS = [
  ['page100x20_vs_floor', 'page 100x20', FLOOR],
  ['page100x20_vs_node_redis_hget', 'page 100x20', HGET],
  ['inbox_vs_node_redis_hget', 'inbox', HGET],
  ['inbox_vs_postgres_count', 'inbox', COUNT],
  ['page100x20_vs_postgres_records', 'page 100x20', SHIP],
  ['page100x20_vs_postgres_count', 'page 100x20', COUNT],
  ['page100x200_vs_postgres_count', 'page 100x200', COUNT],
] as const;

/** From the front again where a page is longer than the list. */
function at<T>(list: readonly T[], index: number): T {
  const value = list[index % list.length];
  if (value === undefined) throw new Error('there is at least one conversation');
  return value;
}

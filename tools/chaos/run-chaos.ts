/** One run: a world, load on it, faults by the schedule, and then the verdict. */
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../../packages/store/src/testing/random.js';
import { inject } from './faults.js';
import { FreshReader } from './fresh.js';
import { type Device, Load, markKey } from './load.js';
import { type FaultKind, type StoreName, schedule } from './schedule.js';
import { judge, type Reader, type Verdict } from './verdict.js';
import { openWorld, type World } from './world.js';

export interface ChaosOptions {
  readonly store: StoreName;
  readonly seed: number;
  readonly minutes: number;
  readonly servers: number;
  readonly print: (line: string) => void;
}

const MINUTE_MS = 60_000;
const LOOK_MS = 500;
/** A server of this load needs some 100 MB; what grows without bound gets past this within minutes. */
const SERVER_BYTES_MAX = 400 * 1024 * 1024;
/** After everything is sound: past every pause and timeout of the SDK. */
const CONVERGED_WITHIN_MS = 60_000;
const SHOWN_PROBLEMS = 10;

/** True: nothing acknowledged was lost, nothing doubled, nothing diverges, nobody grew. Rejects when it could not be run. */
export async function runChaos(options: ChaosOptions): Promise<boolean> {
  const { store, seed, servers, print } = options;
  print(`chaos ${store}: seed ${seed}, ${options.minutes} minutes, ${servers} ${servers === 1 ? 'server' : 'servers'}`);
  const world = await openWorld(store, servers);
  const load = new Load(world, seededRandom(seed + 1));
  let retrying: NodeJS.Timeout | undefined;
  try {
    await load.prepare();
    retrying = setInterval(() => load.retryNow(), LOOK_MS);
    const memory = new MemoryWatch(world);
    const counts = await injected(world, load, options);
    const soundAt = performance.now();
    await world.heal();
    await load.finished();
    const answeredMs = performance.now() - soundAt;
    const unconverged = await divergingDevices(world, load);
    const convergedMs = performance.now() - soundAt;
    const verdict = judge(load.intentions, await readersOf(world, load));
    print(`once all was sound: everything answered after ${seconds(answeredMs)} s, every device right after ${seconds(convergedMs)} s`);
    return report(print, { load, counts, verdict, unconverged, memory: memory.end() });
  } catch (error) {
    for (const { user, name, client } of load.devices) print(`${user}'s ${name}: ${JSON.stringify(client.connection.snapshot())}`);
    for (const server of world.servers) print(`${server.name}: ${server.pid === undefined ? 'is gone' : 'runs'}; ${server.lastWords}`);
    throw error;
  } finally {
    clearInterval(retrying);
    load.close();
    await world.close();
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

/** Starts the load. How often each kind of fault was injected; on a slow machine the last of the schedule are left out. */
async function injected(world: World, load: Load, { seed, minutes, store, servers }: ChaosOptions): Promise<Map<FaultKind, number>> {
  const counts = new Map<FaultKind, number>();
  const durationMs = minutes * MINUTE_MS;
  const begunAt = performance.now();
  load.start();
  for (const fault of schedule({ seed, store, servers, durationMs })) {
    if (performance.now() > begunAt + durationMs) break;
    await pause(Math.max(0, begunAt + fault.atMs - performance.now()));
    const undo = await inject(world, fault);
    counts.set(fault.kind, (counts.get(fault.kind) ?? 0) + 1);
    await pause(fault.holdMs);
    await undo();
  }
  return counts;
}

/** Everyone's fresh view of every conversation they are in. */
export async function readersOf(world: World, load: Load): Promise<readonly Reader[]> {
  const readers: Reader[] = [];
  for (const [conversationId, users] of load.members) {
    for (const user of users) {
      const view = await (await freshReader(world, user)).view(conversationId);
      readers.push({ user, conversationId, view, heldMark: load.marks.get(markKey(user, conversationId))?.held ?? 0 });
    }
  }
  return readers;
}

async function freshReader(world: World, user: string): Promise<FreshReader> {
  return new FreshReader(`http://127.0.0.1:${world.servers[0]?.port}`, await world.token(user, 'fresh'));
}

/** Devices that still show something else than a fresh fetch when their time is up, and what. */
export async function divergingDevices(world: World, load: Load): Promise<readonly string[]> {
  const endsAt = performance.now() + CONVERGED_WITHIN_MS;
  for (;;) {
    const problems = (await Promise.all(load.devices.map((device) => diverging(world, device)))).flat();
    if (problems.length === 0 || performance.now() > endsAt) return problems;
    await pause(LOOK_MS);
  }
}

async function diverging(world: World, { user, name, client, open }: Device): Promise<readonly string[]> {
  const reader = await freshReader(world, user);
  const problems: string[] = [];
  for (const [conversationId, conversation] of open) {
    const { entry, messages } = await reader.view(conversationId);
    const shown = conversation.snapshot().messages.map(({ messageId, activityId }) => `${messageId} ${activityId}`);
    const fresh = messages.map(({ messageId, activityId }) => `${messageId} ${activityId}`).slice(-shown.length);
    if (shown.length === 0 || shown.join() !== fresh.join()) problems.push(`${user}'s ${name} shows other messages of ${conversationId}`);
    const listed = client.conversations.snapshot().conversations.find((each) => each.conversationId === conversationId);
    const held = listed === undefined || listed.damaged !== undefined ? undefined : listed;
    const numbers = [held?.latestConversationSeq, held?.readConversationSeq, held?.unreadCount, held?.unreadExact];
    const expected = [entry?.head, entry?.read, entry?.unread, entry?.exact];
    if (numbers.join() !== expected.join()) problems.push(`${user}'s ${name} lists ${numbers.join()} and not ${expected.join()}`);
  }
  return problems;
}

class MemoryWatch {
  readonly #world: World;
  readonly #peaks = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(world: World) {
    this.#world = world;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  /** The most that each server had, in bytes. */
  end(): ReadonlyMap<string, number> {
    clearInterval(this.#timer);
    return this.#peaks;
  }

  async #look(): Promise<void> {
    for (const server of this.#world.servers) {
      this.#peaks.set(server.name, Math.max(this.#peaks.get(server.name) ?? 0, await server.anonymousBytes()));
    }
  }
}

interface Outcome {
  readonly load: Load;
  readonly counts: ReadonlyMap<FaultKind, number>;
  readonly verdict: Verdict;
  readonly unconverged: readonly string[];
  readonly memory: ReadonlyMap<string, number>;
}

function report(print: ChaosOptions['print'], { load, counts, verdict, unconverged, memory }: Outcome): boolean {
  const { lost, doubled } = verdict;
  const divergences = [...verdict.divergences, ...unconverged];
  const acknowledged = load.intentions.filter((each) => each.acknowledged !== undefined).length;
  const grown = [...memory].filter(([, bytes]) => bytes > SERVER_BYTES_MAX);
  const faults = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, count]) => `${kind} ${count}`);
  print(`faults: ${faults.join(', ')}`);
  print(`memory: ${[...memory].map(([name, bytes]) => `${name} at most ${Math.round(bytes / 2 ** 20)} MB`).join(', ')}`);
  print(
    `acknowledged ${acknowledged} of ${load.intentions.length}, lost ${lost.length}, doubled ${doubled.length}, divergences ${divergences.length}`,
  );
  const problems = [...lost, ...doubled, ...divergences, ...grown.map(([name]) => `${name} grew past ${SERVER_BYTES_MAX} bytes`)];
  for (const problem of problems.slice(0, SHOWN_PROBLEMS)) print(`  ${problem}`);
  // Without load, or with a schedule that met nothing, a run says nothing.
  return problems.length === 0 && acknowledged === load.intentions.length && acknowledged > 0 && counts.size > 0;
}

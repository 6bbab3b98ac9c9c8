/** What a run found, for people: what failed, what the server called its own fault, what was left behind. */
import type { LiveServer } from './live.js';
import type { Tried } from './run-fuzz.js';

/** Inputs may be long. */
const FAILURE_CHARS_MAX = 4_000;

/** The fuzzer's own connection. */
const OWN_CONNECTIONS = 1;

/** Garbage that was not collected, and code that was compiled meanwhile. Bytes. */
const GROWTH_BYTES_MAX = 64 * 1024 * 1024;

/** `grownBytes`: of the heap, over the inputs that leave nothing behind; undefined: it was not measured. */
export async function reportOf(tried: readonly Tried[], live: Pick<LiveServer, 'connections' | 'faults'>, grownBytes?: number) {
  const grown = grownBytes !== undefined && grownBytes > GROWTH_BYTES_MAX;
  const failures = tried.filter(({ failure }) => failure !== undefined);
  const connections = await live.connections();
  const faults = live.faults();
  const inputs = tried.reduce((sum, each) => sum + each.inputs, 0);
  const lines = [
    ...tried.map((each) => `${String(each.inputs).padStart(9)}  ${(each.milliseconds / 1_000).toFixed(1).padStart(7)} s  ${each.name}`),
    ...failures.map(({ name, failure }) => `FAILED ${name}\n${failure?.slice(0, FAILURE_CHARS_MAX)}`),
    ...faults.map((line) => `LOGGED ${line}`),
    ...(connections <= OWN_CONNECTIONS ? [] : [`LEFT ${connections} connections open`]),
    ...(grownBytes === undefined ? [] : [`heap grown by ${(grownBytes / 1024 / 1024).toFixed(1)} MiB over what leaves nothing behind`]),
    `inputs tried ${inputs}, failed ${failures.length}, faults of the server ${faults.length}, connections left ${connections}`,
  ];
  return { lines, sound: failures.length === 0 && faults.length === 0 && connections <= OWN_CONNECTIONS && !grown };
}

/** Where the time goes: V8's CPU profile, summed up by the part of the program that a function belongs to. */

import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import type { Parts } from './result.js';

/** The first that matches names the part. */
const PARTS: readonly (readonly [pattern: RegExp, part: string])[] = [
  [/\/node_modules\/(@redis|redis)\//, 'client library: node-redis'],
  [/\/node_modules\/lmdb\//, 'client library: lmdb'],
  [/\/node_modules\/@bufbuild\//, 'protobuf'],
  [/\/node_modules\/@connectrpc\//, 'Connect'],
  [/\/node_modules\/ws\//, 'ws'],
  [/\/node_modules\/fastify/, 'Fastify'],
  [/\/node_modules\/([^/]+)\//, 'other libraries'],
  [/\/store\/(dist|src)\/message\/(record-header|xxh32)/, 'qim: records checked'],
  [/\/store\/(dist|src)\/message\/(codec|bytes|payload|snippet|fingerprint)/, 'qim: codec'],
  [/\/store\/(dist|src)\/(message\/(facts|decimal|control-json)|redis\/wire-facts|embedded\/values)/, 'qim: facts and members'],
  [/\/store\/(dist|src)\/message\//, 'qim: the rules of reading'],
  [/\/store\/(dist|src)\/(redis\/(wire-request|place-bytes)|embedded\/list-keys)/, 'qim: commands and keys of a page'],
  [/\/store\/(dist|src)\/redis\/wire/, 'qim: replies found and read in place'],
  [/\/store\/(dist|src)\//, 'qim: store'],
  [/\/packages\/(\w+)\//, 'qim: '],
  [/^node:/, 'Node: sockets, streams, timers'],
];

/** Its own start, which takes longer than many a page. */
const PROFILER = 'the profiler';

/** What has no file, by the name of its function. */
const SYSTEM: Readonly<Record<string, string>> = {
  '(garbage collector)': 'garbage collection',
  '(program)': 'native code and system calls',
  '(idle)': 'waiting',
  dispatch: PROFILER,
  writeBuffer: 'sending: the system call',
  writev: 'sending: the system call',
};

export async function profiled(work: () => Promise<unknown>, forMs: number): Promise<{ profile: Profiler.Profile; times: number }> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  let times = 0;
  for (const end = performance.now() + forMs; performance.now() < end; times += 1) await work();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  return { profile, times };
}

/** Microseconds for each of `times` operations. */
export function partsOf(profile: Profiler.Profile, times: number): Parts['parts'] {
  const partOfNode = new Map(profile.nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]));
  const sums = new Map<string, number>();
  for (const [i, id] of (profile.samples ?? []).entries()) {
    const part = partOfNode.get(id) ?? 'bench';
    if (part === PROFILER) continue;
    sums.set(part, (sums.get(part) ?? 0) + (profile.timeDeltas?.[i] ?? 0));
  }
  return [...sums]
    .map(([part, us]) => ({ part, us: us / times }))
    .filter(({ us }) => us >= 0.05)
    .sort((a, b) => b.us - a.us);
}

function partOf({ url, functionName }: { readonly url: string; readonly functionName: string }): string {
  if (url === '') return SYSTEM[functionName] ?? 'native code and system calls';
  const [pattern, part] = PARTS.find(([each]) => each.test(url)) ?? [undefined, 'bench'];
  return part === 'qim: ' ? `${part}${pattern?.exec(url)?.[1] ?? ''}` : (part ?? 'bench');
}

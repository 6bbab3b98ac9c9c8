/**
 * `npm run fuzz -- [--inputs 1000000] [--seed N] [--seconds S]`: what strangers may send, made by a seed. Prints what was
 * tried and exits with 1 when anything crashed, hung, was answered as a fault of the server, or left connections or memory
 * behind.
 */
import { parseArgs } from 'node:util';
import { decoderTargets } from './fuzz/decoders.js';
import { startLive } from './fuzz/live.js';
import { reportOf } from './fuzz/report.js';
import { runFuzz } from './fuzz/run-fuzz.js';
import { storedTargets } from './fuzz/stored.js';
import type { Target } from './fuzz/target.js';

const { values } = parseArgs({
  options: { inputs: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' }, seconds: { type: 'string' } },
});

/** One input of so many goes over the wire, which takes some hundred times as long. */
const LIVE_EVERY = 20;

function tries(targets: readonly Target[], parts: number, seedOffset = 0) {
  const share = parts / (LIVE_EVERY + 1);
  return runFuzz({
    targets,
    seed: Number(values.seed) + seedOffset,
    inputs: Math.ceil(Number(values.inputs) * share),
    ...(values.seconds === undefined ? {} : { withinMs: Number(values.seconds) * 1_000 * share }),
    monotonicNow: () => performance.now(),
    progress: (done) => process.stderr.write(`\r${done} inputs`),
  });
}

/** Of what is still needed. `npm run fuzz` gives the collector by hand. */
function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const live = await startLive();
try {
  const decoders = [...decoderTargets(), ...storedTargets()];
  const inProcess = await tries(decoders, LIVE_EVERY - 1);
  const before = heapBytes();
  const again = await tries(decoders, 1, 1);
  const grown = heapBytes() - before;
  const overTheWire = await tries(live.targets, 1);
  const { lines, sound } = await reportOf([...inProcess, ...again, ...overTheWire], live, grown);
  process.stdout.write(`${lines.join('\n')}\n`);
  process.exitCode = sound ? 0 : 1;
} finally {
  await live.close();
}

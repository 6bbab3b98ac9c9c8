/** A few seconds of what `npm run fuzz` does for longer, by the same seed each time; and that it sees what it looks for. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decoderTargets } from '../fuzz/decoders.js';
import { startLive, urlOf } from '../fuzz/live.js';
import { reportOf } from '../fuzz/report.js';
import { runFuzz } from '../fuzz/run-fuzz.js';
import { storedTargets } from '../fuzz/stored.js';
import { must, target } from '../fuzz/target.js';

const SEED = 20_261_130;
const monotonicNow = () => performance.now();

test('whatever is sent, nothing crashes, hangs, stays open, or is answered as a fault of the server', async () => {
  const live = await startLive();
  try {
    const targets = [...decoderTargets(), ...storedTargets(), ...live.targets];
    const tried = await runFuzz({ targets, seed: SEED, inputs: 6_000, withinMs: 8_000, monotonicNow });
    const { lines, sound } = await reportOf(tried, live);
    expect(sound, lines.join('\n')).toBe(true);
    for (const { name, inputs } of tried) expect(inputs, name).toBeGreaterThan(0);
  } finally {
    await live.close();
  }
});

test('a path goes to the server as it is, also one that would name another host', () => {
  for (const path of ['/', '//', '//other/x', '/%2F..%2F', '/x?y=z']) {
    const { host, pathname, search } = urlOf('http://127.0.0.1:1/', path);
    expect([host, `${pathname}${search}`]).toEqual(['127.0.0.1:1', path]);
  }
});

test('an input that breaks something is told in its least form, and the target gets no more', async () => {
  const broken = target({
    name: 'planted',
    weight: 1,
    input: fc.string({ maxLength: 30 }),
    holds: (text) => must(text.length < 5, 'it is short'),
  });
  const [found] = await runFuzz({ targets: [broken], seed: SEED, inputs: 5_000, monotonicNow });
  expect(found?.failure).toContain('it is short');
  expect(found?.inputs).toBeLessThan(5_000);
});

test('the same seed makes the same inputs', async () => {
  const seen: string[][] = [];
  for (let run = 0; run < 2; run += 1) {
    const inputs: string[] = [];
    const noted = target({ name: 'noted', weight: 1, input: fc.string(), holds: (text) => void inputs.push(text) });
    await runFuzz({ targets: [noted], seed: SEED, inputs: 300, monotonicNow });
    seen.push(inputs);
  }
  expect(seen[0]).toEqual(seen[1]);
  expect(seen[0]?.length).toBe(300);
});

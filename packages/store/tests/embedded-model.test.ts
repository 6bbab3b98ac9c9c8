/** The embedded store answers random work as the reference model answers it, also across a close and an open. */
import { expect, test } from 'vitest';
import { embeddedSubject } from '../src/testing/model/embedded-subject.js';
import { report, runModel } from '../src/testing/model/index.js';

test('the embedded store answers random work as the model does, at every step', async () => {
  const subject = await embeddedSubject();
  try {
    const ran = await runModel(subject, { seed: 20_260_601, sequences: 40, timeLimitMs: 60_000 });
    expect(ran.divergence, report(ran, subject.name)).toBeUndefined();
    expect(ran.operations).toBeGreaterThan(400);
  } finally {
    await subject.close();
  }
}, 90_000);

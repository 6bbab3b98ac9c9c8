/** The store on a Cluster answers random work as the reference model answers it, also across a kill of all its nodes. */
import { expect, test } from 'vitest';
import { report, runModel } from '../src/testing/model/index.js';
import { clusterSubject } from '../src/testing/model/redis-subject.js';

test('the store on a Cluster answers random work as the model does, at every step', async () => {
  const subject = await clusterSubject();
  try {
    const ran = await runModel(subject, { seed: 20_261_130, sequences: 8, timeLimitMs: 40_000 });
    expect(ran.divergence, report(ran, subject.name)).toBeUndefined();
    expect(ran.operations).toBeGreaterThan(100);
  } finally {
    await subject.close();
  }
});

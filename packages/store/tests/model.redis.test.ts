/** The store on Redis answers random work as the reference model answers it, also across a kill of the server. */
import { expect, test } from 'vitest';
import { report, runModel } from '../src/testing/model/index.js';
import { redisSubject } from '../src/testing/model/redis-subject.js';

test('the store on Redis answers random work as the model does, at every step', async () => {
  const subject = await redisSubject();
  try {
    const ran = await runModel(subject, { seed: 20_260_601, sequences: 30, timeLimitMs: 60_000 });
    expect(ran.divergence, report(ran, subject.name)).toBeUndefined();
    expect(ran.operations).toBeGreaterThan(400);
  } finally {
    await subject.close();
  }
}, 90_000);

/** A store that errs is found out by random work, and by how little of it. */
import { expect, test } from 'vitest';
import type { Store } from '../src/store.js';
import { report, runModel, type Subject } from '../src/testing/model/index.js';
import { memorySubject } from '../src/testing/model/memory-subject.js';

const SEED = 20_260_601;
const planting = (plant: (own: Store['messages']) => Partial<Store['messages']>): Subject =>
  memorySubject((store) => ({ ...store, messages: { ...store.messages, ...plant(store.messages) } }));

/** Each errs in one rule, and the most commands that it takes to see that. */
const FAULTS: Readonly<Record<string, readonly [commands: number, open: () => Subject]>> = {
  'a Control record that counts as unread': [
    1,
    () =>
      planting((own) => ({
        readConversations: async (...args) =>
          (await own.readConversations(...args)).map((reading) => {
            if (reading.kind !== 'sound') return reading;
            const unreadCount = reading.summary.unreadCount + reading.evidence.control;
            return { ...reading, summary: { ...reading.summary, unreadCount } };
          }),
      })),
  ],
  'a retry that is not known again': [
    2,
    () => planting((own) => ({ commit: async (request) => ({ ...(await own.commit(request)), duplicate: false }) })),
  ],
  'retention that takes the newest': [
    2,
    () =>
      planting((own) => ({
        retain: (tenantId, conversationId, { olderThanMs, keepNewest }) =>
          own.retain(tenantId, conversationId, { olderThanMs, keepNewest: keepNewest === 1 ? 0 : keepNewest }),
      })),
  ],
};

test.each(Object.entries(FAULTS))('%s is found, and shrunk to what shows it', async (_, [commands, open]) => {
  const { divergence } = await runModel(open(), { seed: SEED, sequences: 1_000, commands: 12 });
  expect(divergence?.what).toMatch(/model .*, store /);
  expect(divergence?.commands.length, divergence?.commands.join('\n')).toBeLessThanOrEqual(commands);
});

test('the same seed makes the same sequences, and a report names the seed and each command', async () => {
  const [, open] = FAULTS['a retry that is not known again'] ?? [];
  if (open === undefined) throw new Error('unreachable');
  const [one, other] = [
    await runModel(open(), { seed: 5, sequences: 100, commands: 12 }),
    await runModel(open(), { seed: 5, sequences: 100, commands: 12 }),
  ];
  expect(one.divergence).toEqual(other.divergence);
  expect(report(one, 'memory')).toMatch(
    /^memory: seed 5, .* divergences 1\n {2}1\. .* makes chat .*\n {2}2\. request 0 .*\n {2}=> the commit: duplicate: model true, store false$/,
  );
});

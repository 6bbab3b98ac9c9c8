/** `qim webhooks`: what waits, and the dead letters, with ids and never content. */
import { OUTBOX_POISON_READ_MAX, parseConversationId, parseConversationSeq, parseTenantId } from '@qim/proto';
import { openMemoryStore } from '@qim/store/memory';
import { expect, test } from 'vitest';
import { qim } from './calling.js';

const AT = Date.parse('2026-01-02T03:04:05Z');

async function filled() {
  const store = openMemoryStore({ now: () => AT });
  const lease = await store.outbox.acquire(0, 'one', 60_000);
  if (lease === undefined) throw new Error('it was free');
  const about = { kind: 'committed', tenantId: parseTenantId(7), conversationId: parseConversationId('g_room') } as const;
  const entries = [1, 2, 3].map((n) => ({ ...about, partition: 0, entryId: String(n), conversationSeq: parseConversationSeq(n) }));
  await store.hooks.append(lease, entries, 100);
  await store.hooks.setAside(lease, '2', 'refused 422');
  return { openStore: async () => store, now: () => AT + 5_000 };
}

test('what waits is counted, and the dead letters only when they are asked for', async () => {
  expect(await qim(['webhooks'], await filled())).toMatchObject({ code: 0, out: [expect.stringMatching(/^2 wait, .*; 1 dead letter$/)] });
  const { out } = await qim(['webhooks', '--dead'], await filled());
  expect(out[1]).toBe('2026-01-02T03:04:05.000Z  refused 422  tenant 7, conversation g_room, sequence 2 (committed)');
});

test('for programs it is one object a line', async () => {
  const { out } = await qim(['webhooks', '--dead', '--json'], await filled());
  const lines = out.map((line) => JSON.parse(line) as object);
  expect(lines).toEqual([
    { backlog: { waiting: 2, oldestMs: expect.any(Number), dead: 1 } },
    { dead: expect.objectContaining({ reason: 'refused 422', entryId: '2', partition: 0 }) },
  ]);
});

test.each([['0'], [String(OUTBOX_POISON_READ_MAX + 1)], ['x']])('a limit of %s is refused', async (limit) => {
  expect(await qim(['webhooks', '--dead', '--limit', limit], await filled())).toMatchObject({ code: 2 });
});

test('the greatest limit is taken, and none goes without --dead', async () => {
  expect((await qim(['webhooks', '--dead', '--limit', String(OUTBOX_POISON_READ_MAX)], await filled())).code).toBe(0);
  expect((await qim(['webhooks', '--limit', '5'], await filled())).code).toBe(2);
});

import { STOP_SIGNAL_REPEAT_MS } from '@qim/proto';
import type { Store } from '@qim/store';
import { openMemoryStore } from '@qim/store/memory';
import { expect, test, vi } from 'vitest';
import { qim, temporaryFolder } from './calling.js';

async function serving(close: () => Promise<void>) {
  const clock = { ms: 1_000 };
  const store: Store = { ...openMemoryStore({ now: Date.now }), close };
  const data = await temporaryFolder();
  let signal = (): void => {};
  let ready = false;
  const called = qim(['serve', '--dev', '--port', '0', '--log-level', 'error', '--data', data], {
    openStore: async () => store,
    now: () => clock.ms,
    stopSignals: (send) => {
      signal = send;
    },
    onLine: (line) => {
      ready ||= line.startsWith('qim ready at ');
    },
  });
  await vi.waitFor(() => expect(ready).toBe(true));
  return { called, clock, signal };
}

test('the first signal stops gracefully, with exit code 0', async () => {
  const close = vi.fn(async () => {});
  const { called, signal } = await serving(close);
  signal();
  expect((await called).code).toBe(0);
  expect(close).toHaveBeenCalledOnce();
});

test('a second signal, half a second later, stops at once with exit code 1', async () => {
  const { called, signal, clock } = await serving(() => new Promise(() => {}));
  signal();
  clock.ms += STOP_SIGNAL_REPEAT_MS;
  signal();
  const { code, err } = await called;
  expect([code, err.at(-1)]).toEqual([1, 'qim: stopping at once']);
});

test('a second signal that comes sooner is the same keystroke', async () => {
  let finish = (): void => {};
  const closed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { called, signal, clock } = await serving(() => closed);
  signal();
  clock.ms += STOP_SIGNAL_REPEAT_MS - 1;
  signal();
  finish();
  expect((await called).code).toBe(0);
});

test('a signal during the start stops the server once it is up', async () => {
  const data = await temporaryFolder();
  const { code, out } = await qim(['serve', '--dev', '--port', '0', '--log-level', 'error', '--data', data], {
    openStore: async () => openMemoryStore({ now: Date.now }),
    stopSignals: (send) => send(),
  });
  expect(code).toBe(0);
  expect(out.at(-1)).toMatch(/^qim ready at /);
});

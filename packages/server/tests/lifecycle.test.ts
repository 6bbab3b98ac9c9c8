import { expect, test, vi } from 'vitest';
import { realClock } from '../src/clock.js';
import { Lifecycle } from '../src/lifecycle.js';

const LONG_MS = 60_000;

function recording() {
  const errors: { part: string; text: string }[] = [];
  const log = {
    info: () => {},
    warn: () => {},
    error: (fields: object) => {
      const { part, err } = fields as { part: string; err: Error };
      errors.push({ part, text: err.message });
    },
  };
  return { errors, lifecycle: new Lifecycle(log, realClock.sleep) };
}

test('parts stop in the reverse order of their start, each after the one before has ended', async () => {
  const { lifecycle, errors } = recording();
  const events: string[] = [];
  for (const name of ['store', 'push', 'gateway']) {
    lifecycle.started(name, LONG_MS, async () => {
      events.push(`${name} begins`);
      await Promise.resolve();
      events.push(`${name} ends`);
    });
  }
  await lifecycle.stop();
  expect(events).toEqual(['gateway begins', 'gateway ends', 'push begins', 'push ends', 'store begins', 'store ends']);
  expect(errors).toEqual([]);
});

test('a part that fails to stop is told, and the others are stopped all the same', async () => {
  const { lifecycle, errors } = recording();
  const closed = vi.fn(async () => {});
  lifecycle.started('store', LONG_MS, closed);
  lifecycle.started('push', LONG_MS, () => Promise.reject(new Error('lost')));
  await lifecycle.stop();
  expect(closed).toHaveBeenCalledOnce();
  expect(errors).toEqual([{ part: 'push', text: 'lost' }]);
});

test('a part that hangs is given up at its deadline', async () => {
  const { lifecycle, errors } = recording();
  const closed = vi.fn(async () => {});
  lifecycle.started('store', LONG_MS, closed);
  lifecycle.started('gateway', 5, () => new Promise(() => {}));
  await lifecycle.stop();
  expect(closed).toHaveBeenCalledOnce();
  expect(errors).toEqual([{ part: 'gateway', text: 'not within 5 ms' }]);
});

test('a second stop waits for the first and stops nothing twice', async () => {
  const { lifecycle } = recording();
  const closed = vi.fn(async () => {});
  lifecycle.started('store', LONG_MS, closed);
  expect(lifecycle.stopping).toBe(false);
  const both = [lifecycle.stop(), lifecycle.stop()];
  expect(lifecycle.stopping).toBe(true);
  await Promise.all(both);
  expect(closed).toHaveBeenCalledOnce();
});

/** Cases: how often something was done within a time. */
import { expect, vi } from 'vitest';
import type { RateWindow } from '../../rates/rates.js';
import type { Fixture } from './fixture.js';
import type { Cases } from './suite.js';

/** Long enough that no test sees its end. */
const MINUTES_MS = 600_000;

function start(fixture: Fixture) {
  const name = fixture.user('window');
  const window = (kind: string, count: number, windowMs = MINUTES_MS): RateWindow => ({ of: [kind, name], count, windowMs });
  return { name, window, take: (...windows: RateWindow[]) => fixture.store.rates.take(windows) };
}

export const rates: Cases = {
  async 'let through as many as may be, and tell the next one how long the window lasts'(fixture) {
    const { window, take } = start(fixture);
    const three = window('user', 3);
    for (let i = 0; i < 3; i += 1) expect(await take(three)).toBe(0);
    for (let i = 0; i < 3; i += 1) {
      const wait = await take(three);
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(MINUTES_MS);
    }
  },

  async 'let exactly as many through when all come at once'(fixture) {
    const { window, take } = start(fixture);
    const waits = await Promise.all(Array.from({ length: 30 }, () => take(window('user', 7))));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(7);
  },

  async 'are free again when the window has ended'(fixture) {
    const { window, take } = start(fixture);
    const one = window('user', 1, 1_000);
    expect(await take(one)).toBe(0);
    await vi.waitFor(async () => expect(await take(one)).toBe(0), { timeout: 20_000, interval: 100 });
  },

  async 'are apart by every part of what is counted, and by the length of the window'(fixture) {
    const { name, take } = start(fixture);
    const names = [[name, 'a:b'], [name, 'a', 'b'], [name, 'a%3Ab'], [name, 'ü{}'], [`${name}:a`, 'b'], [name]];
    for (const of of names) expect(await take({ of, count: 1, windowMs: MINUTES_MS })).toBe(0);
    expect(await take({ of: [name], count: 1, windowMs: MINUTES_MS + 1_000 })).toBe(0);
    expect(await take({ of: [name], count: 1, windowMs: MINUTES_MS })).toBeGreaterThan(0);
  },

  async 'count in none of the windows what is refused by one'(fixture) {
    const { window, take } = start(fixture);
    const [small, large] = [window('user', 1), window('tenant', 3)];
    expect(await take(small, large)).toBe(0);
    for (let i = 0; i < 5; i += 1) expect(await take(small, large)).toBeGreaterThan(0);
    expect([await take(large), await take(large)]).toEqual([0, 0]);
    expect(await take(large)).toBeGreaterThan(0);
  },

  async 'let everything through where nothing is counted'(fixture) {
    expect(await start(fixture).take()).toBe(0);
  },
};

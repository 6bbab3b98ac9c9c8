import { RECONNECT_PAUSE_MS_MAX, RECONNECT_PAUSE_MS_MIN, RECONNECT_PROMPT_MS_MAX } from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { pauseMs, promptPauseMs, RECONNECT_PAUSES } from '../src/backoff.js';

describe('pauses', () => {
  test('double from the first to the bound, and stay there', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => pauseMs(failures, RECONNECT_PAUSES, () => 0));
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect([pauses[0], pauses.at(-1)]).toEqual([RECONNECT_PAUSE_MS_MIN, RECONNECT_PAUSE_MS_MAX]);
  });

  test('lose up to half at random, never more', () => {
    expect(pauseMs(1, RECONNECT_PAUSES, () => 0.5)).toBe(375);
    expect(pauseMs(1, RECONNECT_PAUSES, () => 1)).toBe(250);
  });

  test('stay finite after any number of failures', () => {
    expect(pauseMs(100_000, RECONNECT_PAUSES, () => 0)).toBe(RECONNECT_PAUSE_MS_MAX);
  });

  test('after a close that asks to come back are spread over their bound', () => {
    expect([promptPauseMs(() => 0), promptPauseMs(() => 0.5)]).toEqual([0, RECONNECT_PROMPT_MS_MAX / 2]);
  });
});

import { describe, expect, test } from 'vitest';
import { namesFrom } from '../src/people.js';
import { hashOf, type Selection, selectionFrom } from '../src/selection.js';
import { dayName, isSameDay, listTime } from '../src/times.js';

describe('the address', () => {
  test.each<Selection>([
    { kind: 'none' },
    { kind: 'conversation', conversationId: 'g_0190-ab' },
    { kind: 'draft', toUserId: 'Zoë / 李 %&#?' },
  ])('keeps what is open: %j', (selection) => {
    expect(selectionFrom(hashOf(selection))).toEqual(selection);
  });

  test.each(['', '#', '#/', '#/x/1', '#/c/', '#/c/%E0%A4%A'])('that somebody edited opens nothing: %j', (hash) => {
    expect(selectionFrom(hash)).toEqual({ kind: 'none' });
  });
});

describe('times', () => {
  const at = (text: string): number => new Date(text).getTime();
  const now = at('2026-03-15T12:00:00');

  test('of the list are the hour today, the day this week, the date before', () => {
    expect(listTime(at('2026-03-15T00:00:01'), now)).toMatch(/\d/);
    expect(listTime(at('2026-03-14T23:59:59'), now)).toBe('Yesterday');
    expect(listTime(at('2026-03-09T12:00:00'), now)).not.toMatch(/\d/);
    expect(listTime(at('2026-03-08T12:00:00'), now)).toMatch(/26/);
  });

  test('from a clock that is ahead are still of today', () => {
    expect(listTime(at('2026-03-16T00:00:10'), at('2026-03-15T23:59:59'))).not.toBe('Yesterday');
  });

  test('of day lines are Today, Yesterday, or the day by name', () => {
    expect([dayName(now, now), dayName(at('2026-03-14T01:00:00'), now)]).toEqual(['Today', 'Yesterday']);
    expect(dayName(at('2025-12-31T12:00:00'), now)).toMatch(/2025/);
  });

  test('a minute around midnight is two days', () => {
    expect(isSameDay(at('2026-03-14T23:59:30'), at('2026-03-15T00:00:30'))).toBe(false);
    expect(isSameDay(at('2026-03-15T00:00:30'), at('2026-03-15T23:59:30'))).toBe(true);
  });
});

test('names are separated by commas or spaces, also full-width ones, each once', () => {
  expect(namesFrom(' bob, carol，dave、bob\n erin ')).toEqual(['bob', 'carol', 'dave', 'erin']);
  expect(namesFrom(' , ')).toEqual([]);
});

import { describe, expect, test } from 'vitest';
import { namesFrom } from '../src/shared/people.js';
import { hashOf, type Selection, selectionFrom } from '../src/shared/selection.js';
import { dayName, isSameDay, listTime } from '../src/shared/times.js';
import { english } from './support/speech.js';

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
  const wording = { language: 'en', say: english };

  test('of the list are the hour today, the day this week, the date before', () => {
    expect(listTime(at('2026-03-15T00:00:01'), now, wording)).toBe('00:00');
    expect(listTime(at('2026-03-14T23:59:59'), now, wording)).toBe('Yesterday');
    expect(listTime(at('2026-03-09T12:00:00'), now, wording)).toBe('Mon');
    expect(listTime(at('2026-03-08T12:00:00'), now, wording)).toBe('Mar 8');
    expect(listTime(at('2025-12-31T12:00:00'), now, wording)).toBe('Dec 31, 2025');
  });

  test('from a clock that is ahead are still of today', () => {
    expect(listTime(at('2026-03-16T00:00:10'), at('2026-03-15T23:59:59'), wording)).toBe('00:00');
  });

  test('of day lines are Today, Yesterday, or the day by name in the language of the page', () => {
    expect([dayName(now, now, wording), dayName(at('2026-03-14T01:00:00'), now, wording)]).toEqual(['Today', 'Yesterday']);
    expect(dayName(at('2025-12-31T12:00:00'), now, wording)).toBe('Wednesday, December 31, 2025');
    expect(dayName(at('2026-03-01T12:00:00'), now, { ...wording, language: 'zh' })).toContain('3月1日');
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

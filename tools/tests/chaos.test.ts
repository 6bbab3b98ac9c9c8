/** What judges a chaos run notices what it is there for; and a seed makes the same faults again. */
import { describe, expect, it } from 'vitest';
import { kindsFor, schedule } from '../chaos/schedule.js';
import { type FreshMessage, type FreshView, judge, type Meant, type Reader } from '../chaos/verdict.js';

const CHAT = 'g_chat';

function meant(seq: number, by: string, more: Partial<Meant> = {}): Meant {
  const acknowledged = { messageId: `m${seq}`, conversationSeq: seq };
  return { by, conversationId: CHAT, words: `w${seq}`, clientMessageId: `c${seq}`, acknowledged, recalled: false, ...more };
}

function message(seq: number, by: string, more: Partial<FreshMessage> = {}): FreshMessage {
  const ids = { messageId: `m${seq}`, clientMessageId: `c${seq}`, activityId: `a${seq}` };
  return { ...ids, conversationSeq: seq, by, control: false, words: `w${seq}`, ...more };
}

const MEANT = [meant(1, 'ann'), meant(2, 'ben'), meant(3, 'ann'), meant(4, 'ann', { recalled: true })];
const MESSAGES = [message(1, 'ann'), message(2, 'ben'), message(3, 'ann'), message(4, 'ann', { words: '' })];
const ENTRY = { damaged: false, head: 4, read: 1, unread: 1, exact: true };

/** Ben has read up to 1: of what follows, 3 counts. */
function ben(view: Partial<FreshView> = {}, heldMark = 1): Reader {
  return { user: 'ben', conversationId: CHAT, heldMark, view: { entry: ENTRY, messages: MESSAGES, ...view } };
}

function without(seq: number): readonly FreshMessage[] {
  return MESSAGES.filter(({ conversationSeq }) => conversationSeq !== seq);
}

describe('the verdict', () => {
  const kinds = (readers: readonly Reader[], intended: readonly Meant[] = MEANT) => {
    const { lost, doubled, divergences } = judge(intended, readers);
    return [lost.length, doubled.length, divergences.length];
  };

  it('finds nothing wrong with what is right', () => {
    expect(kinds([ben()])).toEqual([0, 0, 0]);
  });

  it('calls lost what was acknowledged and is gone, or has another place or id', () => {
    const entry = { ...ENTRY, unread: 0 };
    expect(kinds([ben({ entry, messages: without(3) })])).toEqual([1, 0, 0]);
    const moved = [...without(3), message(5, 'ann', { messageId: 'm3', clientMessageId: 'c3', words: 'w3' })];
    expect(kinds([ben({ entry: { ...ENTRY, head: 5 }, messages: moved })])).toEqual([1, 0, 1]);
    const other = MESSAGES.map((each) => (each.conversationSeq === 3 ? { ...each, messageId: 'x' } : each));
    expect(kinds([ben({ messages: other })])).toEqual([1, 0, 0]);
  });

  it('does not miss what was never acknowledged, and takes it when it is there', () => {
    const unanswered = MEANT.map((each) => (each.words === 'w3' ? { ...each, acknowledged: undefined } : each));
    expect(kinds([ben()], unanswered)).toEqual([0, 0, 0]);
    expect(kinds([ben({ entry: { ...ENTRY, unread: 0 }, messages: without(3) })], unanswered)).toEqual([0, 0, 0]);
  });

  it('calls doubled what is there twice, or was meant by nobody', () => {
    const twice = [...MESSAGES, message(5, 'ann', { clientMessageId: 'c3', words: 'w3' })];
    expect(kinds([ben({ entry: { ...ENTRY, head: 5, unread: 2 }, messages: twice })])[1]).toBe(1);
    const stranger = [...MESSAGES, message(5, 'ann')];
    expect(kinds([ben({ entry: { ...ENTRY, head: 5, unread: 2 }, messages: stranger })])).toEqual([0, 1, 0]);
  });

  it('sees a sender out of order, a wrong count, a wrong head, a mark that went back, damage, and a missing entry', () => {
    const [first, second, third, last] = MEANT;
    if (first === undefined || second === undefined || third === undefined || last === undefined) throw new Error('there are four');
    expect(kinds([ben()], [third, second, first, last])).toEqual([0, 0, 1]);
    for (const entry of [
      { ...ENTRY, unread: 2 },
      { ...ENTRY, exact: false },
      { ...ENTRY, head: 3 },
      { ...ENTRY, damaged: true },
      undefined,
    ]) {
      expect(kinds([ben({ entry })])).toEqual([0, 0, 1]);
    }
    expect(kinds([ben({}, 2)])).toEqual([0, 0, 1]);
  });

  it('sees words that were recalled, and readers who do not agree', () => {
    expect(kinds([ben({ entry: { ...ENTRY, unread: 2 }, messages: [...without(4), message(4, 'ann')] })])).toEqual([0, 0, 1]);
    const amended = MESSAGES.map((each) => ({ ...each, activityId: `${each.activityId}'` }));
    expect(kinds([ben(), ben({ messages: amended })])).toEqual([0, 0, 1]);
  });
});

describe('a schedule', () => {
  const options = { seed: 42, store: 'redis', servers: 2, durationMs: 10 * 60_000 } as const;

  it('is made again by its seed, and is another with another one', () => {
    expect(schedule(options)).toEqual(schedule(options));
    expect(schedule(options)).not.toEqual(schedule({ ...options, seed: 43 }));
  });

  it('has every kind before any a second time, one after the other, all within the time', () => {
    const faults = schedule(options);
    const kinds = kindsFor('redis', 2);
    expect(new Set(faults.slice(0, kinds.length).map(({ kind }) => kind))).toEqual(new Set(kinds));
    for (const [i, { atMs }] of faults.entries()) {
      const before = faults[i - 1];
      expect(atMs).toBeGreaterThan(before === undefined ? 0 : before.atMs + before.holdMs);
    }
    const last = faults.at(-1);
    expect((last?.atMs ?? 0) + (last?.holdMs ?? 0)).toBeLessThanOrEqual(options.durationMs);
    expect(new Set(faults.map(({ server }) => server))).toEqual(new Set([0, 1]));
  });

  it('meets no Redis where there is none, and no other server where there is one', () => {
    expect(kindsFor('embedded', 1)).not.toContain('redisKilled');
    expect(kindsFor('redis', 1)).not.toContain('pushOwnerKilled');
  });
});

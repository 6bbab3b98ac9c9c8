import type { HistoryPage, Message } from '@qim/client';
import { CLIENT_PUSHES_WAITING_MAX, CLIENT_WINDOW_MESSAGES_MAX } from '@qim/proto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Timeline } from '../src/timeline.js';
import { message, page, pageOf } from './support/messages.js';

function begun(first: HistoryPage): Timeline {
  const timeline = new Timeline();
  timeline.begin(first);
  return timeline;
}

function forward(timeline: Timeline, answer: HistoryPage, after = timeline.coveredTo): boolean {
  return timeline.applyForward(answer, { after, coveredThen: timeline.coveredTo, arrivalsThen: timeline.arrivals });
}

const seqs = (timeline: Timeline): number[] => timeline.messages.map((one) => one.conversationSeq);

describe('a push', () => {
  test('that follows what is held shows at once', () => {
    const timeline = begun(page([1, 2]));
    expect(timeline.push(message(3))).toBe('merged');
    expect(seqs(timeline)).toEqual([1, 2, 3]);
  });

  test('that came before is ignored', () => {
    const timeline = begun(page([1, 2]));
    expect(timeline.push(message(2))).toBe('ignored');
    expect(seqs(timeline)).toEqual([1, 2]);
  });

  test('past a gap waits unseen until history fills the gap', () => {
    const timeline = begun(page([1, 2]));
    expect(timeline.push(message(5))).toBe('waiting');
    expect(seqs(timeline)).toEqual([1, 2]);
    expect(forward(timeline, page([4, 5]))).toBe(true);
    expect(seqs(timeline)).toEqual([1, 2, 4, 5]);
    expect(timeline.hasWaiting).toBe(false);
  });

  test('out of order shows with the one that it waited for', () => {
    const timeline = begun(page([1]));
    expect(timeline.push(message(3))).toBe('waiting');
    expect(timeline.push(message(2))).toBe('merged');
    expect(seqs(timeline)).toEqual([1, 2, 3]);
  });

  test('before the first page waits for it, and goes on where the page ends', () => {
    const timeline = new Timeline();
    timeline.push(message(3));
    timeline.push(message(2));
    timeline.begin(page([1, 2]));
    expect(seqs(timeline)).toEqual([1, 2, 3]);
  });

  test('that history does not show, though asked after it came, is dropped', () => {
    const timeline = begun(page([1]));
    timeline.push(message(9));
    forward(timeline, page([]));
    expect(timeline.hasWaiting).toBe(false);
    expect(seqs(timeline)).toEqual([1]);
  });

  test('that came after history was asked is not denied by the answer', () => {
    const timeline = begun(page([1]));
    const asked = { after: 1, coveredThen: 1, arrivalsThen: timeline.arrivals };
    timeline.push(message(3));
    timeline.applyForward(page([]), asked);
    expect(timeline.hasWaiting).toBe(true);
  });

  test('of an older epoch is ignored, of a newer one is a conflict', () => {
    const timeline = begun(page([1], false, 2));
    expect(timeline.push(message(2, { epoch: 1 }))).toBe('ignored');
    expect(timeline.push(message(2, { epoch: 3 }))).toBe('conflict');
  });

  test('with another id under a held sequence is a conflict', () => {
    expect(begun(page([1, 2])).push(message(2, { messageId: 'other' }))).toBe('conflict');
  });

  test('older than what is loaded is ignored', () => {
    expect(begun(page([7, 8], true)).push(message(3))).toBe('ignored');
  });

  test('in the middle of what history showed, where it showed nothing, is a conflict', () => {
    expect(begun(page([1, 5])).push(message(3))).toBe('conflict');
  });

  test('waits only up to the bound; what is dropped past it comes from history', () => {
    const timeline = begun(page([1]));
    for (let n = 0; n <= CLIENT_PUSHES_WAITING_MAX; n += 1) timeline.push(message(3 + n));
    timeline.push(message(2));
    expect(timeline.coveredTo).toBe(2 + CLIENT_PUSHES_WAITING_MAX);
  });
});

describe('an amendment', () => {
  const recalled = message(1, { status: 'recalled', revision: 2, content: { kind: 'none' } });

  test('replaces the message under its sequence', () => {
    const timeline = begun(page([1, 2]));
    expect(timeline.push(recalled)).toBe('merged');
    expect(timeline.messages[0]).toBe(recalled);
  });

  test('that is older than what is held changes nothing, however it comes', () => {
    const timeline = begun(page([1, 2]));
    timeline.push(recalled);
    expect(timeline.push(message(1, { revision: 1, status: 'edited' }))).toBe('ignored');
    forward(timeline, page([1, 2]), 0);
    expect(timeline.messages[0]).toBe(recalled);
  });

  test('that came before the first page is not lost to it', () => {
    const timeline = new Timeline();
    timeline.push(recalled);
    timeline.begin(page([1, 2]));
    expect(timeline.messages[0]).toBe(recalled);
  });
});

describe('a page', () => {
  test('of another epoch, or with another id under a held sequence, is a conflict', () => {
    expect(forward(begun(page([1])), page([2], false, 2))).toBe(false);
    expect(begun(page([5], true)).applyOlder(page([4], false, 2))).toBe(false);
    const other = { ...page([]), messages: [message(1, { messageId: 'other' })] };
    expect(forward(begun(page([1])), other, 0)).toBe(false);
  });

  test('takes away what is gone within it, and nothing after it', () => {
    const timeline = begun(page([1, 2, 3, 4]));
    forward(timeline, page([1, 3], true), 0);
    expect(seqs(timeline)).toEqual([1, 3, 4]);
  });

  test('that is the last takes away what is held past its end, and nothing that came after it was asked for', () => {
    const timeline = begun(page([1, 2, 3, 4]));
    const asked = { after: 0, coveredThen: 4, arrivalsThen: 0 };
    timeline.push(message(5));
    timeline.applyForward(page([1, 2]), asked);
    expect(seqs(timeline)).toEqual([1, 2, 5]);
  });

  test('of older ones goes before what is held', () => {
    const timeline = begun(page([5, 6], true));
    timeline.applyOlder(page([2, 4]));
    expect(seqs(timeline)).toEqual([2, 4, 5, 6]);
    expect(timeline.hasOlder).toBe(false);
  });
});

test('a window holds up to its bound; one more makes the oldest give way, to be loaded again', () => {
  const timeline = begun(page(Array.from({ length: CLIENT_WINDOW_MESSAGES_MAX }, (_, at) => at + 1)));
  expect([timeline.messages.length, timeline.hasOlder]).toEqual([CLIENT_WINDOW_MESSAGES_MAX, false]);
  timeline.push(message(CLIENT_WINDOW_MESSAGES_MAX + 1));
  expect([timeline.messages.length, timeline.hasOlder]).toEqual([CLIENT_WINDOW_MESSAGES_MAX, true]);
  expect(timeline.messages[0]?.conversationSeq).toBe(2);
});

/** What happens to a conversation, and what of it reaches the device. */
type Step =
  | { readonly do: 'commit'; readonly holes: number; readonly copies: number }
  | { readonly do: 'amend'; readonly which: number; readonly copies: number }
  | { readonly do: 'deliver'; readonly which: number }
  | { readonly do: 'older' }
  | { readonly do: 'forward' };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('commit' as const), holes: fc.nat(2), copies: fc.nat(2) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('amend' as const), which: fc.nat(30), copies: fc.nat(2) }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('deliver' as const), which: fc.nat(30) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'older' as const }) },
    { weight: 2, arbitrary: fc.constant({ do: 'forward' as const }) },
  ),
  { maxLength: 60 },
);

test('any order of pushes, doubles and losses, with holes and amendments, ends as a fresh fetch shows it', () => {
  fc.assert(
    fc.property(fc.nat(8), steps, (already, plan) => {
      let history: Message[] = Array.from({ length: already }, (_, at) => message(at + 1));
      const underway: Message[] = [];
      const timeline = begun(pageOf(history, 'newest', 3));
      const readOn = (from: number, limit: number): void => {
        for (let after = from, more = true; more; ) {
          const answer = pageOf(history, { after }, limit);
          expect(forward(timeline, answer, after)).toBe(true);
          after = answer.messages.at(-1)?.conversationSeq ?? after;
          more = answer.hasMore;
        }
      };
      for (const step of plan) {
        if (step.do === 'commit') {
          const committed = message((history.at(-1)?.conversationSeq ?? 0) + 1 + step.holes);
          history.push(committed);
          for (let n = 0; n < step.copies; n += 1) underway.push(committed);
        } else if (step.do === 'amend') {
          const before = history[step.which % Math.max(1, history.length)];
          if (before === undefined) continue;
          const amended = { ...before, revision: before.revision + 1, activityId: `${before.activityId}'` };
          history = history.map((one) => (one === before ? amended : one));
          for (let n = 0; n < step.copies; n += 1) underway.push(amended);
        } else if (step.do === 'deliver') {
          const [one] = underway.splice(step.which % Math.max(1, underway.length), 1);
          if (one !== undefined) expect(timeline.push(one)).not.toBe('conflict');
        } else if (step.do === 'older') {
          const first = timeline.messages[0];
          if (first !== undefined) timeline.applyOlder(pageOf(history, { before: first.conversationSeq }, 2));
        } else readOn(timeline.coveredTo, 2);
        // What shows is always a run of history without gaps, in no older state than it was shown before.
        const shown = timeline.messages.map((one) => one.conversationSeq);
        const run = history.map((one) => one.conversationSeq).filter((seq) => seq >= (shown[0] ?? Infinity) && seq <= (shown.at(-1) ?? 0));
        expect(shown).toEqual(run);
      }
      readOn((timeline.messages[0]?.conversationSeq ?? 1) - 1, 4);
      const first = timeline.messages[0]?.conversationSeq ?? 0;
      expect(timeline.messages).toEqual(history.filter((one) => one.conversationSeq >= first));
      expect(timeline.hasWaiting).toBe(false);
    }),
    { numRuns: 500 },
  );
});

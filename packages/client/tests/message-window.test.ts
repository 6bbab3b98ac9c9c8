import type { Conversation, HistoryPage, Message, ReadHistoryInput } from '@qim/client';
import { CATCH_UP_PAGES_MAX, CLIENT_WINDOW_MESSAGES_MAX, HISTORY_PAGE_SIZE_MAX } from '@qim/proto';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { clientError, QimClientError } from '../src/errors.js';
import type { CatchUpInput } from '../src/inputs.js';
import { MessageWindow } from '../src/message-window.js';
import type { CatchUpPage } from '../src/types.js';
import { message, pageOf } from './support/messages.js';

let history: Message[];
let reads: ReadHistoryInput[];
let cursor: number;
let epoch: number;
/** What the list says. */
let damagedAt: number | undefined;
let answer: (input: ReadHistoryInput) => Promise<HistoryPage>;
let catchUps: CatchUpInput[];
let catchUp: (input: CatchUpInput) => Promise<CatchUpPage>;
/** Sequence -> number of its newest amendment; `cursor` is the greatest. */
let amended: Map<number, number>;

function fromHistory({ afterSeq, beforeSeq, limit = 50 }: ReadHistoryInput): Promise<HistoryPage> {
  const position = afterSeq !== undefined ? { after: afterSeq } : beforeSeq !== undefined ? { before: beforeSeq } : 'newest';
  return Promise.resolve(pageOf(history, position, limit, epoch));
}

/** As the server answers: at most `limit` amendments are looked at. */
async function fromAmendments({ epoch: held, afterSeq, amendmentCursor, limit }: CatchUpInput): Promise<CatchUpPage> {
  if (held !== epoch || afterSeq > (history.at(-1)?.conversationSeq ?? 0)) return { reset: true };
  const page = await answer({ conversationId: 'g_1', afterSeq, limit });
  const past = [...amended].filter(([, number]) => number > amendmentCursor).sort(([, a], [, b]) => a - b);
  const looked = past.slice(0, limit);
  return {
    ...page,
    reset: false,
    amended: looked.flatMap(([seq]) => history.filter((one) => one.conversationSeq === seq && seq <= afterSeq)),
    hasMore: page.hasMore || past.length > limit,
    nextAfterSeq: page.messages.at(-1)?.conversationSeq ?? afterSeq,
    nextAmendmentCursor: past.length > limit ? (looked.at(-1)?.[1] ?? 0) : cursor,
  };
}

function recall(seq: number): void {
  history = history.map((one) => (one.conversationSeq === seq ? message(seq, { status: 'recalled', revision: 1 }) : one));
  cursor += 1;
  amended.set(seq, cursor);
}

beforeEach(() => {
  catchUps = [];
  catchUp = fromAmendments;
  amended = new Map();
  history = [];
  reads = [];
  cursor = 0;
  epoch = 1;
  damagedAt = undefined;
  answer = fromHistory;
});

function write(from: number, to: number): void {
  for (let seq = from; seq <= to; seq += 1) history.push(message(seq));
}

function opened(heldCursor?: number): MessageWindow {
  const window = new MessageWindow({
    conversationId: 'g_1',
    heldCursor: () => heldCursor,
    api: {
      readHistory: (input) => {
        reads.push(input);
        return answer(input);
      },
      catchUp: (input) => {
        catchUps.push(input);
        return catchUp(input);
      },
      getConversation: () =>
        Promise.resolve({
          damaged: damagedAt === undefined ? undefined : { conversationSeq: damagedAt },
          epoch,
          amendmentCursor: cursor,
          latestConversationSeq: history.at(-1)?.conversationSeq ?? 0,
        } as Conversation),
    },
  });
  window.resync();
  return window;
}

/** Everything here answers at once: a turn of the event loop is enough. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const seqs = (window: MessageWindow): number[] => window.state.snapshot().messages.map((one) => one.conversationSeq);

const statuses = (window: MessageWindow): string[] => window.state.snapshot().messages.map((one) => one.status);

describe('a resync', () => {
  test('asks for what is new and what was amended past the cursor, and whether the first is still the first', async () => {
    write(1, 3);
    const window = opened(0);
    await settle();
    reads = [];
    window.resync();
    await settle();
    const held = { conversationId: 'g_1', epoch: 1, afterSeq: 3, amendmentCursor: 0, limit: HISTORY_PAGE_SIZE_MAX };
    const first = { conversationId: 'g_1', afterSeq: 0, limit: 1 };
    expect([catchUps, reads]).toEqual([[held], [first]]);
    recall(2);
    write(4, 4);
    window.resync();
    await settle();
    expect([seqs(window), statuses(window)[1]]).toEqual([[1, 2, 3, 4], 'recalled']);
    window.resync();
    await settle();
    expect(catchUps.slice(1)).toEqual([held, { ...held, afterSeq: 4, amendmentCursor: 1 }]);
    expect(reads).toEqual([first, first, first]);
  });

  test('drops what the user has cleared meanwhile', async () => {
    write(1, 5);
    const window = opened(0);
    await settle();
    history = history.slice(3);
    window.resync();
    await settle();
    expect(seqs(window)).toEqual([4, 5]);
    history = [];
    window.resync();
    await settle();
    expect([seqs(window), window.state.snapshot().status]).toEqual([[], 'ready']);
  });

  test('goes on while there is more of either list, and passes over what it does not hold', async () => {
    write(1, 500);
    const window = opened(0);
    await settle();
    for (let seq = 500; seq >= 1; seq -= 1) recall(seq);
    write(501, 1_000);
    window.resync();
    await settle();
    expect([seqs(window)[0], seqs(window).length]).toEqual([451, 550]);
    expect(statuses(window).filter((status) => status === 'recalled')).toHaveLength(50);
    expect(catchUps.map(({ afterSeq, amendmentCursor }) => [afterSeq, amendmentCursor])).toEqual([
      [500, 0],
      [700, 200],
      [900, 400],
    ]);
  });

  test('that is told to begin anew does', async () => {
    write(1, 3);
    const window = opened(0);
    await settle();
    epoch = 2;
    history = [message(1, { epoch: 2 }), message(2, { epoch: 2, messageId: 'another' })];
    window.resync();
    await settle();
    expect(window.state.snapshot().messages.map(({ messageId }) => messageId)).toEqual([history[0]?.messageId, 'another']);
  });

  test.each(['UNIMPLEMENTED', 'CORRUPT_RECORD', 'UNSUPPORTED_VERSION'])('that is refused as %s reads plain history', async (reason) => {
    write(1, 250);
    const window = opened(0);
    await settle();
    for (let pages = 0; pages < 4; pages += 1) await window.loadOlder();
    catchUp = () => Promise.reject(new QimClientError({ code: 'data_loss', reason, message: 'no' }));
    recall(7);
    reads = [];
    window.resync();
    await settle();
    expect(statuses(window)[6]).toBe('recalled');
    expect(reads.map(({ afterSeq }) => afterSeq)).toEqual([0, 200, 250]);
    write(251, 251);
    window.resync();
    await settle();
    expect([seqs(window).at(-1), reads.length]).toEqual([251, 4]);
  });

  test('with a page that says there is more and goes nowhere is an error, and is asked once', async () => {
    write(1, 3);
    const window = opened(0);
    await settle();
    catchUp = async (input) => ({ ...((await fromAmendments(input)) as Extract<CatchUpPage, { reset: false }>), hasMore: true });
    window.resync();
    await settle();
    expect(window.state.snapshot()).toMatchObject({ status: 'error', error: { reason: 'BAD_ANSWER' } });
    expect([catchUps.length, seqs(window)]).toEqual([1, [1, 2, 3]]);
  });

  test('without a cursor from before reads what is held once more, to be sure', async () => {
    write(1, 2);
    const window = opened(undefined);
    await settle();
    reads = [];
    window.resync();
    await settle();
    expect(reads.map(({ afterSeq }) => afterSeq)).toEqual([0, 2]);
  });
});

describe('a return', () => {
  test('reads forward up to the bound of pages, and past it begins at the newest', async () => {
    write(1, 1);
    const window = opened(0);
    await settle();
    const most = CATCH_UP_PAGES_MAX * HISTORY_PAGE_SIZE_MAX;
    write(2, 1 + most);
    window.resync();
    await settle();
    expect([seqs(window)[0], seqs(window).length]).toEqual([2, most]);
    write(2 + most, 2 + 2 * most);
    window.resync();
    await settle();
    expect([seqs(window).length, seqs(window).at(-1)]).toEqual([50, 2 + 2 * most]);
  });

  test('that breaks in the middle keeps what came, and goes on from there', async () => {
    write(1, 1);
    const window = opened(0);
    await settle();
    write(2, 500);
    answer = (input) => (input.afterSeq === 201 ? Promise.reject(clientError('CONNECTION_LOST', 'lost', true)) : fromHistory(input));
    window.resync();
    await settle();
    expect(window.state.snapshot()).toMatchObject({ status: 'ready', error: undefined });
    expect(seqs(window).at(-1)).toBe(201);
    answer = fromHistory;
    catchUps = [];
    window.resync();
    await settle();
    expect([seqs(window).length, catchUps[0]?.afterSeq]).toEqual([500, 201]);
  });
});

describe('a server that contradicts itself', () => {
  test('about its epoch is asked no more often than something is pushed', async () => {
    write(1, 2);
    const window = opened(0);
    await settle();
    answer = async (input) => ({ ...(await fromHistory(input)), epoch: 10 + reads.length });
    reads = [];
    window.push(message(4));
    await settle();
    expect(reads.length).toBe(2);
    expect(seqs(window)).toEqual([1, 2]);
  });

  test('with pages that never go forward is not asked for ever', async () => {
    write(1, 2);
    const window = opened(0);
    await settle();
    answer = () => Promise.resolve({ messages: [], hasMore: true, epoch: 1 });
    window.push(message(9));
    await settle();
    expect(window.state.snapshot()).toMatchObject({ status: 'error', error: { reason: 'BAD_ANSWER' } });
    expect(seqs(window)).toEqual([1, 2]);
  });
});

test('a push that history denies is asked about once', async () => {
  write(1, 2);
  const window = opened(0);
  await settle();
  reads = [];
  window.push(message(9));
  await settle();
  expect(reads.length).toBe(1);
  expect(seqs(window)).toEqual([1, 2]);
});

test('a head that the list tells of while it is being read asks nothing more', async () => {
  write(1, 2);
  const window = opened(0);
  await settle();
  write(3, 4);
  reads = [];
  window.push(message(4));
  window.noted({ damaged: undefined, epoch: 1, latestConversationSeq: 4 } as Conversation);
  await settle();
  expect([reads.length, seqs(window)]).toEqual([1, [1, 2, 3, 4]]);
});

test('a window that was closed while reading shows nothing more', async () => {
  write(1, 2);
  const window = opened(0);
  window.close();
  await settle();
  expect(window.state.snapshot().status).toBe('loading');
});

test('one who was removed sees nothing of before, and everything anew when let in again', async () => {
  write(1, 2);
  const window = opened(0);
  await settle();
  answer = () => Promise.reject(new QimClientError({ code: 'not_found', reason: 'NOT_MEMBER', message: 'no' }));
  window.resync();
  await settle();
  expect(window.state.snapshot()).toMatchObject({ status: 'removed', messages: [] });
  answer = fromHistory;
  window.noted({ damaged: undefined, epoch: 1, latestConversationSeq: 2 } as Conversation);
  await vi.waitFor(() => expect(seqs(window)).toEqual([1, 2]));
});

test('a reading of before that ends badly does not shut out one who was let in again meanwhile', async () => {
  write(1, 2);
  const window = opened(0);
  await settle();
  let refuse: (error: QimClientError) => void = () => {};
  catchUp = () => new Promise((_, reject) => (refuse = reject));
  window.resync();
  window.removed();
  window.noted({ damaged: undefined, epoch: 1, latestConversationSeq: 2 } as Conversation);
  refuse(new QimClientError({ code: 'not_found', reason: 'NOT_MEMBER', message: 'no' }));
  await settle();
  expect([window.state.snapshot().status, seqs(window)]).toEqual(['ready', [1, 2]]);
});

test('older pages load up to what a window holds; then it is refused', async () => {
  write(1, CLIENT_WINDOW_MESSAGES_MAX + 10);
  const window = opened(0);
  await settle();
  while (seqs(window).length < CLIENT_WINDOW_MESSAGES_MAX) await window.loadOlder();
  await expect(window.loadOlder()).rejects.toMatchObject({ reason: 'CLIENT_LIMIT' });
  expect(window.state.snapshot().hasOlder).toBe(true);
});

describe('damage in the newest page', () => {
  const corrupt = new QimClientError({ code: 'data_loss', reason: 'CORRUPT_RECORD', message: 'damaged' });
  let bad: number | undefined;
  beforeEach(() => {
    bad = undefined;
    answer = async (input) => {
      const page = await fromHistory(input);
      if (page.messages.some(({ conversationSeq }) => conversationSeq === bad)) throw corrupt;
      return page;
    };
  });

  test.each([
    ['just below the newest', 99, [100]],
    ['in the middle of it', 80, Array.from({ length: 20 }, (_, n) => 81 + n)],
    ['at its beginning', 51, Array.from({ length: 49 }, (_, n) => 52 + n)],
  ])('%s: it is told, and what is sound after it shows', async (_, at, shown) => {
    write(1, 100);
    bad = at;
    const window = opened();
    await settle();
    expect(window.state.snapshot()).toMatchObject({ status: 'error', error: corrupt, hasOlder: true, hasNewer: false });
    expect(seqs(window)).toEqual(shown);
    expect(reads.length).toBeLessThanOrEqual(8);
    await expect(window.loadOlder()).rejects.toBe(corrupt);
    expect(seqs(window)).toEqual(shown);
  });

  test('stays told while messages come, and is over when it was mended', async () => {
    write(1, 10);
    bad = 4;
    const window = opened();
    await settle();
    window.push(message(11));
    write(11, 11);
    expect([window.state.snapshot().error, seqs(window)]).toEqual([corrupt, [5, 6, 7, 8, 9, 10, 11]]);
    window.resync();
    await settle();
    expect([window.state.snapshot().error, seqs(window).length]).toEqual([corrupt, 7]);
    bad = undefined;
    window.retry();
    await settle();
    expect([window.state.snapshot().status, seqs(window).length]).toEqual(['ready', 11]);
  });

  test('of the newest message itself: what precedes it shows as a part of the past, and nothing else shows as the newest', async () => {
    write(1, 60);
    [bad, damagedAt] = [60, 60];
    const window = opened();
    await settle();
    expect(window.state.snapshot()).toMatchObject({ status: 'error', error: corrupt, hasOlder: true, hasNewer: true });
    expect([seqs(window)[0], seqs(window).at(-1)]).toEqual([10, 59]);
    await expect(window.toLatest()).rejects.toBe(corrupt);
    await expect(window.loadNewer()).rejects.toBe(corrupt);
    window.resync();
    await settle();
    expect([window.state.snapshot().error, seqs(window).length]).toEqual([corrupt, 50]);
    bad = undefined;
    window.retry();
    await settle();
    expect(window.state.snapshot()).toMatchObject({ status: 'ready', hasNewer: false });
    expect(seqs(window).at(-1)).toBe(60);
  });

  test('that is everywhere shows nothing, after a few calls', async () => {
    write(1, 60);
    answer = () => Promise.reject(corrupt);
    damagedAt = 0;
    const window = opened();
    await settle();
    expect([window.state.snapshot().status, seqs(window), reads.length]).toEqual(['error', [], 2]);
  });
});

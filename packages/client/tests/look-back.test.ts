/** A part of the past that was jumped to, in place of the newest messages. */
import type { Conversation, Message, ReadHistoryInput } from '@qim/client';
import { HISTORY_PAGE_SIZE_DEFAULT } from '@qim/proto';
import { beforeEach, describe, expect, test } from 'vitest';
import { MessageWindow } from '../src/message-window.js';
import type { Preview } from '../src/types.js';
import { message, pageOf } from './support/messages.js';

const HALF = HISTORY_PAGE_SIZE_DEFAULT / 2;

let history: Message[];
let reads: ReadHistoryInput[];
let epoch: number;
let fails: boolean;

beforeEach(() => {
  history = Array.from({ length: 300 }, (_, i) => message(i + 1));
  reads = [];
  epoch = 1;
  fails = false;
});

const entry = (): Conversation =>
  ({ damaged: undefined, epoch, amendmentCursor: 0, latestConversationSeq: history.at(-1)?.conversationSeq ?? 0 }) as Conversation;

async function opened(): Promise<MessageWindow> {
  const window = new MessageWindow({
    conversationId: 'g_1',
    heldCursor: () => undefined,
    api: {
      readHistory: async (input) => {
        reads.push(input);
        if (fails) throw new Error('no link');
        const { afterSeq, beforeSeq, limit = 50 } = input;
        const position = afterSeq !== undefined ? { after: afterSeq } : beforeSeq !== undefined ? { before: beforeSeq } : 'newest';
        return pageOf(history, position, limit, epoch);
      },
      catchUp: () => Promise.reject(new Error('there is no cursor')),
      getConversation: async () => entry(),
    },
  });
  window.resync();
  await settled();
  reads = [];
  return window;
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** First and last sequence, and whether there are more before and after. */
function shown(window: MessageWindow): (number | boolean | undefined)[] {
  const { messages, hasOlder, hasNewer } = window.state.snapshot();
  const [first, last] = [messages[0]?.conversationSeq, messages.at(-1)?.conversationSeq];
  expect(messages.map(({ conversationSeq }) => conversationSeq)).toEqual(
    history.map(({ conversationSeq }) => conversationSeq).filter((seq) => seq >= (first ?? 0) && seq <= (last ?? 0)),
  );
  return [first, last, hasOlder, hasNewer];
}

describe('a jump', () => {
  test('far back shows half a page of each side, at the cost of two calls', async () => {
    const window = await opened();
    expect(shown(window)).toEqual([251, 300, true, false]);
    await window.jumpTo(100);
    expect(shown(window)).toEqual([100 - HALF + 1, 100 + HALF, true, true]);
    expect(reads).toHaveLength(2);
  });

  test('to what is held asks nothing', async () => {
    const window = await opened();
    await window.jumpTo(251);
    await window.jumpTo(300);
    expect(reads).toEqual([]);
  });

  test('to what adjoins what is held makes it grow, and stays with the newest', async () => {
    const window = await opened();
    await window.jumpTo(251 - HALF - 1);
    expect(shown(window)).toEqual([251 - HALF * 2, 300, true, false]);
    await window.jumpTo(251 - HALF * 2 - HALF - 2);
    expect(shown(window)[3]).toBe(true);
  });

  test('to a hole, and to before the first, shows what lies around', async () => {
    history = history.filter(({ conversationSeq }) => conversationSeq > 20 && (conversationSeq < 90 || conversationSeq > 110));
    const window = await opened();
    await window.jumpTo(100);
    expect(shown(window)).toEqual([90 - HALF, 110 + HALF, true, true]);
    await window.jumpTo(3);
    expect(shown(window)).toEqual([21, 21 + HALF - 1, false, true]);
  });

  test('that fails leaves what is shown as it is', async () => {
    const window = await opened();
    fails = true;
    await expect(window.jumpTo(100)).rejects.toThrow('no link');
    expect(shown(window)).toEqual([251, 300, true, false]);
  });
});

describe('while a part of the past is shown', () => {
  async function jumped(): Promise<MessageWindow> {
    const window = await opened();
    await window.jumpTo(100);
    reads = [];
    return window;
  }

  test('what is new is not shown and asks nothing; what is amended of it is', async () => {
    const window = await jumped();
    history.push(message(301));
    window.push(message(301));
    window.noted(entry());
    await settled();
    expect([shown(window)[1], reads]).toEqual([100 + HALF, []]);
    window.push(message(100, { status: 'edited', revision: 1 }));
    expect(window.state.snapshot().messages.find(({ conversationSeq }) => conversationSeq === 100)?.status).toBe('edited');
  });

  test('it grows both ways, until it ends in the newest and lives again', async () => {
    const window = await jumped();
    await window.loadOlder();
    await window.loadNewer();
    expect(shown(window)).toEqual([26, 175, true, true].map((one) => (one === 26 ? 100 - HALF + 1 - HISTORY_PAGE_SIZE_DEFAULT : one)));
    while (window.state.snapshot().hasNewer) await window.loadNewer();
    window.push(message(301));
    history.push(message(301));
    expect(shown(window).slice(1)).toEqual([301, true, false]);
    reads = [];
    await window.loadNewer();
    expect(reads.filter(({ beforeSeq }) => beforeSeq !== undefined)).toEqual([]);
  });

  test('what was pushed while the last page was on its way is read after it', async () => {
    const window = await jumped();
    while ((window.state.snapshot().messages.at(-1)?.conversationSeq ?? 0) < 275) await window.loadNewer();
    const last = window.loadNewer();
    history.push(message(301));
    window.push(message(301));
    await last;
    await settled();
    expect(shown(window).slice(1)).toEqual([301, true, false]);
  });

  test('the way back to the newest is one page, and shows no emptiness', async () => {
    const window = await jumped();
    const lengths: number[] = [];
    window.state.subscribe(() => lengths.push(window.state.snapshot().messages.length));
    await window.toLatest();
    await settled();
    expect([shown(window), lengths.includes(0)]).toEqual([[251, 300, true, false], false]);
    reads = [];
    await window.toLatest();
    expect(reads).toEqual([]);
  });

  test('a resync reads the part again, and no more', async () => {
    const window = await jumped();
    history = history.filter(({ conversationSeq }) => conversationSeq !== 99);
    window.resync();
    await settled();
    expect(window.state.snapshot().messages.some(({ conversationSeq }) => conversationSeq === 99)).toBe(false);
    expect([shown(window)[0], reads.length]).toEqual([100 - HALF + 1, 1]);
  });

  test('another epoch begins anew with the newest', async () => {
    const window = await jumped();
    epoch = 2;
    history = history.map((one) => ({ ...one, epoch: 2 }));
    window.resync();
    await settled();
    expect(shown(window)).toEqual([251, 300, true, false]);
  });

  test('it is not what is kept for the next time', async () => {
    const window = await jumped();
    expect(window.held(100)).toBeUndefined();
    await window.toLatest();
    expect(window.held(100)?.messages.at(-1)?.conversationSeq).toBe(300);
  });
});

describe('what a message replies to', () => {
  const replyTo = { conversationSeq: 1, messageId: 'm1' };
  const replyPreview: Preview = {
    messageId: 'm1',
    conversationSeq: 1,
    type: 1,
    status: 'normal',
    senderUserId: 'bob',
    snippet: 'the first',
    truncated: false,
    committedAtMs: 1,
  };
  const quoteOf = (window: MessageWindow): Preview | undefined => window.state.snapshot().messages.at(-1)?.replyPreview;

  test('stays with it through a change of it that does not tell', async () => {
    history[299] = message(300, { replyTo, replyPreview });
    const window = await opened();
    window.push(message(300, { replyTo, reactionsRevision: 1 }));
    expect([quoteOf(window), window.state.snapshot().messages.at(-1)?.reactionsRevision]).toEqual([replyPreview, 1]);
  });

  test('is learnt from history by a message that was pushed', async () => {
    const window = await opened();
    window.push(message(301, { replyTo }));
    expect(quoteOf(window)).toBeUndefined();
    history.push(message(301, { replyTo, replyPreview }));
    window.resync();
    await settled();
    window.noted({ ...entry(), amendmentCursor: 1 } as Conversation);
    window.push(message(301, { replyTo, replyPreview }));
    expect(quoteOf(window)).toEqual(replyPreview);
  });

  test('loses its text when it is recalled, held or not, and no late page brings it back', async () => {
    history[299] = message(300, { replyTo, replyPreview });
    const window = await opened();
    window.push(message(1, { status: 'recalled', revision: 1 }));
    expect(quoteOf(window)).toMatchObject({ status: 'recalled', snippet: '' });
    window.push(message(300, { replyTo, replyPreview, reactionsRevision: 1 }));
    expect(quoteOf(window)).toMatchObject({ status: 'recalled', snippet: '' });
  });

  test('goes with the text of the message itself', async () => {
    history[299] = message(300, { replyTo, replyPreview });
    const window = await opened();
    window.push(message(300, { replyTo, status: 'recalled', revision: 1 }));
    expect(quoteOf(window)).toBeUndefined();
  });
});

/** What the open conversations hold of how far others have read. */
import { CLIENT_READ_MARKS_MAX, MEMBERS_PAGE_SIZE, RECEIPT_MEMBERS_MAX } from '@qim/proto';
import { expect, test, vi } from 'vitest';
import { environmentFrom } from '../src/environment.js';
import { clientError, QimClientError } from '../src/errors.js';
import { Outbox } from '../src/outbox.js';
import { Typing } from '../src/typing.js';
import { Windows } from '../src/windows.js';
import { sound } from './support/entries.js';
import { FakeSocket } from './support/fake-socket.js';

type ReadMarks = ReadonlyMap<string, number>;

/** Of a server that answers nothing but how far others have read. */
function opened(readMarks: () => Promise<ReadMarks> = () => new Promise(() => {}), hasReceipts: () => boolean = () => true) {
  const environment = environmentFrom({ WebSocket: FakeSocket });
  const never = () => new Promise<never>(() => {});
  const windows = new Windows({
    api: { readHistory: never, catchUp: never, getConversation: never, listMembers: never, readMarks },
    outbox: new Outbox({
      api: { sendOnce: never },
      environment,
      pause: never,
      keeper: { put: () => {}, remove: () => {} },
      sent: () => false,
    }),
    typing: new Typing({ api: { setTyping: never }, environment }),
    heldCursor: () => undefined,
    markRead: () => {},
    hasReceipts,
    kept: async () => undefined,
    changed: () => {},
  });
  return { windows, open: windows.open('g_1') };
}

test('a read mark is only ever raised, whatever the order of events, and is of its conversation alone', () => {
  const { windows, open } = opened();
  windows.readBy('g_1', 'bob', 5);
  const raised = open.readMarks.snapshot();
  windows.readBy('g_1', 'bob', 4);
  windows.readBy('g_1', 'bob', 5);
  windows.readBy('g_2', 'bob', 9);
  expect([open.readMarks.snapshot(), [...raised]]).toEqual([raised, [['bob', 5]]]);
  expect(open.readMarks.snapshot()).toBe(raised);
  windows.readBy('g_1', 'bob', 6);
  expect([...open.readMarks.snapshot()]).toEqual([['bob', 6]]);
});

test('read marks are held of members up to the bound; of those held they still rise', () => {
  const { windows, open } = opened();
  for (let n = 0; n <= CLIENT_READ_MARKS_MAX; n += 1) windows.readBy('g_1', `user${n}`, 1);
  windows.readBy('g_1', 'user0', 2);
  const marks = open.readMarks.snapshot();
  expect([marks.size, marks.get(`user${CLIENT_READ_MARKS_MAX}`), marks.get('user0')]).toEqual([CLIENT_READ_MARKS_MAX, undefined, 2]);
});

test('a group with read receipts fits into one page of members, and into what is held', () => {
  expect(RECEIPT_MEMBERS_MAX).toBeLessThanOrEqual(Math.min(MEMBERS_PAGE_SIZE, CLIENT_READ_MARKS_MAX));
});

test('how far others have read is asked once somebody watches, and what was told meanwhile is not taken back', async () => {
  let answer: (marks: ReadMarks) => void = () => {};
  const readMarks = vi.fn(() => new Promise<ReadMarks>((resolve) => (answer = resolve)));
  const { windows, open } = opened(readMarks);
  expect(readMarks).not.toHaveBeenCalled();
  open.readMarks.subscribe(() => {});
  windows.readBy('g_1', 'bob', 7);
  answer(new Map([...Object.entries({ bob: 5, carol: 3 })]));
  await vi.waitFor(() => expect([...open.readMarks.snapshot()]).toEqual([...Object.entries({ bob: 7, carol: 3 })]));
  expect(readMarks).toHaveBeenCalledTimes(1);
});

test('how far others have read is asked again after what may have been missed, and after a failure that is the link’s', async () => {
  const answers: (() => Promise<ReadMarks>)[] = [
    () => Promise.reject(clientError('CONNECTION_LOST', 'lost')),
    async () => new Map([['bob', 1]]),
    () => Promise.reject(new QimClientError({ code: 'data_loss', reason: 'CORRUPT_RECORD', message: '' })),
    async () => new Map([['bob', 2]]),
  ];
  const readMarks = vi.fn(() => answers.shift()?.() ?? Promise.reject(new Error('asked too often')));
  const { windows, open } = opened(readMarks);
  open.readMarks.subscribe(() => {});
  const asked = (times: number) => vi.waitFor(() => expect(readMarks).toHaveBeenCalledTimes(times));
  await asked(1);
  await vi.waitFor(() => {
    windows.noted(sound('g_1'));
    expect(open.readMarks.snapshot().get('bob')).toBe(1);
  });
  windows.touchMembers();
  await asked(3);
  windows.noted(sound('g_1'));
  await asked(3);
  windows.touchMembers('g_1');
  await vi.waitFor(() => expect(open.readMarks.snapshot().get('bob')).toBe(2));
  expect(readMarks).toHaveBeenCalledTimes(4);
});

test('where there are no read receipts nothing is asked, until there are', async () => {
  let has = false;
  const readMarks = vi.fn(async () => new Map([['bob', 1]]));
  const { windows, open } = opened(readMarks, () => has);
  open.readMarks.subscribe(() => {});
  windows.touchMembers('g_1');
  windows.noted(sound('g_1'));
  expect(readMarks).not.toHaveBeenCalled();
  has = true;
  windows.noted(sound('g_1'));
  await vi.waitFor(() => expect(open.readMarks.snapshot().get('bob')).toBe(1));
});

/** What the open conversations hold of how far others have read. */
import { CLIENT_READ_MARKS_MAX } from '@qim/proto';
import { expect, test } from 'vitest';
import { environmentFrom } from '../src/environment.js';
import { Outbox } from '../src/outbox.js';
import { Typing } from '../src/typing.js';
import { Windows } from '../src/windows.js';
import { FakeSocket } from './support/fake-socket.js';

/** Of a server that does not answer. */
function opened() {
  const environment = environmentFrom({ WebSocket: FakeSocket });
  const never = () => new Promise<never>(() => {});
  const windows = new Windows({
    api: { readHistory: never, catchUp: never, getConversation: never, listMembers: never },
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

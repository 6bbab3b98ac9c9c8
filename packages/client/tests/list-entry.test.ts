import { EXACT_UNREAD_SCAN_LIMIT, MessageType, SNIPPET_BYTES_MAX } from '@qim/proto';
import { expect, test } from 'vitest';
import { withOwnMessage, withReadMark } from '../src/list-entry.js';
import type { Message, SoundConversation } from '../src/types.js';
import { MESSAGE, sound } from './support/entries.js';

const HELD: SoundConversation = { ...sound('a', 5), readConversationSeq: 3, unreadCount: 1, mentionCount: 1 };

function own(part: Partial<Message> = {}): Message {
  return { ...MESSAGE, conversationId: 'a', conversationSeq: 6, messageId: 'm6', activityId: 'a6', ...part };
}

test("a message of one's own right after the head is the new head and preview, and leaves all counts as they are", () => {
  expect(withOwnMessage(HELD, own())).toEqual({
    ...HELD,
    latestConversationSeq: 6,
    lastMessageId: 'm6',
    lastActivityId: 'a6',
    preview: {
      messageId: 'm6',
      conversationSeq: 6,
      type: MessageType.Text,
      status: MESSAGE.status,
      senderUserId: MESSAGE.senderUserId,
      snippet: 'hello',
      truncated: false,
      committedAtMs: MESSAGE.committedAtMs,
    },
  });
});

test('a control message is the head, and no preview', () => {
  const control = own({ type: MessageType.Control, content: { kind: 'none' } });
  expect(withOwnMessage(HELD, control)).toMatchObject({ latestConversationSeq: 6, preview: HELD.preview });
});

test.each([
  ['something may lie in between', HELD, own({ conversationSeq: 7 })],
  ['it is older than the head', HELD, own({ conversationSeq: 5 })],
  ['its sequences are of another epoch', HELD, own({ epoch: 2 })],
  ['the entry is of a store that was set back', { ...HELD, watermarkAhead: true }, own()],
  ['the preview is damaged', { ...HELD, previewDamaged: { reason: 'recordMissing', conversationSeq: 4 } }, own()],
  ['the entry is damaged', { ...HELD, damaged: { reason: 'recordMissing', conversationSeq: 4 } }, own()],
] as const)('nothing is said when %s', (_, held, message) => {
  expect(withOwnMessage(held as SoundConversation, message)).toBeUndefined();
});

test('an exact count stays one up to the distance that is counted one by one, and is asked for past it', () => {
  const at = (distance: number) => withOwnMessage({ ...HELD, readConversationSeq: 6 - distance }, own());
  expect(at(EXACT_UNREAD_SCAN_LIMIT)).toMatchObject({ unreadCount: 1, unreadExact: true });
  expect(at(EXACT_UNREAD_SCAN_LIMIT + 1)).toBeUndefined();
  const saturated = { ...HELD, readConversationSeq: -300, unreadCount: 200, unreadExact: false, mentionCount: undefined };
  expect(withOwnMessage(saturated, own())).toMatchObject({ unreadCount: 200, unreadExact: false });
});

test('a preview is cut where the server cuts it: at whole characters, within its bytes', () => {
  const text = `${'a'.repeat(SNIPPET_BYTES_MAX - 1)}\u{1f600} and more`;
  const preview = withOwnMessage(HELD, own({ content: { kind: 'text', text } }))?.preview;
  expect(preview).toMatchObject({ snippet: 'a'.repeat(SNIPPET_BYTES_MAX - 1), truncated: true });
  const data = { kind: 'data', contentType: 'image/png', data: new Uint8Array(1) } as const;
  expect(withOwnMessage(HELD, own({ content: data }))?.preview).toMatchObject({ snippet: 'image/png', truncated: false });
});

test('a mark at the head leaves nothing unread; any other mark is asked about', () => {
  const marked = { ...HELD, flags: { ...HELD.flags, markedUnread: true } };
  expect(withReadMark(marked, 5)).toEqual({ ...HELD, readConversationSeq: 5, unreadCount: 0, mentionCount: 0 });
  const saturated = { ...HELD, unreadCount: 200, unreadExact: false, mentionCount: undefined };
  expect(withReadMark(saturated, 5)).toMatchObject({ unreadCount: 0, unreadExact: true, mentionCount: 0 });
  expect(withReadMark(HELD, 4)).toBeUndefined();
  expect(withReadMark(HELD, 6)).toBeUndefined();
  expect(withReadMark({ ...HELD, watermarkAhead: true }, 5)).toBeUndefined();
});

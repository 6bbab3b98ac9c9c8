import { MessageStatus, MessageType, parseUserId, type UserId } from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { countsAsUnread, judgeUnread, type UnreadVerdict } from '../src/message/unread.js';
import { ALICE, BOB } from './records.js';

const { Normal, Edited, Recalled, Deleted } = MessageStatus;
const { Text, Control } = MessageType;
const UNKNOWN = 4711;

/** As Bob sees it. */
const TABLE: readonly (readonly [UserId, MessageType, MessageStatus, UnreadVerdict])[] = [
  [ALICE, Text, Normal, 'counted'],
  [ALICE, Text, Edited, 'counted'],
  [ALICE, Text, Recalled, 'recalled'],
  [ALICE, Text, Deleted, 'deleted'],
  [BOB, Text, Normal, 'own'],
  [BOB, Text, Edited, 'own'],
  [BOB, Text, Recalled, 'own'],
  [BOB, Text, Deleted, 'own'],
  [ALICE, Control, Normal, 'control'],
  [ALICE, Control, Edited, 'control'],
  [BOB, Control, Normal, 'control'],
  [BOB, Control, Deleted, 'control'],
  [ALICE, UNKNOWN, Normal, 'counted'],
  [ALICE, UNKNOWN, Recalled, 'recalled'],
];

describe('what is unread', () => {
  test.each(TABLE)('of %s, type %i, status %i: %s', (senderUserId, type, status, verdict) => {
    expect(judgeUnread({ senderUserId, type, status }, BOB)).toBe(verdict);
    expect(countsAsUnread({ senderUserId, type, status }, BOB)).toBe(verdict === 'counted');
  });

  test('every known type but Control counts', () => {
    for (const type of Object.values(MessageType)) {
      expect(countsAsUnread({ senderUserId: ALICE, type, status: Normal }, BOB)).toBe(type !== Control);
    }
  });

  test('a sender is compared byte for byte', () => {
    for (const other of ['Bob', 'bob ', 'bo', 'bobb']) {
      expect(countsAsUnread({ senderUserId: parseUserId(other), type: Text, status: Normal }, BOB)).toBe(true);
    }
  });
});

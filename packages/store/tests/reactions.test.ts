import {
  MessageStatus,
  parseMessageId,
  parseUserId,
  REACTION_KINDS_MAX,
  REACTION_USERS_MAX,
  REACTIONS_BYTES_MAX,
  type Reactions,
} from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { decodeReactions, encodeReactions, readReactions } from '../src/message/reactions.js';
import { recordOf, uuid } from './records.js';

const RECORD = recordOf(1);
const REACTIONS: Reactions = {
  revision: 7,
  kinds: [
    { emoji: '\u{1F44D}', userIds: ['alice', 'b\u00F6b'].map((id) => parseUserId(id)) },
    { emoji: ':party parrot:', userIds: [parseUserId('x'.repeat(64))] },
  ],
};
const BYTES = encodeReactions(RECORD.messageId, REACTIONS);

describe('stored reactions', () => {
  test('have the form that their header tells, for ever', () => {
    const none = encodeReactions(RECORD.messageId, { revision: 2, kinds: [] });
    const id = RECORD.messageId.replaceAll('-', '');
    expect(Buffer.from(none).toString('hex')).toMatch(new RegExp(`^01fe[0-9a-f]{16}${id}0000000200$`));
    const one = encodeReactions(RECORD.messageId, { revision: 258, kinds: [{ emoji: 'ab', userIds: [parseUserId('c')] }] });
    expect(Buffer.from(one).toString('hex')).toMatch(new RegExp(`^01fe[0-9a-f]{16}${id}0000010201026162010163$`));
  });

  test('are read as they were written', () => {
    for (const reactions of [REACTIONS, { revision: 0, kinds: [] }, { revision: 2 ** 32 - 1, kinds: [] }]) {
      expect(decodeReactions(RECORD, encodeReactions(RECORD.messageId, reactions))).toEqual(reactions);
    }
  });

  test('of another message are unreadable, and beside an erased one there are none', () => {
    const other = recordOf(1, { messageId: parseMessageId(uuid('message', 2)) });
    expect(decodeReactions(other, BYTES)).toBe('reactionsUnreadable');
    for (const status of [MessageStatus.Recalled, MessageStatus.Deleted]) {
      expect(decodeReactions({ ...RECORD, status }, BYTES)).toBeUndefined();
    }
    expect(decodeReactions(RECORD, undefined)).toBeUndefined();
  });

  test('with any bit flipped, cut anywhere, or with a byte more are noticed', () => {
    for (let bit = 0; bit < BYTES.length * 8; bit += 1) {
      const flipped = BYTES.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(readReactions(flipped), `bit ${bit}`).toBe('reactionsUnreadable');
    }
    for (let length = 0; length < BYTES.length; length += 1) expect(readReactions(BYTES.subarray(0, length))).toBe('reactionsUnreadable');
    expect(readReactions(Uint8Array.of(...BYTES, 0))).toBe('reactionsUnreadable');
  });

  test('of a newer version say so', () => {
    expect(readReactions(Uint8Array.of(2, 0xfd, ...BYTES.subarray(2)))).toBe('unsupportedVersion');
  });

  test('at every bound fit a length byte each, and the bytes of one message', () => {
    expect(Math.max(REACTION_KINDS_MAX, REACTION_USERS_MAX)).toBeLessThan(256);
    expect(REACTIONS_BYTES_MAX).toBeGreaterThan(REACTION_USERS_MAX * 65);
  });
});

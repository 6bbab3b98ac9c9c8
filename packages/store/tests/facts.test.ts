import { ConversationKind, HistoryVisibility, Role, SEQ_MAX } from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { changedFlags, flagsOf, formatViewEntry, parseViewEntry, ViewState } from '../src/directory/view-entry.js';
import { keyPart } from '../src/key-part.js';
import { sequenceFromBytes, sequenceToBytes } from '../src/message/bytes.js';
import {
  FACT_FIELDS,
  type FactField,
  formatFacts,
  formatMember,
  initialFacts,
  parseFacts,
  parseMember,
  type StoredFacts,
} from '../src/message/facts.js';
import { ALICE, BOB, seq } from './records.js';

const SETTINGS = { historyVisibility: HistoryVisibility.All, onlyAdminsPost: true };
const GROUP: StoredFacts = {
  ...initialFacts(ConversationKind.Group, 'a "title" 用户', SETTINGS, []),
  lastSequence: seq(SEQ_MAX),
  reservedThrough: seq(12),
  lastCommittedAtMs: 1_700_000_000_000,
  retainedFrom: seq(3),
  previewSequence: seq(7),
  amendmentNumber: 4,
  epoch: 2,
};

function fieldsOf(facts: StoredFacts, over: Partial<Record<FactField, string | undefined>> = {}): (string | undefined)[] {
  const fields = { ...formatFacts(facts), ...over };
  return FACT_FIELDS.map((field) => fields[field]);
}

describe('facts', () => {
  test('are the text fields of the table', () => {
    expect(formatFacts(GROUP)).toEqual({
      kind: '2',
      title: 'a "title" 用户',
      settings: '{"historyVisibility":2,"onlyAdminsPost":true}',
      pair: '[]',
      lastSequence: '9007199254740991',
      reservedThrough: '12',
      lastCommittedAt: '1700000000000',
      retainedFrom: '3',
      previewSequence: '7',
      amendmentNumber: '4',
      epoch: '2',
    });
  });

  test('are read as they were written', () => {
    expect(parseFacts(fieldsOf(GROUP))).toEqual(GROUP);
    const direct = initialFacts(ConversationKind.Direct, '', SETTINGS, [ALICE, BOB]);
    expect(parseFacts(fieldsOf(direct))).toEqual(direct);
  });

  test('of a new conversation say that nothing was written yet', () => {
    const { lastSequence, reservedThrough, lastCommittedAtMs, retainedFrom, previewSequence, amendmentNumber, epoch } = initialFacts(
      ConversationKind.Group,
      '',
      SETTINGS,
      [],
    );
    expect([lastSequence, reservedThrough, lastCommittedAtMs, retainedFrom, previewSequence, amendmentNumber, epoch]).toEqual([
      0, 0, 0, 1, 0, 0, 1,
    ]);
  });

  test('that are all absent are no facts, and one that is absent is damage', () => {
    expect(parseFacts(FACT_FIELDS.map(() => undefined))).toBeUndefined();
    expect(parseFacts(FACT_FIELDS.map(() => null))).toBeUndefined();
    for (const field of FACT_FIELDS) expect(parseFacts(fieldsOf(GROUP, { [field]: undefined })), field).toBe('factsUnreadable');
  });

  test.each([
    ['kind', '0'],
    ['kind', '3'],
    ['kind', ''],
    ['kind', '1'],
    ['settings', '{}'],
    ['settings', 'no JSON'],
    ['settings', '[]'],
    ['settings', '{"historyVisibility":3,"onlyAdminsPost":true}'],
    ['settings', '{"historyVisibility":1,"onlyAdminsPost":1}'],
    ['pair', '["alice"]'],
    ['pair', '[1]'],
    ['pair', '{}'],
    ['pair', '[""]'],
    ['lastSequence', ''],
    ['lastSequence', '-1'],
    ['lastSequence', '01'],
    ['lastSequence', '1.0'],
    ['lastSequence', '1e3'],
    ['lastSequence', ' 1'],
    ['lastSequence', '9007199254740992'],
    ['lastSequence', '99999999999999999999'],
    ['reservedThrough', 'x'],
    ['lastCommittedAt', 'NaN'],
    ['retainedFrom', '0'],
    ['previewSequence', '-0'],
    ['amendmentNumber', '0x1'],
    ['epoch', '0'],
  ] as const)('with %s %j are damage', (field, value) => {
    expect(parseFacts(fieldsOf(GROUP, { [field]: value }))).toBe('factsUnreadable');
  });

  test('of a direct conversation name one or two users', () => {
    const direct = initialFacts(ConversationKind.Direct, '', SETTINGS, [ALICE]);
    expect(parseFacts(fieldsOf(direct))).toEqual(direct);
    for (const pair of ['[]', '["a","b","c"]']) expect(parseFacts(fieldsOf(direct, { pair }))).toBe('factsUnreadable');
  });
});

test.each(['["a","b"]', '["a", "b"]', '["a\\u0062","b"]', '["你好","b"]', '["a","b\\"c"]', '["a\\",\\"b"]', '["alice"]'])(
  'the pair %s is what JSON says',
  (pair) => {
    const direct = initialFacts(ConversationKind.Direct, '', SETTINGS, [ALICE]);
    expect(parseFacts(fieldsOf(direct, { pair }))).toEqual({ ...direct, pair: JSON.parse(pair) });
  },
);

test.each(['["a","b"', '["a","b"]x', '["a""b"]', '["","b"]', '["a","b",]', '["a","]', '["a"b","c"]', '["a","b\u0001"]', '["a","b"c"]'])(
  'the pair %j is damage',
  (pair) => {
    const direct = initialFacts(ConversationKind.Direct, '', SETTINGS, [ALICE]);
    expect(parseFacts(fieldsOf(direct, { pair }))).toBe('factsUnreadable');
  },
);

describe('a member entry', () => {
  test('is three decimals', () => {
    const entry = { role: Role.Owner, joinedSeq: seq(17), visibleFrom: seq(1) };
    expect(formatMember(entry)).toBe('3 17 1');
    expect(parseMember('3 17 1')).toEqual(entry);
  });

  test.each(['', '3 17', '3 17 1 ', '3  17 1', '3 17 1 1', '0 17 1', '4 17 1', '3 0 1', '3 17 0', '3 17 18', '3 x 1', '3\n17 1'])(
    'that reads %j is damage',
    (text) => {
      expect(parseMember(text)).toBe('memberUnreadable');
    },
  );
});

describe('a view entry', () => {
  const entry = {
    ...{ joinedSeq: seq(5), visibleFrom: seq(1), clearedSeq: seq(3), hiddenSeq: seq(9), memberSeq: seq(5) },
    flags: 10,
    state: ViewState.Listed,
  };

  test('is seven decimals', () => {
    expect(formatViewEntry(entry)).toBe('5 1 3 9 5 10 1');
    expect(parseViewEntry('5 1 3 9 5 10 1')).toEqual(entry);
    expect(parseViewEntry('0 0 0 0 7 0 0')).toMatchObject({ memberSeq: 7, state: ViewState.Tombstone });
  });

  test.each(['', '5 1 3 9 5 10', '5 1 3 9 5 10 1 0', '5 1 3 9 5 16 1', '5 1 3 9 5 10 2', '5 1 3 9 -5 10 1'])(
    'that reads %j is damage',
    (text) => {
      expect(parseViewEntry(text)).toBe('viewUnreadable');
    },
  );

  test('has four flags', () => {
    for (let bits = 0; bits < 16; bits += 2) expect(changedFlags(0, flagsOf(bits, false))).toBe(bits);
    expect(flagsOf(8, true)).toEqual({ pinned: true, muted: false, hidden: false, markedUnread: true });
    // The pins say what is pinned, and not the bit.
    expect(flagsOf(1 | 2 | 4, false)).toEqual({ pinned: false, muted: true, hidden: true, markedUnread: false });
  });
});

describe('an index member', () => {
  test('is the sequence as 8 bytes, in number order', () => {
    expect(Buffer.from(sequenceToBytes(seq(0x1_2345_6789))).toString('hex')).toBe('0000000123456789');
    const ascending = [1, 255, 256, 2 ** 32 - 1, 2 ** 32, SEQ_MAX - 1, SEQ_MAX].map((value) => seq(value));
    expect(ascending.map((value) => sequenceFromBytes(sequenceToBytes(value)))).toEqual(ascending);
    const bytes = ascending.map((value) => sequenceToBytes(value));
    expect([...bytes].sort((a, b) => Buffer.compare(a, b))).toEqual(bytes);
  });

  test('of another length, of 0 and past 2^53-1 is none', () => {
    const none = ['', '00'.repeat(7), '00'.repeat(9), '00'.repeat(8), '0020000000000000', 'ff'.repeat(8)];
    for (const hex of none) expect(sequenceFromBytes(Buffer.from(hex, 'hex')), hex).toBeUndefined();
  });
});

describe('an id in a key', () => {
  test('is percent-encoded but for A-Z a-z 0-9 _ -', () => {
    expect(keyPart('g_0190-Az')).toBe('g_0190-Az');
    expect(keyPart('a:b{c} %')).toBe('a%3Ab%7Bc%7D%20%25');
    expect(keyPart('é用👋')).toBe('%C3%A9%E7%94%A8%F0%9F%91%8B');
    expect(decodeURIComponent(keyPart('é用👋/*'))).toBe('é用👋/*');
  });
});

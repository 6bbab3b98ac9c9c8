import {
  CONTENT_BYTES_MAX,
  type CorruptReason,
  MessageStatus,
  parseConversationId,
  parseTenantId,
  parseUserId,
  RECORD_BYTES_MAX,
  RECORD_INLINE_BYTES_MAX,
} from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { viewOf } from '../src/message/bytes.js';
import {
  BODY_STAMP_BYTES,
  BODY_STAMP_HEAD_OFFSET,
  checkIdentity,
  decodeHeader,
  decodeRecord,
  encodeRecord,
  needsBody,
  previewOf,
  RECORD_ACTIVITY_ID_OFFSET,
  RECORD_STAMP_BYTES,
  RECORD_STAMP_HEAD_OFFSET,
  type RecordHeader,
  stampRecord,
} from '../src/message/codec.js';
import { encodeUser } from '../src/message/fingerprint.js';
import { xxh32 } from '../src/message/xxh32.js';
import { damagedRecord } from '../src/testing/damaged-bytes.js';
import { GOLDEN, goldenBytes, goldenRecord } from './golden-records.js';
import { ALICE, BOB, CHAT, recordOf, seq, T7 } from './records.js';

const NAMES = Object.keys(GOLDEN);
const APART = ['apart', 'data'];
const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex');

function golden(name: string) {
  return { record: goldenBytes('record', name), body: APART.includes(name) ? goldenBytes('body', name) : undefined };
}

function headerOf(bytes: Uint8Array): RecordHeader {
  const header = decodeHeader(bytes);
  if (typeof header === 'string') throw new Error(header);
  return header;
}

const NOTICED = new Set<unknown>(['recordUnreadable', 'bodyUnreadable', 'unsupportedVersion']);

/** The single bits that may be the other way without `decode` noticing. */
function unnoticed(bytes: Uint8Array, decode: (copy: Uint8Array) => unknown): string[] {
  const missed: string[] = [];
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const copy = new Uint8Array(bytes);
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    if (!NOTICED.has(decode(copy))) missed.push(`bit ${bit & 7} of byte ${bit >> 3}`);
  }
  return missed;
}

/** With the checksum that belongs to the bytes. */
function sealed(bytes: Uint8Array): Uint8Array {
  const view = viewOf(bytes);
  view.setUint32(26, xxh32(view, 30, bytes.length - 24, view.getUint16(0)));
  return bytes;
}

describe('golden records of version 1', () => {
  test.each(NAMES)('%s is written as ever', (name) => {
    const { record, body } = encodeRecord(goldenRecord(name));
    expect(hex(record)).toBe(hex(goldenBytes('record', name)));
    expect(hex(body)).toBe(hex(golden(name).body));
  });

  test.each(NAMES)('%s is read as ever', (name) => {
    const { record, body } = golden(name);
    expect(decodeRecord(record, body)).toEqual(goldenRecord(name));
  });

  test('the fields lie where the table says', () => {
    const bytes = goldenBytes('record', 'apart');
    const view = viewOf(bytes);
    const end = bytes.length;
    expect([bytes[0], bytes[1]]).toEqual([1, 254]);
    for (const at of [2, end - 24]) {
      expect([view.getBigUint64(at), view.getBigUint64(at + 8)]).toEqual([0x123456789abcn, 0x123456789abbn]);
      expect(view.getBigUint64(at + 16)).toBe(BigInt(1_700_000_000_000 + 0x123456789abc));
    }
    expect(view.getUint32(26)).toBe(xxh32(view, 30, end - 24, 0x01fe));
    expect([view.getUint32(30), bytes[34], bytes[35], view.getUint32(36), view.getUint32(40)]).toEqual([2 ** 32 - 1, 2, 2 | 4, 1, 3]);
    expect(view.getBigUint64(44)).toBe(1_700_000_123_456n);
    expect(hex(bytes.subarray(52, 84))).toBe('0190b5e01c2d7aaa80001234 56789abc0190b5e01c2d7bbb8000123456789abc'.replace(' ', ''));
    expect([...bytes.subarray(84, 88)]).toEqual([CHAT.length, 5, 0, 0]);
    const texts = Buffer.from(bytes.subarray(88, 88 + CHAT.length + 5)).toString();
    expect(texts).toBe(`${CHAT}alice`);
    const apart = 88 + CHAT.length + 5;
    const body = goldenBytes('body', 'apart');
    expect(view.getUint32(apart)).toBe(body.length - 23 - CHAT.length - 8);
    expect(view.getUint32(apart + 4)).toBe(viewOf(body).getUint32(2));
    expect(view.getUint16(apart + 8)).toBe(256);
    expect(Buffer.from(bytes.subarray(apart + 10, end - 24)).toString()).toBe('é'.repeat(128));
  });

  test('the exported offsets are those of the table', () => {
    expect([RECORD_STAMP_HEAD_OFFSET, RECORD_STAMP_BYTES, RECORD_ACTIVITY_ID_OFFSET]).toEqual([2, 24, 68]);
    expect([BODY_STAMP_HEAD_OFFSET, BODY_STAMP_BYTES]).toEqual([6, 8]);
  });
});

describe('damage', () => {
  test.each(NAMES)('every single flipped bit of the record %s is noticed, by the header alone', (name) => {
    expect(unnoticed(goldenBytes('record', name), decodeHeader)).toEqual([]);
  });

  test.each(APART)('every single flipped bit of the body %s is noticed', (name) => {
    const { record, body = new Uint8Array(0) } = golden(name);
    expect(unnoticed(body, (copy) => decodeRecord(record, copy))).toEqual([]);
  });

  test.each(NAMES)('every truncation and every longer form of %s is noticed', (name) => {
    const { record, body } = golden(name);
    for (let length = 0; length < record.length; length += 1) {
      expect(decodeHeader(record.subarray(0, length)), `${length} bytes`).toBe('recordUnreadable');
    }
    for (const extra of [0, 1, 255]) expect(decodeHeader(Uint8Array.of(...record, extra))).toBe('recordUnreadable');
    if (body === undefined) return;
    for (let length = 0; length < body.length; length += 1) expect(decodeRecord(record, body.subarray(0, length))).toBe('bodyUnreadable');
    for (const extra of [0, 1, 255]) expect(decodeRecord(record, Uint8Array.of(...body, extra))).toBe('bodyUnreadable');
  });

  test('a body that is missing, or of another record or revision, is not taken', () => {
    const { record } = golden('apart');
    const said = goldenRecord('apart');
    expect(decodeRecord(record, undefined)).toBe('bodyMissing');
    for (const other of [
      { ...said, revision: 2 },
      { ...said, conversationSeq: seq(said.conversationSeq + 1) },
      { ...said, tenantId: T7 },
      { ...said, content: { kind: 'text', text: 'e'.repeat(2_400) } as const },
    ]) {
      expect(decodeRecord(record, encodeRecord(other).body)).toBe('bodyUnreadable');
    }
  });

  test('a body of another record or revision is not taken, though the record names its checksum', () => {
    const said = goldenRecord('apart');
    const apart = 88 + CHAT.length + 'alice'.length;
    for (const other of [
      { ...said, revision: 2 },
      { ...said, conversationSeq: seq(said.conversationSeq + 1) },
      { ...said, tenantId: T7 },
      { ...said, conversationId: parseConversationId(CHAT.replace(/1$/, '2')) },
    ]) {
      const record = new Uint8Array(goldenBytes('record', 'apart'));
      const { body = new Uint8Array(0) } = encodeRecord(other);
      viewOf(record).setUint32(apart + 4, viewOf(body).getUint32(2));
      expect(decodeHeader(sealed(record))).not.toBe('recordUnreadable');
      expect(decodeRecord(record, body)).toBe('bodyUnreadable');
    }
  });

  test('a whole body of another length is not taken', () => {
    const { record } = golden('apart');
    const longer = encodeRecord({ ...goldenRecord('apart'), content: { kind: 'text', text: 'é'.repeat(3_000) } }).body;
    expect(decodeRecord(record, longer)).toBe('bodyUnreadable');
  });

  test('a snippet that does not end with the record is refused', () => {
    const apart = 88 + CHAT.length + 'alice'.length;
    for (const change of [-1, 1]) {
      const bytes = new Uint8Array(goldenBytes('record', 'apart'));
      const view = viewOf(bytes);
      view.setUint16(apart + 8, view.getUint16(apart + 8) + change);
      expect(decodeHeader(sealed(bytes))).toBe('recordUnreadable');
    }
  });

  test('bytes after the payload are refused', () => {
    const { record } = encodeRecord(recordOf(5));
    const end = record.length - 24;
    const longer = Uint8Array.of(...record.subarray(0, end), 0, ...record.subarray(end));
    expect(decodeHeader(sealed(longer))).not.toBe('recordUnreadable');
    expect(decodeRecord(longer, undefined)).toBe('recordUnreadable');
  });

  test('mentions that are not as many as their fingerprints are refused', () => {
    const { record } = encodeRecord(recordOf(5, { mentions: { userIds: [ALICE, BOB], all: false } }));
    const fingerprints = 88 + CHAT.length + 'alice'.length;
    const fewer = Uint8Array.of(...record.subarray(0, fingerprints), ...record.subarray(fingerprints + 8));
    fewer[86] = 1;
    expect(decodeHeader(sealed(fewer))).not.toBe('recordUnreadable');
    expect(decodeRecord(fewer, undefined)).toBe('recordUnreadable');
  });

  describe('a body whose checksums are right', () => {
    const apart = 88 + CHAT.length + 'alice'.length;
    /** The golden record and its body, with checksums that belong to what `change` made of them. */
    function resealed(change: (record: Uint8Array, body: Uint8Array) => void) {
      const record = new Uint8Array(goldenBytes('record', 'apart'));
      const body = new Uint8Array(goldenBytes('body', 'apart'));
      change(record, body);
      const view = viewOf(body);
      view.setUint32(2, xxh32(view, 14, body.length - 8, view.getUint16(0)));
      viewOf(record).setUint32(apart + 4, view.getUint32(2));
      return decodeRecord(sealed(record), body);
    }

    test('is read as it was', () => {
      expect(resealed(() => {})).toEqual(goldenRecord('apart'));
    });

    test('of a version that is not known says so, and of none is unreadable', () => {
      expect(resealed((_, body) => body.set([2, 253]))).toBe('unsupportedVersion');
      expect(resealed((_, body) => body.set([2, 254]))).toBe('bodyUnreadable');
    });

    test('is refused when its payload does not add up', () => {
      expect(resealed((_, body) => body.fill(0xff, 23 + CHAT.length, body.length - 8))).toBe('bodyUnreadable');
    });

    test('is refused when it names another length of the conversation', () => {
      expect(resealed((_, body) => body.fill(CHAT.length + 1, 22, 23))).toBe('bodyUnreadable');
    });

    test('is not looked at beside a record whose texts are no ids', () => {
      expect(resealed((record) => record.fill(0xff, 88 + CHAT.length, 88 + CHAT.length + 1))).toBe('recordUnreadable');
    });
  });

  test('what is no fault of the bytes is not called damage', () => {
    const header = headerOf(goldenBytes('record', 'inside'));
    Object.defineProperty(header, 'bodyApart', {
      get() {
        throw new RangeError('a fault of ours');
      },
    });
    expect(() => previewOf(header)).toThrow('a fault of ours');
  });

  test('a payload that does not add up has no preview', () => {
    const bytes = new Uint8Array(encodeRecord(recordOf(5)).record);
    bytes[88 + CHAT.length + 'alice'.length] = 6;
    expect(previewOf(headerOf(sealed(bytes)))).toBe('recordUnreadable');
  });

  test('a byte order mark is text', () => {
    const said = recordOf(5, { content: { kind: 'text', text: '\ufeffhello' } });
    expect(decodeRecord(encodeRecord(said).record, undefined)).toEqual(said);
  });

  test('a body beside a record that holds its own is not looked at', () => {
    const { record } = golden('inside');
    expect(decodeRecord(record, Uint8Array.of(1, 2, 3))).toEqual(goldenRecord('inside'));
  });

  const malformed: readonly (readonly [string, (bytes: Uint8Array) => void, CorruptReason])[] = [
    ['version bytes that do not belong together', (bytes) => bytes.set([2, 254]), 'recordUnreadable'],
    ['a version that is not known', (bytes) => bytes.set([2, 253]), 'unsupportedVersion'],
    ['version 0', (bytes) => bytes.set([0, 255]), 'unsupportedVersion'],
    ['status 0', (bytes) => bytes.fill(0, 34, 35), 'recordUnreadable'],
    ['a status that is not known', (bytes) => bytes.fill(5, 34, 35), 'recordUnreadable'],
    ['a flag that is not known', (bytes) => bytes.fill(16, 35, 36), 'recordUnreadable'],
    ['a snippet flag without a body apart', (bytes) => bytes.fill(4, 35, 36), 'recordUnreadable'],
    ['type 0', (bytes) => bytes.fill(0, 36, 40), 'recordUnreadable'],
    ['a type past 2^31-1', (bytes) => bytes.fill(0x80, 36, 37), 'recordUnreadable'],
    ['a revision past 2^31-1', (bytes) => bytes.fill(0x80, 40, 41), 'recordUnreadable'],
    ['an amendedAtMs past 2^53-1', (bytes) => bytes.fill(0x20, 45, 46), 'recordUnreadable'],
    ['a conversationId of 0 bytes', (bytes) => bytes.fill(0, 84, 85), 'recordUnreadable'],
    ['a sender of 65 bytes', (bytes) => bytes.fill(65, 85, 86), 'recordUnreadable'],
    ['101 mentions', (bytes) => bytes.fill(101, 86, 87), 'recordUnreadable'],
    ['mentions past the end', (bytes) => bytes.fill(90, 86, 87), 'recordUnreadable'],
    ['a reserved byte', (bytes) => bytes.fill(1, 87, 88), 'recordUnreadable'],
  ];

  test.each(malformed)('%s is refused, whatever the checksum says', (_, change, reason) => {
    const bytes = new Uint8Array(goldenBytes('record', 'inside'));
    change(bytes);
    expect(decodeHeader(sealed(bytes))).toBe(reason);
  });

  test('texts that are no ids are refused', () => {
    for (const [at, byte] of [
      [88, 0x2f],
      [88 + CHAT.length, 0xff],
      [88 + CHAT.length, 0x0a],
    ] as const) {
      const bytes = new Uint8Array(goldenBytes('record', 'inside'));
      bytes[at] = byte;
      expect(decodeRecord(sealed(bytes), undefined)).toBe('recordUnreadable');
    }
  });

  test('a payload that does not add up is refused', () => {
    const { record } = encodeRecord(recordOf(5));
    const start = 88 + CHAT.length + 'alice'.length;
    const changes: readonly (readonly [number, number])[] = [
      [start, 6],
      [start + 6, 0],
      [start + 9, 2],
      [start + 10, 1],
      [start + 11, 4],
      [start + 15, 8],
      [start + 16, 0xff],
    ];
    for (const [at, byte] of changes) {
      const bytes = new Uint8Array(record);
      bytes[at] = byte;
      expect(decodeRecord(sealed(bytes), undefined), `byte ${at - start}`).toBe('recordUnreadable');
    }
  });

  test.each([
    ['sequence 0', { conversationSeq: seq(0), prevSequence: seq(0), committedAtMs: 1 }],
    ['a record that follows itself', { conversationSeq: seq(5), prevSequence: seq(5), committedAtMs: 1 }],
    ['a sequence past 2^53-1', { conversationSeq: (2 ** 53) as never, prevSequence: seq(1), committedAtMs: 1 }],
    ['a time past 2^53-1', { conversationSeq: seq(5), prevSequence: seq(1), committedAtMs: 2 ** 53 }],
  ])('%s is refused', (_, stamp) => {
    const encoded = encodeRecord(recordOf(5));
    stampRecord(encoded, stamp);
    expect(decodeHeader(encoded.record)).toBe('recordUnreadable');
  });

  test('the kinds of damage that tests make are what they are called', () => {
    const bytes = goldenBytes('record', 'inside');
    expect(decodeHeader(damagedRecord(bytes, 'recordTruncated'))).toBe('recordUnreadable');
    expect(decodeHeader(damagedRecord(bytes, 'recordBitFlipped'))).toBe('recordUnreadable');
    expect(decodeHeader(damagedRecord(bytes, 'recordUnknownStatus'))).toBe('recordUnreadable');
    expect(decodeHeader(damagedRecord(bytes, 'recordUnknownVersion'))).toBe('unsupportedVersion');
    for (const kind of ['recordOtherTenant', 'recordOtherConversation', 'recordOtherSequence'] as const) {
      expect(checkIdentity(headerOf(damagedRecord(bytes, kind)), T7, CHAT, seq(5)), kind).toBe(false);
    }
    expect(checkIdentity(headerOf(bytes), T7, CHAT, seq(5))).toBe(true);
  });
});

describe('where the body lies', () => {
  test('a record of RECORD_INLINE_BYTES_MAX holds its body, one byte more is apart', () => {
    const spare = RECORD_INLINE_BYTES_MAX - encodeRecord(recordOf(5, { content: { kind: 'text', text: '' } })).record.length;
    const inside = encodeRecord(recordOf(5, { content: { kind: 'text', text: 'x'.repeat(spare) } }));
    expect([inside.record.length, inside.body]).toEqual([RECORD_INLINE_BYTES_MAX, undefined]);
    const apart = encodeRecord(recordOf(5, { content: { kind: 'text', text: 'x'.repeat(spare + 1) } }));
    expect(apart.body).toBeDefined();
    expect(needsBody(headerOf(apart.record))).toBe(true);
    expect(needsBody(headerOf(inside.record))).toBe(false);
  });

  test('the largest record there can be stays within RECORD_BYTES_MAX', () => {
    const userIds = Array.from({ length: 100 }, (_, i) => parseUserId(`${i}`.padStart(64, '_')));
    const { record, body } = encodeRecord(
      recordOf(1, {
        conversationSeq: seq(Number.MAX_SAFE_INTEGER),
        prevSequence: seq(Number.MAX_SAFE_INTEGER - 1),
        conversationId: 'c'.repeat(64) as never,
        sender: { userId: parseUserId('s'.repeat(64)), deviceId: undefined },
        mentions: { userIds, all: true },
        content: { kind: 'text', text: '用'.repeat(CONTENT_BYTES_MAX / 4) },
      }),
    );
    expect(record.length).toBeLessThanOrEqual(RECORD_BYTES_MAX);
    expect(decodeRecord(record, body)).toMatchObject({ mentions: { userIds } });
  });

  test('what the commit step stamps is written at head and tail, into the body too', () => {
    const said = recordOf(5, { content: { kind: 'text', text: 'x'.repeat(5_000) } });
    const encoded = encodeRecord({ ...said, conversationSeq: seq(0), prevSequence: seq(0), committedAtMs: 0 });
    expect(decodeHeader(encoded.record)).toBe('recordUnreadable');
    stampRecord(encoded, said);
    expect(decodeRecord(encoded.record, encoded.body)).toEqual(said);
    expect(encoded).toEqual(encodeRecord(said));
  });

  test('a record needs an activityId of its own', () => {
    const { messageId } = recordOf(5);
    expect(() => encodeRecord(recordOf(5, { activityId: messageId as never }))).toThrow('activityId');
  });

  test('bytes are read where they lie in a larger buffer, one after the other', () => {
    const shared = new Uint8Array(10_000).fill(0xee);
    const header = headerOf(goldenBytes('record', 'inside'));
    let at = 3;
    for (const name of NAMES) {
      const bytes = goldenBytes('record', name);
      shared.set(bytes, at);
      expect(header.load(shared.subarray(at, at + bytes.length))).toBeUndefined();
      expect(header.messageId).toBe(goldenRecord(name).messageId);
      expect(header.sequence).toBe(goldenRecord(name).conversationSeq);
      expect(header.senderUserId).toBe(goldenRecord(name).sender.userId);
      at += bytes.length + 1;
    }
  });
});

describe('what a list asks of a header', () => {
  test('whether the sender is the user', () => {
    const header = headerOf(goldenBytes('record', 'inside'));
    for (const [name, own] of [
      ['alice', true],
      ['alic', false],
      ['alice2', false],
      ['Alice', false],
    ] as const) {
      expect(header.senderIs(encodeUser(parseUserId(name)).utf8), name).toBe(own);
    }
  });

  test('whether the user is mentioned, by name or with all', () => {
    const mentions = (over: Parameters<typeof recordOf>[1], user = BOB) =>
      headerOf(encodeRecord(recordOf(5, over)).record).mentions(encodeUser(user).fingerprint);
    expect(mentions({})).toBe(false);
    expect(mentions({ mentions: { userIds: [ALICE, BOB], all: false } })).toBe(true);
    expect(mentions({ mentions: { userIds: [ALICE], all: false } })).toBe(false);
    expect(mentions({ mentions: { userIds: [], all: true } })).toBe(true);
    const many = Array.from({ length: 99 }, (_, i) => parseUserId(`user ${i}`));
    expect(mentions({ mentions: { userIds: [...many, BOB], all: false } })).toBe(true);
    expect(mentions({ mentions: { userIds: many, all: false } })).toBe(false);
  });

  test('whether it is the record that was asked for', () => {
    const header = headerOf(goldenBytes('record', 'inside'));
    expect(checkIdentity(header, T7, CHAT, seq(5))).toBe(true);
    expect(checkIdentity(header, parseTenantId(0), CHAT, seq(5))).toBe(false);
    expect(checkIdentity(header, T7, `${CHAT}0` as never, seq(5))).toBe(false);
    expect(checkIdentity(header, T7, CHAT, seq(6))).toBe(false);
  });

  test('a preview, without the body', () => {
    const preview = (name: string) => previewOf(headerOf(goldenBytes('record', name)));
    expect(preview('inside')).toEqual({
      messageId: goldenRecord('inside').messageId,
      conversationSeq: 5,
      type: 1,
      status: MessageStatus.Normal,
      senderUserId: 'alice',
      snippet: 'hello, 用户 👋',
      truncated: false,
      committedAtMs: 1_700_000_000_005,
    });
    expect(preview('apart')).toMatchObject({ snippet: 'é'.repeat(128), truncated: true });
    expect(preview('data')).toMatchObject({ snippet: 'image/png', truncated: false });
    expect(preview('control')).toMatchObject({ snippet: '', truncated: false });
    expect(preview('recalled')).toMatchObject({ snippet: '', status: MessageStatus.Recalled });
  });

  test('a preview inside and apart is the same for the same text', () => {
    for (const length of [255, 256, 257, 300]) {
      const content = { kind: 'text', text: 'x'.repeat(length) } as const;
      const inside = encodeRecord(recordOf(5, { content }));
      const userIds = Array.from({ length: 100 }, (_, i) => parseUserId(`user ${i}`));
      const apart = encodeRecord(recordOf(5, { content, mentions: { userIds, all: false } }));
      expect([inside.body === undefined, apart.body === undefined]).toEqual([true, false]);
      expect(previewOf(headerOf(apart.record))).toEqual(previewOf(headerOf(inside.record)));
    }
  });
});

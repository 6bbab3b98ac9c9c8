/** The rule of the list over what was read, without a store: each way in which the two rounds can disagree. */
import {
  ConversationKind,
  EXACT_UNREAD_SCAN_LIMIT,
  HistoryVisibility,
  type MessageRecord,
  MessageStatus,
  MessageType,
  Role,
  SEQ_MAX,
} from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { sequenceFromBytes, sequenceToBytes, viewOf } from '../src/message/bytes.js';
import { encodeRecord } from '../src/message/codec.js';
import { initialFacts, type StoredFacts } from '../src/message/facts.js';
import {
  type FirstRound,
  finishReading,
  planReading,
  type ReadingPlan,
  type RecordBytes,
  readingScope,
  recordsIn,
} from '../src/message/summaries.js';
import type { ConversationReading } from '../src/message/summary.js';
import { xxh32 } from '../src/message/xxh32.js';
import { damagedRecord } from '../src/testing/damaged-bytes.js';
import { ALICE, BOB, CHAT, recordOf, seq, T7 } from './records.js';

const LIMIT = EXACT_UNREAD_SCAN_LIMIT;
const SETTINGS = { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false };
const MEMBER = { role: Role.Member, joinedSeq: seq(1), visibleFrom: seq(1) };
const TITLE = { type: MessageType.Control, content: { kind: 'none' } } as const;

/** Alice's texts at these sequences, linked to one another. */
function timeline(sequences: readonly number[], over: (sequence: number) => Partial<MessageRecord> = () => ({})): MessageRecord[] {
  return sequences.map((sequence, i) =>
    recordOf(sequence, { prevSequence: seq(sequences[i - 1] ?? 0), committedAtMs: i, ...over(sequence) }),
  );
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** What a store that holds these records reads in both rounds. */
class Material {
  readonly watermark: number;
  readonly records: Map<number, Uint8Array>;
  facts: StoredFacts;
  readonly sequences: number[];

  constructor(records: readonly MessageRecord[], watermark: number) {
    this.watermark = watermark;
    this.records = new Map(records.map((record) => [record.conversationSeq, encodeRecord(record).record]));
    this.sequences = records.map(({ conversationSeq }) => conversationSeq);
    this.facts = {
      ...initialFacts(ConversationKind.Group, 'title', SETTINGS, []),
      lastSequence: seq(this.sequences.at(-1) ?? 0),
      previewSequence: seq(records.findLast(({ type }) => type !== MessageType.Control)?.conversationSeq ?? 0),
      amendmentNumber: 3,
    };
  }

  first(over: Partial<FirstRound> = {}): FirstRound {
    const newest = this.sequences.at(-1);
    const window = this.sequences.filter((sequence) => sequence > this.watermark).slice(0, LIMIT);
    return {
      facts: this.facts,
      newest: newest === undefined ? undefined : { sequence: seq(newest), score: 0 },
      window: window.map((sequence) => seq(sequence)),
      member: MEMBER,
      ...over,
    };
  }

  plan(over: Partial<FirstRound> = {}) {
    return planReading(readingScope(T7, BOB), { conversationId: CHAT, watermark: seq(this.watermark) }, this.first(over));
  }

  read(plan: ReadingPlan): RecordBytes[] {
    return plan.sequences.map((sequence) => this.records.get(sequence));
  }

  answer(over: Partial<FirstRound> = {}, confirmed = false): ConversationReading | 'again' {
    const plan = this.plan(over);
    return plan.kind === 'answered' ? plan.reading : finishReading(readingScope(T7, BOB), plan, recordsIn(this.read(plan)), confirmed);
  }

  sound(over: Partial<FirstRound> = {}, confirmed = false) {
    const answer = this.answer(over, confirmed);
    if (answer === 'again') throw new Error('asked again');
    if (answer.kind === 'damaged') throw answer.error;
    return answer;
  }

  /** The reason in the first round, or after the redo that confirms it. */
  reason(over: Partial<FirstRound> = {}): string | undefined {
    const answer = this.answer(over);
    const confirmed = answer === 'again' ? this.answer(over, true) : answer;
    return confirmed !== 'again' && confirmed.kind === 'damaged' ? confirmed.error.detail.reason : undefined;
  }
}

const hex = (text: string) => Buffer.from(text, 'hex');

describe('which records are read', () => {
  const sequencesOf = (material: Material) => {
    const plan = material.plan();
    return plan.kind === 'read' ? plan.sequences : undefined;
  };

  test('the exact window, the head in it', () => {
    expect(sequencesOf(new Material(timeline([1, 2, 5, 9]), 1))).toEqual([2, 5, 9]);
  });

  test('the head alone when nothing is past the watermark', () => {
    expect(sequencesOf(new Material(timeline([1, 2, 5]), 5))).toEqual([5]);
    expect(sequencesOf(new Material(timeline([1, 2, 5]), 8))).toEqual([5]);
  });

  test('the head alone past the bound, however few lie between', () => {
    expect(sequencesOf(new Material(timeline([1, 2, 300]), 2))).toEqual([300]);
    expect(sequencesOf(new Material(timeline(range(1, 201)), 0))).toEqual([201]);
    expect(sequencesOf(new Material(timeline(range(1, 200)), 0))).toEqual(range(1, 200));
  });

  test('the preview as well where it is another one', () => {
    const records = timeline(range(1, 205), (sequence) => (sequence > 3 ? TITLE : {}));
    expect(sequencesOf(new Material(records, 5))).toEqual([...range(6, 205), 3]);
    expect(sequencesOf(new Material(records, 4))).toEqual([205, 3]);
    expect(sequencesOf(new Material(records, 205))).toEqual([205, 3]);
  });

  test('no preview where there is none', () => {
    const allControl = timeline(range(1, 3), () => TITLE);
    expect(sequencesOf(new Material(allControl, 0))).toEqual([1, 2, 3]);
    expect(sequencesOf(new Material(allControl, 3))).toEqual([3]);
  });

  test('nothing when there is no message', () => {
    expect(new Material([], 0).plan()).toMatchObject({
      kind: 'answered',
      reading: {
        kind: 'sound',
        summary: {
          latestConversationSeq: 0,
          lastActivityId: undefined,
          lastMessageId: undefined,
          unreadCount: 0,
          unreadExact: true,
          mentionCount: 0,
        },
        listing: { preview: undefined, member: MEMBER, watermarkAhead: false, title: 'title' },
        evidence: { scanned: 0, chainUnbroken: false },
      },
    });
  });
});

describe('what is counted', () => {
  test.each([
    [0, 4, true],
    [1, 3, true],
    [4, 2, true],
    [9, 0, true],
    [10, 0, false],
  ])('past the watermark %i: %i, exact %s', (watermark, unreadCount, unreadExact) => {
    const { summary, listing } = new Material(timeline([1, 2, 5, 9]), watermark).sound();
    expect(summary).toMatchObject({ latestConversationSeq: 9, unreadCount, unreadExact });
    expect(listing.watermarkAhead).toBe(watermark > 9);
    expect(summary.mentionCount).toBe(unreadExact ? 0 : undefined);
  });

  test.each([
    [199, 199, true],
    [200, 200, true],
    [201, 200, false],
    [202, 200, false],
  ])('of %i messages: %i, exact %s', (total, unreadCount, unreadExact) => {
    expect(new Material(timeline(range(1, total)), 0).sound().summary).toMatchObject({ unreadCount, unreadExact });
  });

  test('a distance of 200 over holes is exact, one of 201 is not', () => {
    expect(new Material(timeline([5, 205]), 5).sound().summary).toMatchObject({ unreadCount: 1, unreadExact: true });
    expect(new Material(timeline([5, 206]), 5).sound().summary).toMatchObject({ unreadCount: 200, unreadExact: false });
  });

  test('the greatest sequences do not lose precision', () => {
    const records = timeline([1, SEQ_MAX - 1, SEQ_MAX]);
    expect(new Material(records, SEQ_MAX - 200).sound().summary).toMatchObject({ unreadCount: 2, unreadExact: true });
    expect(new Material(records, SEQ_MAX - 201).sound().summary).toMatchObject({ unreadCount: 200, unreadExact: false });
  });

  test('what is left out is told by reason', () => {
    const kinds: Partial<MessageRecord>[] = [
      {},
      { sender: { userId: BOB, deviceId: undefined }, mentions: { userIds: [BOB], all: true } },
      { type: MessageType.Control, mentions: { userIds: [BOB], all: false } },
      { status: MessageStatus.Recalled, content: { kind: 'none' } },
      { status: MessageStatus.Deleted, content: { kind: 'none' } },
      { status: MessageStatus.Edited },
      { type: 4711, mentions: { userIds: [BOB], all: false } },
      { mentions: { userIds: [ALICE], all: true } },
    ];
    const { summary, evidence } = new Material(
      timeline(range(1, 8), (sequence) => kinds[sequence - 1] ?? {}),
      0,
    ).sound();
    expect(evidence).toEqual({ scanned: 8, own: 1, control: 1, recalled: 1, deleted: 1, chainUnbroken: true });
    expect(summary).toMatchObject({ unreadCount: 4, mentionCount: 2 });
  });

  test('mentions in what is counted, and in nothing else', () => {
    const mentions = { userIds: [BOB], all: false };
    const own = { sender: { userId: BOB, deviceId: undefined } };
    const { summary } = new Material(
      timeline(range(1, 4), (sequence) => ({ mentions, ...(sequence === 4 ? own : {}) })),
      0,
    ).sound();
    expect(summary).toMatchObject({ unreadCount: 3, mentionCount: 3 });
  });

  test('no chain is claimed where no window was read', () => {
    expect(new Material(timeline(range(1, 300)), 0).sound().evidence).toMatchObject({ scanned: 0, chainUnbroken: false });
    expect(new Material(timeline(range(1, 3)), 3).sound().evidence).toMatchObject({ scanned: 0, chainUnbroken: false });
  });

  test('members past the head that was read belong to the next answer', () => {
    const material = new Material(timeline([1, 2, 3, 4, 5]), 0);
    const newest = { sequence: seq(3), score: 0 };
    const facts = { ...material.facts, lastSequence: seq(3), previewSequence: seq(3) };
    material.records.delete(5);
    expect(material.sound({ newest, facts }).summary).toMatchObject({ latestConversationSeq: 3, unreadCount: 3 });
  });

  test('a watermark is past an empty conversation too', () => {
    const { summary, listing } = new Material([], 7).sound();
    expect(summary).toMatchObject({ unreadCount: 0, unreadExact: false, mentionCount: undefined });
    expect(listing.watermarkAhead).toBe(true);
  });
});

describe('damage that the first round shows', () => {
  const material = () => new Material(timeline([1, 2, 5, 9]), 1);
  const members = (...sequences: number[]) => sequences.map((sequence) => seq(sequence));
  const newest = (member: Uint8Array, score = 0) => ({ newest: { sequence: sequenceFromBytes(member), score } });

  test.each<[string, Partial<FirstRound>, string]>([
    ['facts that are absent', { facts: undefined }, 'factsMissing'],
    ['facts that are absent, to one who is no member', { facts: undefined, member: undefined }, 'factsMissing'],
    ['facts that cannot be read', { facts: 'factsUnreadable' }, 'factsUnreadable'],
    ['facts of another type', { facts: 'wrongType' }, 'wrongType'],
    ['an index of another type', { newest: 'wrongType' }, 'wrongType'],
    ['a window of another type', { window: 'wrongType' }, 'wrongType'],
    ['an index that is missing', { newest: undefined, window: [] }, 'indexMissing'],
    ['a newest member of 7 bytes', newest(hex('00'.repeat(7))), 'indexMemberInvalid'],
    ['a newest member of 0', newest(hex('00'.repeat(8))), 'indexMemberInvalid'],
    ['a newest member past 2^53-1', newest(hex('0020000000000000')), 'indexMemberInvalid'],
    ['a score that is not 0', newest(sequenceToBytes(seq(9)), 1), 'indexMemberInvalid'],
    ['a newest member older than the facts', newest(sequenceToBytes(seq(5))), 'indexBehindFacts'],
    ['a window with a member of 7 bytes', { window: [sequenceFromBytes(hex('00'.repeat(7)))] }, 'indexMemberInvalid'],
    ['a window that does not ascend', { window: members(2, 9, 5) }, 'indexOutOfOrder'],
    ['a window with one member twice', { window: members(2, 2, 9) }, 'indexOutOfOrder'],
    ['a window that begins at the watermark', { window: members(1, 2, 5, 9) }, 'indexOutOfOrder'],
    ['a window without the head', { window: members(2, 5) }, 'indexOutOfOrder'],
    ['a member entry that cannot be read', { member: 'memberUnreadable' }, 'memberUnreadable'],
  ])('%s', (_, over, reason) => {
    const plan = material().plan(over);
    expect(plan).toMatchObject({
      kind: 'answered',
      reading: { kind: 'damaged', error: { detail: { reason, tenantId: T7, conversationId: CHAT } } },
    });
    expect(plan.kind === 'answered' && plan.reading).not.toHaveProperty('summary');
  });

  test('says what could be read of facts and member', () => {
    const shown = { kind: ConversationKind.Group, title: 'title', settings: SETTINGS, pair: [], epoch: 1 };
    expect(material().answer({ newest: undefined })).toMatchObject({ listing: shown, member: MEMBER, memberKnown: true });
    expect(material().answer({ facts: undefined })).toMatchObject({ listing: undefined, member: MEMBER, memberKnown: true });
    expect(material().answer({ facts: undefined, member: undefined })).toMatchObject({ member: undefined, memberKnown: true });
    expect(material().answer({ member: 'memberUnreadable' })).toMatchObject({ listing: shown, member: undefined, memberKnown: false });
  });
});

describe('damage that the records show', () => {
  const records = () => timeline(range(1, 6));

  test.each([
    'recordTruncated',
    'recordBitFlipped',
    'recordOtherTenant',
    'recordOtherConversation',
    'recordOtherSequence',
    'recordUnknownStatus',
    'recordUnknownVersion',
  ] as const)('%s is confirmed once, at every place of the window', (kind) => {
    for (const at of [3, 4, 5, 6]) {
      const material = new Material(records(), 2);
      material.records.set(at, damagedRecord(material.records.get(at) ?? hex(''), kind));
      expect(material.answer()).toBe('again');
      const confirmed = material.answer({}, true);
      expect(confirmed).toMatchObject({ kind: 'damaged', error: { detail: { conversationSeq: at } } });
      expect(confirmed).not.toHaveProperty('summary');
    }
  });

  test('a missing record, one of another sequence, and one that could not be read', () => {
    for (const [bytes, reason] of [
      [undefined, 'recordMissing'],
      [encodeRecord(recordOf(4)).record, 'recordMismatch'],
      [hex(''), 'recordUnreadable'],
    ] as const) {
      const material = new Material(records(), 2);
      if (bytes === undefined) material.records.delete(5);
      else material.records.set(5, bytes);
      expect(material.reason()).toBe(reason);
    }
    const plan = new Material(records(), 2).plan();
    if (plan.kind !== 'read') throw new Error('there is something to read');
    const reading = finishReading(readingScope(T7, BOB), plan, recordsIn(plan.sequences.map(() => 'wrongType' as const)), true);
    expect(reading).toMatchObject({ kind: 'damaged', error: { detail: { reason: 'wrongType' } } });
  });

  test('is told of the first record, with what is known of facts and member, and without a count', () => {
    const material = new Material(timeline(range(1, 5)), 0);
    material.records.delete(2);
    material.records.set(5, new Uint8Array(3));
    const answer = material.answer({}, true);
    expect(answer).toMatchObject({ kind: 'damaged', member: MEMBER, memberKnown: true, listing: { title: 'title', epoch: 1 } });
    expect(answer).toMatchObject({ error: { detail: { conversationSeq: 2, reason: 'recordMissing' } } });
    expect(answer).not.toHaveProperty('summary');
  });

  test('of the facts leaves nothing to list', () => {
    const answer = new Material(timeline([1, 2]), 0).answer({ facts: 'factsUnreadable' });
    expect(answer).toMatchObject({ kind: 'damaged', listing: undefined, member: MEMBER });
  });

  test('is an UnsupportedVersion when a newer qim wrote the record', () => {
    const material = new Material(records(), 2);
    material.records.set(5, damagedRecord(material.records.get(5) ?? hex(''), 'recordUnknownVersion'));
    expect(material.answer({}, true)).toMatchObject({ error: { code: 'UnsupportedVersion', detail: { reason: 'unsupportedVersion' } } });
  });

  test('a head that is damaged is damage at every watermark', () => {
    for (const watermark of [0, 5, 6, 7]) {
      const material = new Material(records(), watermark);
      material.records.delete(6);
      expect(material.reason()).toBe('recordMissing');
    }
  });

  test('a record at or below the watermark is not read', () => {
    const material = new Material(records(), 4);
    for (const sequence of [1, 2, 3, 4]) material.records.delete(sequence);
    expect(material.sound().summary.unreadCount).toBe(2);
  });
});

describe('the chain', () => {
  /** A store whose index lost one sequence. */
  function without(missing: number, watermark: number, sequences = range(1, 6)): Material {
    const material = new Material(timeline(sequences), watermark);
    material.sequences.splice(material.sequences.indexOf(missing), 1);
    return material;
  }

  test.each([1, 2, 3, 4, 5])('notices that %i is missing, and asks once more before it says so', (missing) => {
    for (let watermark = 0; watermark < missing; watermark += 1) {
      expect(without(missing, watermark).answer()).toBe('again');
      expect(without(missing, watermark).answer({}, true)).toMatchObject({
        kind: 'damaged',
        error: { detail: { reason: 'chainBroken', conversationSeq: missing + 1 } },
      });
    }
    if (missing < 5) expect(without(missing, missing).sound().summary.unreadCount).toBe(6 - missing);
  });

  test('crosses holes, the one around the watermark too', () => {
    const sequences = [3, 40, 41, 90];
    for (const [watermark, unreadCount] of [
      [0, 4],
      [2, 4],
      [3, 3],
      [20, 3],
      [40, 2],
      [89, 1],
    ] as const) {
      expect(new Material(timeline(sequences), watermark).sound()).toMatchObject({
        summary: { unreadCount },
        evidence: { chainUnbroken: true },
      });
    }
    expect(without(40, 20, sequences).reason()).toBe('chainBroken');
    expect(without(40, 3, sequences).reason()).toBe('chainBroken');
  });

  test('begins where retention has left the first record', () => {
    const material = new Material(timeline(range(1, 6)), 0);
    material.sequences.splice(0, 3);
    expect(material.reason()).toBe('chainBroken');
    material.facts = { ...material.facts, retainedFrom: seq(4) };
    expect(material.sound().summary.unreadCount).toBe(3);
    material.facts = { ...material.facts, retainedFrom: seq(3) };
    expect(material.reason()).toBe('chainBroken');
  });
});

describe('the preview', () => {
  const lastControl = (sequence: number) => (sequence >= 3 ? TITLE : {});

  test('is the newest record that is not Control, and names no more than it must', () => {
    const { listing, summary } = new Material(timeline(range(1, 4), lastControl), 0).sound();
    expect(listing.preview).toMatchObject({ conversationSeq: 2, snippet: 'hello 2' });
    expect(summary.latestConversationSeq).toBe(4);
  });

  test('is the head itself when the head is newer than the facts', () => {
    const material = new Material(timeline(range(1, 4)), 0);
    material.facts = { ...material.facts, lastSequence: seq(3), previewSequence: seq(3) };
    expect(material.sound().listing.preview?.conversationSeq).toBe(4);
  });

  test('is asked for once more when a Control head is newer than the facts', () => {
    const material = new Material(
      timeline(range(1, 5), (sequence) => (sequence === 5 ? TITLE : {})),
      0,
    );
    material.facts = { ...material.facts, lastSequence: seq(3), previewSequence: seq(3) };
    expect(material.answer()).toBe('again');
    expect(material.sound({}, true).listing).toMatchObject({ preview: { conversationSeq: 4 }, previewDamage: undefined });
    const atHead = new Material(timeline(range(1, 5), lastControl), 5);
    atHead.facts = { ...atHead.facts, lastSequence: seq(4) };
    expect(atHead.sound({}, true)).toMatchObject({ listing: { preview: { conversationSeq: 2 } }, summary: { unreadCount: 0 } });
  });

  test('that is damaged is confirmed, marked, and leaves the counts', () => {
    const material = new Material(timeline(range(1, 4), lastControl), 3);
    material.records.delete(2);
    expect(material.answer()).toBe('again');
    const { summary, listing } = material.sound({}, true);
    expect(summary).toMatchObject({ latestConversationSeq: 4, unreadCount: 0, unreadExact: true });
    expect(listing.preview).toBeUndefined();
    expect(listing.previewDamage?.detail).toEqual({ tenantId: T7, conversationId: CHAT, conversationSeq: 2, reason: 'recordMissing' });
  });

  test.each([
    ['a record that is not there', 900, 0],
    ['Control', 4, 2],
    ['an older message than the window holds', 1, 0],
    ['nothing though there is something', 0, 1],
  ])('is marked when the pointer names %s', (_, previewSequence, watermark) => {
    const material = new Material(timeline(range(1, 4), lastControl), watermark);
    material.facts = { ...material.facts, previewSequence: seq(previewSequence) };
    expect(material.answer()).toBe('again');
    const { summary, listing } = material.sound({}, true);
    expect(listing.preview).toBeUndefined();
    expect(listing.previewDamage).toBeDefined();
    expect(summary.unreadExact).toBe(true);
  });

  test('that cannot be read in a whole record is marked, and leaves the counts', () => {
    const material = new Material(timeline(range(1, 3)), 0);
    const bytes = new Uint8Array(encodeRecord(recordOf(3)).record);
    const payload = 88 + CHAT.length + 'alice'.length;
    bytes[payload] = 6;
    const view = viewOf(bytes);
    view.setUint32(26, xxh32(view, 30, bytes.length - 24, view.getUint16(0)));
    material.records.set(3, bytes);
    expect(material.answer()).toBe('again');
    const { summary, listing } = material.sound({}, true);
    expect(summary).toMatchObject({ unreadCount: 3, unreadExact: true });
    expect(listing.preview).toBeUndefined();
    expect(listing.previewDamage?.detail).toMatchObject({ conversationSeq: 3, reason: 'recordUnreadable' });
  });

  test('past the bound the head shows a wrong pointer all the same', () => {
    const material = new Material(timeline([1, 2, 300]), 0);
    material.facts = { ...material.facts, previewSequence: seq(2) };
    expect(material.answer()).toBe('again');
    const { summary, listing } = material.sound({}, true);
    expect(summary).toMatchObject({ unreadCount: LIMIT, unreadExact: false });
    expect(listing.previewDamage?.detail).toMatchObject({ conversationSeq: 2, reason: 'recordMismatch' });
  });

  test('past the bound is the head when the facts lag behind', () => {
    const material = new Material(timeline([1, 2, 300]), 0);
    material.facts = { ...material.facts, lastSequence: seq(2), previewSequence: seq(2) };
    expect(material.sound().listing.preview?.conversationSeq).toBe(300);
  });

  test('is none where all is Control or retention took it', () => {
    expect(
      new Material(
        timeline(range(1, 4), () => TITLE),
        0,
      ).sound().listing,
    ).toMatchObject({ preview: undefined, previewDamage: undefined });
  });
});

test('one scope serves many conversations, and a damaged one leaves nothing behind', () => {
  const scope = readingScope(T7, BOB);
  const answers = [0, 1, 2, 3].map((i) => {
    const material = new Material(timeline(range(1, 5)), i);
    if (i === 1) material.records.delete(3);
    const plan = material.plan();
    return plan.kind === 'read' && finishReading(scope, plan, recordsIn(material.read(plan)), true);
  });
  expect(answers.map((answer) => answer !== false && answer !== 'again' && answer.kind === 'sound' && answer.summary.unreadCount)).toEqual([
    5,
    false,
    3,
    2,
  ]);
});

test('who is no member is answered, and told to be none', () => {
  expect(new Material(timeline([1, 2]), 0).sound({ member: undefined })).toMatchObject({
    listing: { member: undefined },
    summary: { unreadCount: 2 },
  });
});

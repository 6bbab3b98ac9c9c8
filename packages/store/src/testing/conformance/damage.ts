/** Cases: every kind of damage is said to be damage, where it is needed and nowhere else; never a smaller count. */
import type { CorruptReason } from '@qim/proto';
import { expect } from 'vitest';
import { isDamage } from '../../errors.js';
import type { DamageKind } from '../damage-kinds.js';
import type { OpenedBackend } from './backend.js';
import { type Chat, type Fixture, seq, TITLE, text } from './fixture.js';
import type { Cases } from './suite.js';

/** Where a kind is met, in a conversation of five whose record is damaged at `at`. 'sound': it is not met there. */
interface Expectation {
  readonly at: number;
  /** Any of these by a list that reads the record; which one depends on how the index is kept. */
  readonly list: readonly CorruptReason[] | 'sound';
  readonly history: readonly CorruptReason[] | 'sound';
  /** A commit writes nothing, or does not look there. */
  readonly commit: 'refused' | 'sent';
}

const MISMATCH = { at: 3, list: ['recordMismatch'], history: ['recordMismatch'], commit: 'sent' } as const;
const UNREADABLE = { at: 3, list: ['recordUnreadable'], history: ['recordUnreadable'], commit: 'sent' } as const;
const BEHIND = ['indexBehindFacts', 'indexMemberInvalid'] as const;

const EXPECTED: Readonly<Record<DamageKind, Expectation>> = {
  recordMissing: { at: 3, list: ['recordMissing'], history: ['recordMissing'], commit: 'sent' },
  recordTruncated: UNREADABLE,
  recordBitFlipped: UNREADABLE,
  recordOfAnother: MISMATCH,
  recordOtherTenant: MISMATCH,
  recordOtherConversation: MISMATCH,
  recordOtherSequence: MISMATCH,
  recordUnknownStatus: UNREADABLE,
  recordUnknownVersion: { at: 3, list: ['unsupportedVersion'], history: ['unsupportedVersion'], commit: 'sent' },
  bodyMissing: { at: 4, list: 'sound', history: ['bodyMissing'], commit: 'sent' },
  bodyBitFlipped: { at: 4, list: 'sound', history: ['bodyUnreadable'], commit: 'sent' },
  indexMemberMissing: { at: 3, list: ['chainBroken'], history: ['chainBroken', 'recordUnexpected'], commit: 'sent' },
  indexKeyMissing: { at: 0, list: ['indexMissing'], history: ['indexMissing', 'indexBehindFacts'], commit: 'refused' },
  indexMemberExtra: { at: 0, list: ['recordMissing'], history: ['recordMissing'], commit: 'refused' },
  indexMemberShort: { at: 0, list: BEHIND, history: BEHIND, commit: 'refused' },
  indexScoreNonZero: { at: 0, list: ['indexMemberInvalid'], history: ['indexMemberInvalid'], commit: 'refused' },
  indexWrongType: { at: 0, list: ['wrongType'], history: ['wrongType'], commit: 'refused' },
  factsMissing: { at: 0, list: ['factsMissing'], history: ['factsMissing'], commit: 'refused' },
  factsUnreadable: { at: 0, list: ['factsUnreadable'], history: ['factsUnreadable'], commit: 'refused' },
  factsAhead: { at: 0, list: ['indexBehindFacts'], history: ['indexBehindFacts'], commit: 'refused' },
  factsBehind: { at: 0, list: 'sound', history: 'sound', commit: 'refused' },
  previewPointerWrong: { at: 0, list: 'sound', history: 'sound', commit: 'sent' },
  memberUnreadable: { at: 0, list: ['memberUnreadable'], history: ['memberUnreadable'], commit: 'refused' },
};

/** Five of Alice's, the fourth with its body apart. */
async function chatOfFive(fixture: Fixture): Promise<Chat> {
  const chat = fixture.direct(fixture.user('alice'), fixture.user('bob'));
  const alice = fixture.user('alice');
  await chat.sayTimes(alice, 3);
  await chat.say(alice, { content: text('long '.repeat(2_000)) });
  await chat.say(alice);
  return chat;
}

async function damage({ backend }: Fixture, chat: Chat, kind: DamageKind, at: number): Promise<void> {
  const damaged: OpenedBackend['damage'] = backend.damage?.bind(backend);
  if (damaged === undefined) throw new Error('a backend that names kinds of damage can do it');
  const { tenantId, conversationId } = chat;
  const [, bob] = chat.create?.members ?? [];
  await damaged({ tenantId, conversationId, ...(at > 0 && { conversationSeq: seq(at) }), ...(bob && { userId: bob.userId }) }, kind);
}

async function reasonOf(call: Promise<unknown>): Promise<CorruptReason | 'sound'> {
  try {
    await call;
    return 'sound';
  } catch (error) {
    if (isDamage(error)) return error.detail.reason;
    throw error;
  }
}

function met(reason: CorruptReason | 'sound', expected: readonly CorruptReason[] | 'sound'): void {
  expect(expected === 'sound' ? ['sound'] : expected).toContain(reason);
}

async function meets(fixture: Fixture, kind: DamageKind): Promise<void> {
  const bob = fixture.user('bob');
  const { at, list, history, commit } = EXPECTED[kind];
  const [chat, neighbour] = [await chatOfFive(fixture), await chatOfFive(fixture)];
  await damage(fixture, chat, kind, at);

  const states = [neighbour, chat, neighbour].map(({ conversationId }) => ({ conversationId, watermark: seq(0) }));
  const readings = await fixture.store.messages.readConversations(chat.tenantId, bob, states);
  expect(readings.map((reading) => reading.kind)).toEqual(['sound', list === 'sound' ? 'sound' : 'damaged', 'sound']);
  const [, reading] = readings;
  if (reading?.kind === 'damaged') {
    met(reading.error.detail.reason, list);
    expect(reading.error.detail).toMatchObject({ tenantId: chat.tenantId, conversationId: chat.conversationId });
    expect(reading).not.toHaveProperty('summary');
    expect(reading.memberKnown).toBe(kind !== 'memberUnreadable');
    met(await reasonOf(chat.summary(bob)), list);
  } else {
    expect(reading?.summary).toMatchObject({ latestConversationSeq: 5, unreadCount: 5, unreadExact: true });
  }

  for (const position of ['newest', { after: seq(0) }, { before: seq(7) }] as const) {
    met(await reasonOf(chat.history(bob, { position })), history);
  }
  expect(await reasonOf(chat.say(bob))).toSatisfy((reason) => (reason === 'sound') === (commit === 'sent'));
  expect((await neighbour.say(bob)).conversationSeq).toBe(6);
}

/** One case for each kind that the backend can do. */
export function damageCases(kinds: readonly DamageKind[]): Cases {
  return Object.fromEntries(kinds.map((kind) => [kind, (fixture: Fixture) => meets(fixture, kind)]));
}

export const damageElsewhere: Cases = {
  async 'damage at or below the watermark does not trouble a list, and history says it (56)'(fixture) {
    const bob = fixture.user('bob');
    const chat = await chatOfFive(fixture);
    await damage(fixture, chat, 'recordBitFlipped', 2);
    expect(await chat.unread(bob, 2)).toEqual([3, true]);
    expect(await reasonOf(chat.summary(bob, 1))).toBe('recordUnreadable');
    expect(await chat.page(bob, { position: { after: seq(2) } })).toEqual([[3, 4, 5], false]);
    expect(await reasonOf(chat.history(bob))).toBe('recordUnreadable');
  },

  async 'damage past the bound does not trouble a list (56)'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    await Promise.all(Array.from({ length: 210 }, () => chat.say(alice)));
    await damage(fixture, chat, 'recordMissing', 100);
    expect(await chat.unread(bob)).toEqual([200, false]);
    expect(await reasonOf(chat.summary(bob, 50))).toBe('recordMissing');
    expect(await chat.unread(bob, 150)).toEqual([60, true]);
  },

  async 'a damaged head is damage at every watermark'(fixture) {
    const bob = fixture.user('bob');
    for (const kind of ['recordMissing', 'recordBitFlipped'] as const) {
      const chat = await chatOfFive(fixture);
      await damage(fixture, chat, kind, 5);
      for (const watermark of [0, 4, 5, 9]) expect(await reasonOf(chat.summary(bob, watermark))).not.toBe('sound');
    }
  },

  async 'a sequence that is missing from the index is noticed, wherever it lies past the watermark'(fixture) {
    const bob = fixture.user('bob');
    for (const [at, reason] of [
      [1, 'chainBroken'],
      [2, 'chainBroken'],
      [4, 'chainBroken'],
      [5, 'indexBehindFacts'],
    ] as const) {
      const chat = await chatOfFive(fixture);
      await damage(fixture, chat, 'indexMemberMissing', at);
      expect(await reasonOf(chat.summary(bob))).toBe(reason);
      expect(await reasonOf(chat.summary(bob, at - 1))).toBe(reason);
      if (at < 5) expect(await chat.unread(bob, at)).toEqual([5 - at, true]);
    }
  },

  async 'history notices a missing sequence inside a page and on both of its sides'(fixture) {
    const bob = fixture.user('bob');
    const chat = await chatOfFive(fixture);
    await damage(fixture, chat, 'indexMemberMissing', 3);
    const reason = async (over: Parameters<Chat['history']>[1]) => reasonOf(chat.history(bob, over));
    expect(await reason({ position: { after: seq(1) }, limit: 2 })).not.toBe('sound');
    expect(await reason({ position: { after: seq(2) }, limit: 1 })).not.toBe('sound');
    expect(await reason({ position: { before: seq(5) }, limit: 2 })).not.toBe('sound');
    expect(await reason({ position: { before: seq(4) } })).not.toBe('sound');
    expect(await chat.page(bob, { position: { after: seq(3) } })).toEqual([[4, 5], false]);
    expect(await chat.page(bob, { position: { before: seq(2) } })).toEqual([[1], false]);
  },

  async 'a damaged preview marks the preview and leaves the counts'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await chatOfFive(fixture);
    await chat.say(alice, TITLE);
    await damage(fixture, chat, 'recordBitFlipped', 5);
    const { summary, listing } = await chat.sound(bob, 5);
    expect(summary).toMatchObject({ latestConversationSeq: 6, unreadCount: 0, unreadExact: true });
    expect(listing.preview).toBeUndefined();
    expect(listing.previewDamage?.detail).toMatchObject({ conversationSeq: 5, reason: 'recordUnreadable' });
    expect(await reasonOf(chat.summary(bob, 4))).toBe('recordUnreadable');
  },

  async 'a pointer to a preview that is not there marks the preview'(fixture) {
    const bob = fixture.user('bob');
    const chat = await chatOfFive(fixture);
    await chat.say(bob, TITLE);
    await damage(fixture, chat, 'previewPointerWrong', 0);
    for (const watermark of [0, 6]) {
      const { listing } = await chat.sound(bob, watermark);
      expect(listing.preview).toBeUndefined();
      expect(listing.previewDamage).toBeDefined();
    }
    await chat.say(bob, 'mended by the next');
    expect((await chat.sound(bob)).listing).toMatchObject({ preview: { conversationSeq: 7 }, previewDamage: undefined });
  },

  async 'a single read of a damaged record says so'(fixture) {
    const chat = await chatOfFive(fixture);
    await damage(fixture, chat, 'recordOtherTenant', 2);
    await damage(fixture, chat, 'bodyMissing', 4);
    expect(await reasonOf(chat.record(2))).toBe('recordMismatch');
    expect(await reasonOf(chat.record(4))).toBe('bodyMissing');
    expect(await reasonOf(chat.record(3))).toBe('sound');
    await damage(fixture, chat, 'recordMissing', 5);
    await damage(fixture, chat, 'indexMemberMissing', 3);
    expect(await reasonOf(chat.record(5))).toBe('recordMissing');
    expect(await reasonOf(chat.record(3))).toBe('indexMissing');
  },
};

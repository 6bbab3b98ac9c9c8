/** What a list, history and a commit answer when the embedded store's bytes are damaged, kind by kind. */
import type { CorruptReason, UserId } from '@qim/proto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isDamage } from '../src/errors.js';
import { type Chat, Fixture, refusedWith, seq } from '../src/testing/conformance/fixture.js';
import type { DamageKind } from '../src/testing/damage-kinds.js';
import { EMBEDDED_DAMAGE_KINDS, EmbeddedBackend } from './embedded-backend.js';

const APART = 'long '.repeat(1_000);
let backend: EmbeddedBackend;
let alice: UserId;
let bob: UserId;
let chat: Chat;
let neighbour: Chat;
let seen: CorruptReason[];

beforeEach(async () => {
  seen = [];
  backend = await EmbeddedBackend.open({ observer: { damage: (reason) => seen.push(reason) } });
  const fixture = new Fixture(backend);
  alice = fixture.user('alice');
  bob = fixture.user('bob');
  chat = fixture.direct(alice, bob);
  neighbour = fixture.direct(alice, bob);
  for (const each of [chat, neighbour]) {
    await each.sayTimes(alice, 3);
    await each.say(alice, APART);
    await each.say(alice, 'the newest');
  }
});

afterEach(() => backend.close());

function damaged(kind: DamageKind, conversationSeq: number): Promise<void> {
  const { tenantId, conversationId } = chat;
  return backend.damage({ tenantId, conversationId, conversationSeq: seq(conversationSeq), userId: bob }, kind);
}

/** The reason that the list gives; undefined: it gives numbers. */
async function listed(): Promise<CorruptReason | undefined> {
  const reading = await chat.reading(bob);
  if (reading.kind === 'sound') return undefined;
  expect(reading, 'no count in any form').not.toHaveProperty('summary');
  return reading.error.detail.reason;
}

/** The reason for which a call is refused. */
async function refused(call: Promise<unknown>): Promise<CorruptReason | undefined> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return isDamage(error) ? error.detail.reason : undefined;
}

/** [kind, the record that is damaged, list, history, a commit]; undefined: nothing is noticed there. */
type Row = readonly [DamageKind, number, CorruptReason | undefined, CorruptReason | undefined, CorruptReason | undefined];
const NOTICED: readonly Row[] = [
  ['recordMissing', 2, 'recordMissing', 'recordMissing', undefined],
  ['recordTruncated', 2, 'recordUnreadable', 'recordUnreadable', undefined],
  ['recordBitFlipped', 2, 'recordUnreadable', 'recordUnreadable', undefined],
  ['recordOfAnother', 2, 'recordMismatch', 'recordMismatch', undefined],
  ['recordOtherTenant', 2, 'recordMismatch', 'recordMismatch', undefined],
  ['recordOtherConversation', 2, 'recordMismatch', 'recordMismatch', undefined],
  ['recordOtherSequence', 2, 'recordMismatch', 'recordMismatch', undefined],
  ['recordUnknownStatus', 2, 'recordUnreadable', 'recordUnreadable', undefined],
  ['recordUnknownVersion', 2, 'unsupportedVersion', 'unsupportedVersion', undefined],
  // The list reads no bodies.
  ['bodyMissing', 4, undefined, 'bodyMissing', undefined],
  ['bodyBitFlipped', 4, undefined, 'bodyUnreadable', undefined],
  ['indexMemberMissing', 2, 'chainBroken', 'chainBroken', undefined],
  ['indexMemberMissing', 5, 'indexBehindFacts', 'indexBehindFacts', 'indexBehindFacts'],
  ['indexKeyMissing', 0, 'indexMissing', 'indexMissing', 'indexMissing'],
  ['indexMemberExtra', 0, 'recordMissing', 'recordMissing', 'recordUnexpected'],
  ['indexMemberShort', 0, 'indexBehindFacts', 'indexBehindFacts', 'indexBehindFacts'],
  ['factsMissing', 0, 'factsMissing', 'factsMissing', 'factsMissing'],
  ['factsUnreadable', 0, 'factsUnreadable', 'factsUnreadable', 'factsUnreadable'],
  ['factsAhead', 0, 'indexBehindFacts', 'indexBehindFacts', 'indexBehindFacts'],
  ['factsBehind', 0, undefined, undefined, 'recordUnexpected'],
  // It spoils the preview, which is told beside sound counts.
  ['previewPointerWrong', 0, undefined, undefined, undefined],
  ['memberUnreadable', 0, 'memberUnreadable', 'memberUnreadable', 'memberUnreadable'],
];

test('every kind that applies to the embedded store is in this table', () => {
  expect(new Set(NOTICED.map(([kind]) => kind))).toEqual(new Set(EMBEDDED_DAMAGE_KINDS));
});

describe.each(NOTICED)('%s of %i', (kind, conversationSeq, byList, byHistory, byCommit) => {
  beforeEach(() => damaged(kind, conversationSeq));

  test('the list says so, and its neighbour stays sound', async () => {
    expect(await listed()).toBe(byList);
    expect(seen).toEqual(byList === undefined ? [] : [byList]);
    expect(await neighbour.unread(bob)).toEqual([5, true]);
    if (byList !== undefined)
      await refusedWith(chat.summary(bob), byList === 'unsupportedVersion' ? 'UnsupportedVersion' : 'CorruptRecord');
  });

  test('history says so', async () => {
    expect(await refused(chat.history(bob))).toBe(byHistory);
    expect(await refused(chat.history(bob, { position: { after: seq(0) } }))).toBe(byHistory);
    expect(await neighbour.page(bob)).toEqual([[1, 2, 3, 4, 5], false]);
  });

  test('a commit writes nothing on top of it', async () => {
    expect(await refused(chat.say(bob))).toBe(byCommit);
    expect((await neighbour.say(bob)).conversationSeq).toBe(6);
  });
});

describe('the chain is checked on both sides of a page', () => {
  test('a member that is missing just above a page is noticed', async () => {
    await damaged('indexMemberMissing', 3);
    expect(await refused(chat.history(bob, { position: { before: seq(4) } }))).toBe('chainBroken');
    expect(await refused(chat.history(bob, { position: { before: seq(3) } }))).toBe('chainBroken');
  });

  test('a member that is missing just below a page is noticed', async () => {
    await damaged('indexMemberMissing', 3);
    expect(await refused(chat.history(bob, { limit: 2 }))).toBe('chainBroken');
    expect(await refused(chat.history(bob, { position: { after: seq(2) } }))).toBe('chainBroken');
  });

  test('a member that is missing below everything that is asked for disturbs nothing', async () => {
    await damaged('indexMemberMissing', 2);
    expect(await chat.page(bob, { position: { after: seq(3) } })).toEqual([[4, 5], false]);
    expect(await chat.unread(bob, 3)).toEqual([2, true]);
  });

  test('all members that are missing below a position are noticed', async () => {
    await damaged('indexMemberMissing', 1);
    expect(await refused(chat.history(bob, { position: { before: seq(2) } }))).toBe('chainBroken');
  });
});

describe('a preview that cannot be trusted', () => {
  test('is told beside counts that stand', async () => {
    await damaged('previewPointerWrong', 0);
    const { summary, listing } = await chat.sound(bob);
    expect(summary).toMatchObject({ unreadCount: 5, unreadExact: true });
    expect(listing.preview).toBeUndefined();
    expect(listing.previewDamage).toMatchObject({ code: 'CorruptRecord' });
  });
});

describe('a duplicate', () => {
  test('of a damaged record is told to be damaged, and writes nothing', async () => {
    const request = chat.request(bob, 'again');
    const { conversationSeq } = await chat.messages.commit(request);
    await damaged('recordBitFlipped', conversationSeq);
    expect(await refused(chat.messages.commit(request))).toBe('recordUnreadable');
  });
});

test.each(['indexScoreNonZero', 'indexWrongType'] as const)('%s is refused: it does not apply', async (kind) => {
  await expect(damaged(kind, 0)).rejects.toThrow('does not apply to the embedded store');
});

/** Cases of both stores: every kind of damage is found where it is, mended, and gone; and the list answers again. */
import { MessageStatus } from '@qim/proto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Chat, seq, text } from '../src/testing/conformance/fixture.js';
import type { DamageKind } from '../src/testing/damage-kinds.js';
import type { VerifiedStore } from './verify-backends.js';
import { Subject } from './verify-harness.js';

interface Expected {
  /** The record that is damaged; 0: it is not at one. */
  readonly at: number;
  readonly found: readonly string[];
  /** What bob has unread after the repair, of five messages of alice. */
  readonly unread: number;
}

/** A record is lost: one message fewer counts, and it is there as deleted. */
const lost = (code: string, at = 3): Expected => ({ at, found: [`${code}@${at}`], unread: 4 });
/** Everything is there again. */
const whole = (...found: readonly string[]): Expected => ({ at: 0, found, unread: 5 });

const EXPECTED: Readonly<Record<DamageKind, Expected>> = {
  recordMissing: lost('recordMissing'),
  recordTruncated: lost('recordUnreadable'),
  recordBitFlipped: lost('recordUnreadable'),
  recordOfAnother: lost('recordMismatch'),
  recordOtherTenant: lost('recordMismatch'),
  recordOtherConversation: lost('recordMismatch'),
  recordOtherSequence: lost('recordMismatch'),
  recordUnknownStatus: lost('recordUnreadable'),
  recordUnknownVersion: lost('unsupportedVersion'),
  bodyMissing: lost('bodyMissing', 4),
  bodyBitFlipped: lost('bodyUnreadable', 4),
  indexMemberMissing: { ...whole('indexMemberMissing@3'), at: 3 },
  indexKeyMissing: whole('indexMissing'),
  indexMemberExtra: whole('indexMemberExtra@6'),
  indexMemberShort: whole('indexMemberInvalid', 'indexMemberMissing@5'),
  indexScoreNonZero: whole('indexMemberInvalid@5'),
  indexWrongType: whole('wrongType'),
  factsMissing: whole('factsMissing'),
  factsUnreadable: whole('factsUnreadable'),
  factsAhead: whole('headWrong@5'),
  factsBehind: whole('headWrong@5'),
  previewPointerWrong: whole('previewWrong@5'),
  memberUnreadable: whole('memberUnreadable/bob'),
};

export function damageMatrix(store: VerifiedStore): void {
  describe.each(store.damageKinds)(`${store.name}: %s`, (kind) => {
    let subject: Subject;
    let chat: Chat;
    let neighbour: Chat;
    const { at, found, unread } = EXPECTED[kind];
    const scope = () => ({ tenantId: chat.tenantId, conversationId: chat.conversationId, newerIsDamage: true });

    beforeAll(async () => {
      subject = await Subject.open(store);
      [chat, neighbour] = [await chatOfFive(subject), await chatOfFive(subject)];
      const { tenantId, conversationId } = chat;
      const target = { tenantId, conversationId, userId: subject.bob, ...(at > 0 && { conversationSeq: seq(at) }) };
      await subject.backend.damage(target, kind);
    });
    afterAll(() => subject.backend.close());

    test('is found where it is, and nothing else is', async () => {
      const verified = await subject.verify({ newerIsDamage: true });
      expect(verified.places).toEqual(found);
      expect(new Set(verified.found.map(({ tenantId, conversationId }) => `${tenantId} ${conversationId}`))).toEqual(
        new Set([`${chat.tenantId} ${chat.conversationId}`]),
      );
      expect(verified.counts).toMatchObject({ conversations: 2, findings: found.length, left: found.length });
      expect(
        (await subject.verify({ newerIsDamage: true, conversationId: neighbour.conversationId, tenantId: chat.tenantId })).places,
      ).toEqual([]);
    });

    test('a dry run says what would be done, and writes nothing', async () => {
      const dry = await subject.verify({ ...scope(), repair: 'dry' });
      expect(dry.mended.map(([place]) => place)).toEqual(found);
      expect((await subject.verify(scope())).places).toEqual(found);
    });

    test('is mended, and nothing is found any more', async () => {
      const repaired = await subject.verify({ newerIsDamage: true, repair: 'yes' });
      expect(repaired.left).toEqual([]);
      expect(repaired.counts).toMatchObject({ left: 0 });
      expect(repaired.mended.map(([place]) => place)).toEqual(expect.arrayContaining([...found]));
      expect((await subject.verify({ newerIsDamage: true })).places).toEqual([]);
    });

    test('the list and history answer again, and sending goes on', async () => {
      const { alice, bob } = subject;
      expect(await chat.unread(bob)).toEqual([unread, true]);
      const page = await chat.history(bob);
      expect(page.records.map(({ conversationSeq }) => conversationSeq)).toEqual([1, 2, 3, 4, 5]);
      expect(page.records.filter(({ status }) => status === MessageStatus.Deleted)).toHaveLength(5 - unread);
      expect((await chat.sound(bob)).listing.preview?.conversationSeq).toBe(5);
      const sent = await chat.say(alice, 'goes on');
      expect(sent.conversationSeq).toBeGreaterThan(5);
      expect((await chat.history(bob)).records.at(-1)?.content).toEqual({ kind: 'text', text: 'goes on' });
      expect((await chat.say(bob)).conversationSeq).toBe(sent.conversationSeq + 1);
      expect(await neighbour.unread(bob)).toEqual([5, true]);
      expect((await subject.verify()).places).toEqual([]);
    });
  });
}

/** Five of alice's, the fourth with its body apart. */
export async function chatOfFive({ fixture, alice, bob }: Subject): Promise<Chat> {
  const chat = fixture.direct(alice, bob);
  await chat.sayTimes(alice, 3);
  await chat.say(alice, { content: text('long '.repeat(2_000)) });
  await chat.say(alice);
  return chat;
}

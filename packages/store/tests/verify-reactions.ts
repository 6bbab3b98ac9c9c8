/** Cases of both stores: what of reactions is found, and how it is mended. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeReactions } from '../src/message/reactions.js';
import { type Chat, seq } from '../src/testing/conformance/fixture.js';
import type { VerifiedStore } from './verify-backends.js';
import { Subject, type Verified } from './verify-harness.js';
import { chatOfFive } from './verify-matrix.js';

const UP = '\u{1F44D}';

export function reactionCases(store: VerifiedStore): void {
  let subject: Subject;
  let chat: Chat;
  beforeAll(async () => {
    subject = await Subject.open(store);
  });
  afterAll(() => subject.backend.close());
  beforeEach(async () => {
    chat = await chatOfFive(subject);
  });

  const react = async (at: number, on = true): Promise<void> => {
    const outcome = await chat.messages.react({ actor: subject.bob, target: await chat.record(at), emoji: UP, on });
    expect(outcome.kind).toBe('amended');
  };
  const scope = () => ({ tenantId: chat.tenantId, conversationId: chat.conversationId });
  const verify = (options = {}): Promise<Verified> => subject.verify({ ...scope(), ...options });
  const mends = (...found: string[]): Promise<Verified> => subject.mends(scope(), found);
  /** Of the message at `of`, as they are stored. */
  const valueAt = async (of: number): Promise<Uint8Array> => {
    const { messageId } = await chat.record(of);
    return encodeReactions(messageId, { revision: 1, kinds: [{ emoji: UP, userIds: [subject.bob] }] });
  };
  const plant = (at: number, value: Uint8Array | undefined): Promise<void> =>
    subject.plant(chat, { kind: 'reactions', sequence: seq(at), value });

  describe(`${store.name}: reactions`, () => {
    test('that are set, taken off, or on an edited message are sound; so is a message that was recalled after them', async () => {
      for (const at of [1, 2, 3, 4]) await react(at);
      await react(1, false);
      await chat.edit(2, 'better');
      await chat.recall(3);
      expect((await verify()).places).toEqual([]);
    });

    test('go with what retention removes, and with the content of the newest', async () => {
      for (const at of [1, 2, 3, 4, 5]) await react(at);
      const retain = (keepNewest: number) =>
        chat.messages.retain(chat.tenantId, chat.conversationId, { olderThanMs: undefined, keepNewest });
      await retain(2);
      expect((await verify()).places).toEqual([]);
      await retain(0);
      expect((await verify()).places).toEqual([]);
    });

    test('that are damaged are put aside, and devices begin anew', async () => {
      await react(3);
      const { epoch } = await subject.facts(chat);
      const value = await valueAt(3);
      value[value.length - 1] = (value[value.length - 1] ?? 0) ^ 1;
      await plant(3, value);
      const { mended } = await mends('reactionsUnreadable@3');
      // Nothing is left of why the message was amended, and it was the newest amendment.
      expect(mended.map(([place]) => place)).toEqual(['reactionsUnreadable@3', 'amendmentLeftOver@3', 'amendmentMissing']);
      expect((await subject.facts(chat)).epoch).toBeGreaterThan(epoch);
      const [aside] = await subject.quarantine(chat);
      expect([aside?.was, aside?.code, aside?.bytes]).toEqual(['reactions', 'reactionsUnreadable', Buffer.from(value)]);
      expect((await chat.history(subject.bob)).reactions).toEqual(new Map());
      await react(3);
    });

    test('of another message are no reactions of this one', async () => {
      await react(3);
      await plant(3, await valueAt(2));
      await mends('reactionsUnreadable@3');
    });

    test('of a newer qim are left as they are, until the operator says that there is none', async () => {
      await react(3);
      await plant(3, Uint8Array.of(2, 0xfd, ...(await valueAt(3)).subarray(2)));
      expect((await verify({ repair: 'yes' })).left.map(([place]) => place)).toEqual(['unsupportedVersion@3']);
      const repaired = await verify({ repair: 'yes', newerIsDamage: true });
      expect(repaired.left).toEqual([]);
    });

    test.each([
      ['no record', 9, false],
      ['an erased one', 2, true],
    ] as const)('beside %s are left over, and nobody need begin anew', async (_, at, recalled) => {
      const value = await valueAt(2);
      if (recalled) await chat.recall(2);
      await plant(at, value);
      const { epoch } = await subject.facts(chat);
      await mends(`reactionsLeftOver@${at}`);
      expect((await subject.facts(chat)).epoch).toBe(epoch);
      expect((await subject.quarantine(chat)).map(({ code }) => code)).toEqual(['reactionsLeftOver']);
    });

    test('without an amendments entry get one, so that devices are told', async () => {
      await react(3);
      const { amendmentNumber } = await subject.facts(chat);
      await subject.plant(chat, { kind: 'dropAmendment', sequence: seq(3) });
      await mends('amendmentMissing@3');
      expect((await subject.facts(chat)).amendmentNumber).toBe(amendmentNumber + 1);
    });

    test('that are gone leave an amendments entry over', async () => {
      await react(3);
      await plant(3, undefined);
      await mends('amendmentLeftOver@3');
    });
  });
}

/** What a user sees of damage, over a store of real bytes: every way of breaking a conversation, on each backend. */
import { MessageStatus, SEQ_ZERO, type UserId } from '@qim/proto';
import { startSession } from '@qim/session';
import type { Store } from '@qim/store';
import { type DamageKind, damage, type StoreLocation } from '@qim/store/testing';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, caller, type Filler, fillWorld, refusal, room, seq, T0 } from './support.js';

export interface RealStore {
  readonly store: Store;
  readonly location: StoreLocation;
  close(): Promise<void>;
}

/** What a list cannot or need not see: the preview alone, or only the next commit meets it. */
const NO_DAMAGE_TO_COUNTS: readonly DamageKind[] = ['previewPointerWrong', 'factsBehind', 'bodyMissing', 'bodyBitFlipped'];

export function sessionOverRealStore(name: string, kinds: readonly DamageKind[], open: () => Promise<RealStore>): void {
  describe(`the session over ${name}`, () => {
    let real: RealStore;
    let filler: Filler;
    beforeAll(async () => {
      real = await open();
      filler = fillWorld(real.store, { nowMs: 0 });
    });
    afterAll(() => real.close());

    const session = () =>
      startSession(real.store, {
        announceRead: () => {},
        announceChange: () => {},
        announceTyping: () => {},
        announceSuspended: () => {},
        now: Date.now,
        newId: uuidv7,
      });
    const listOf = (userId: UserId) => session().listConversations(caller(userId), { pageSize: 0, pageToken: '', explain: true });

    test.each(kinds.filter((kind) => !NO_DAMAGE_TO_COUNTS.includes(kind)))(
      '%s: an entry without numbers, the others whole, and the strict call agrees',
      async (kind) => {
        const [broken, sound] = [room(`${kind}-broken`), room(`${kind}-sound`)];
        for (const id of [broken, sound]) {
          await filler.group(id, [ALICE, BOB]);
          for (let n = 0; n < 3; n += 1) await filler.say(ALICE, id);
        }
        await damage(real.location, { tenantId: T0, conversationId: broken, conversationSeq: seq(3), userId: BOB }, kind);
        const { conversations, damagedCount } = await listOf(BOB);
        const entry = conversations.find(({ conversationId }) => conversationId === broken);
        expect(entry?.damaged?.detail.conversationId).toBe(broken);
        expect(Object.keys(entry ?? {})).not.toContain('summary');
        expect(damagedCount).toBe(conversations.filter(({ damaged }) => damaged !== undefined).length);
        expect(conversations.find(({ conversationId }) => conversationId === sound)).toMatchObject({
          damaged: undefined,
          summary: { unreadCount: 3, unreadExact: true },
        });
        const one = await session().getConversation(caller(BOB), broken, false);
        expect(one.damaged).toMatchObject({ code: entry?.damaged?.code, detail: entry?.damaged?.detail });
        // A member entry that cannot be read concerns its user's list, and no count.
        if (kind === 'memberUnreadable') return;
        const strict = await real.store.messages
          .conversationSummaries(T0, BOB, [{ conversationId: broken, watermark: SEQ_ZERO }])
          .catch((error: unknown) => error);
        expect(strict).toMatchObject({ code: entry?.damaged?.code, detail: entry?.damaged?.detail });
      },
    );

    test('heads, counts, previews, history and marks are those of the records', async () => {
      const id = room('whole');
      await filler.group(id, [ALICE, BOB]);
      await filler.say(BOB, id);
      const edited = await filler.say(ALICE, id);
      await filler.amend(edited, MessageStatus.Edited, 'better');
      const recalled = await filler.say(ALICE, id, { content: { kind: 'text', text: 'regretted' } });
      await filler.amend(recalled, MessageStatus.Recalled);
      const shown = await session().getConversation(caller(BOB), id, true);
      expect(shown).toMatchObject({
        damaged: undefined,
        summary: { latestConversationSeq: 4, lastMessageId: recalled.messageId, unreadCount: 1, unreadExact: true },
        preview: { messageId: recalled.messageId, status: MessageStatus.Recalled, snippet: '' },
        explanation: { scanned: 4, own: 1, control: 1, recalled: 1, deleted: 0, chainUnbroken: true },
      });
      const { messages } = await session().readHistory(caller(BOB), { conversationId: id, position: 'newest', limit: 0 });
      expect(messages.map(({ record }) => record.conversationSeq)).toEqual([1, 2, 3, 4]);
      expect(JSON.stringify([shown, messages])).not.toContain('regretted');
      expect(await session().markRead(caller(BOB), id, seq(99))).toBe(4);
      expect(await session().getConversation(caller(BOB), id, false)).toMatchObject({
        readConversationSeq: 4,
        summary: { unreadCount: 0 },
      });
      const { members } = await session().listMembers(caller(BOB), id, '');
      expect(members.map(({ userId }) => userId)).toEqual([ALICE, BOB]);
    });

    test('damaged facts are told to members alone', async () => {
      const id = room('secret');
      await filler.group(id, [ALICE, BOB]);
      const calls = (userId: UserId): readonly (() => Promise<unknown>)[] => [
        () => session().markRead(caller(userId), id, seq(1)),
        () => session().listMembers(caller(userId), id, ''),
        () => session().readHistory(caller(userId), { conversationId: id, position: 'newest', limit: 0 }),
      ];
      for (const kind of ['factsUnreadable', 'factsMissing'] as const) {
        await damage(real.location, { tenantId: T0, conversationId: id }, kind);
        for (const call of calls(CAROL)) expect(await refusal(call())).toBe('NotMember');
        for (const call of calls(BOB)) expect(await refusal(call())).toBe('CorruptRecord');
      }
      expect(await refusal(session().getConversation(caller(CAROL), id, false))).toBe('NotMember');
    });

    test('removed and joined again before the lists knew: counted from the later join', async () => {
      const id = room('again');
      await filler.group(id, [ALICE, BOB]);
      await filler.say(ALICE, id);
      await filler.remove(id, BOB, false);
      expect((await listOf(BOB)).conversations.map(({ conversationId }) => conversationId)).not.toContain(id);
      await filler.add(id, BOB, false);
      await filler.say(ALICE, id);
      expect((await listOf(BOB)).conversations.find(({ conversationId }) => conversationId === id)).toMatchObject({
        summary: { unreadCount: 1, unreadExact: true },
      });
    });
  });
}

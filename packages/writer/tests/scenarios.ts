/** What the writer promises, over a store of real bytes: the same lines on each backend. */
import { HistoryVisibility, MessageStatus, RECALL_WINDOW_MS, type UserId } from '@qim/proto';
import type { Store } from '@qim/store';
import { damage, type StoreLocation } from '@qim/store/testing';
import { createWriter, type SendMessageInput } from '@qim/writer';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, caller, DAN, groupInput, key, refusal, seq, T0, textInput, whole } from './support.js';

export interface RealStore {
  readonly store: Store;
  readonly location: StoreLocation;
  close(): Promise<void>;
}

export function writerOverRealStore(name: string, open: () => Promise<RealStore>): void {
  describe(`the writer over ${name}`, () => {
    let real: RealStore;
    let count = 0;
    beforeAll(async () => {
      real = await open();
    });
    afterAll(() => real.close());

    const writer = () =>
      createWriter({
        messages: real.store.messages,
        directory: real.store.directory,
        users: real.store.users,
        directMessages: () => 'anyone',
        now: Date.now,
        newId: uuidv7,
        announceRead: () => {},
        recallWindowMs: RECALL_WINDOW_MS,
        observer: {
          afterCommitFailed: (error) => {
            throw error;
          },
        },
      });
    const text = (target: SendMessageInput['target'], part: Partial<SendMessageInput> = {}) => {
      count += 1;
      return textInput(`c${count}`, target, part);
    };
    const send = async (by: typeof ALICE, target: SendMessageInput['target'], part: Partial<SendMessageInput> = {}) =>
      whole(await writer().sendMessage(caller(by), text(target, part))).record;
    const listOf = async (userId: typeof ALICE) =>
      (await real.store.directory.page(T0, userId, 100, undefined)).views.map((view) => view.conversationId);

    test('a direct conversation is made once, from both sides, and retries are told the first message', async () => {
      const [one, other] = await Promise.all([send(ALICE, { toUserId: BOB }), send(BOB, { toUserId: ALICE })]);
      expect(one.conversationId).toBe(other.conversationId);
      const input = text({ toUserId: BOB }, { readConversationSeq: seq(2) });
      const first = await writer().sendMessage(caller(ALICE), input);
      expect(await writer().sendMessage(caller(ALICE), input)).toEqual({ message: first.message, duplicate: true });
      expect(await refusal(writer().sendMessage(caller(ALICE), { ...input, mentionAll: true }))).toBe('IdempotencyConflict');
      for (const userId of [ALICE, BOB]) expect(await listOf(userId)).toContain(one.conversationId);
      expect((await real.store.directory.view(T0, ALICE, one.conversationId))?.readSeq).toBe(2);
    });

    test('a reply whose target will not do is refused, and one that was delivered is a duplicate for ever', async () => {
      const room = await writer().createGroup(caller(ALICE), groupInput([BOB, CAROL]));
      const { conversationSeq, messageId } = await send(ALICE, { conversationId: room });
      const replyTo = { conversationSeq, messageId };
      const input = text({ conversationId: room }, { replyTo });
      const first = await writer().sendMessage(caller(BOB), input);
      const wrong = { replyTo: { conversationSeq: seq(999), messageId } };
      for (const target of [{ conversationId: room }, { toUserId: BOB }, { toUserId: DAN }]) {
        expect(await refusal(send(ALICE, target, wrong))).toBe('InvalidArgument replyTo');
      }
      await damage(real.location, { tenantId: T0, conversationId: room, conversationSeq }, 'recordBitFlipped');
      expect(await refusal(send(CAROL, { conversationId: room }, { replyTo }))).toBe('CorruptRecord');
      expect(await writer().sendMessage(caller(BOB), input)).toEqual({ message: first.message, duplicate: true });
      await writer().removeMember(caller(ALICE), room, BOB);
      expect(await writer().sendMessage(caller(BOB), input)).toMatchObject({
        duplicate: true,
        message: { idsOnly: { conversationSeq: whole(first).record.conversationSeq } },
      });
      expect(await refusal(send(BOB, { conversationId: room }, { replyTo }))).toBe('NotMember');
    });

    test('damaged facts are told to members alone', async () => {
      const room = await writer().createGroup(caller(ALICE), groupInput([BOB]));
      const sent = await send(BOB, { conversationId: room });
      await damage(real.location, { tenantId: T0, conversationId: room }, 'factsUnreadable');
      const content = { kind: 'text', text: 'better' } as const;
      const calls = (userId: UserId): readonly (() => Promise<unknown>)[] => [
        () => send(userId, { conversationId: room }),
        () => writer().editMessage(caller(userId), { ...sent, content, mentionUserIds: [], mentionAll: false }),
        () => writer().recallMessage(caller(userId), sent),
        () => writer().deleteMessage(caller(userId), sent),
        () => writer().addMembers(caller(userId), room, [DAN]),
        () => writer().removeMember(caller(userId), room, BOB),
        () => writer().leaveGroup(caller(userId), room),
      ];
      for (const call of calls(CAROL)) expect(await refusal(call)).toBe('NotMember');
      for (const call of calls(ALICE)) expect(await refusal(call)).toBe('CorruptRecord');
      await damage(real.location, { tenantId: T0, conversationId: room }, 'factsMissing');
      for (const call of calls(CAROL)) expect(await refusal(call)).toBe('NotMember');
      for (const call of calls(ALICE)) expect(await refusal(call)).toBe('CorruptRecord');
    });

    test('edit, recall and delete rewrite one record and end in a final one', async () => {
      const room = await writer().createGroup(caller(ALICE), groupInput([BOB]));
      const sent = await send(BOB, { conversationId: room });
      const content = { kind: 'text', text: 'better' } as const;
      const edited = await writer().editMessage(caller(BOB), { ...sent, content, mentionUserIds: [ALICE], mentionAll: false });
      expect(edited.record).toMatchObject({
        status: MessageStatus.Edited,
        revision: 1,
        content,
        mentions: { userIds: [ALICE] },
        conversationSeq: sent.conversationSeq,
      });
      expect((await writer().editMessage(caller(BOB), { ...sent, content, mentionUserIds: [ALICE], mentionAll: false })).record).toEqual(
        edited.record,
      );
      expect((await writer().recallMessage(caller(BOB), sent)).record).toMatchObject({
        status: MessageStatus.Recalled,
        content: { kind: 'none' },
        mentions: { userIds: [] },
      });
      expect(await refusal(writer().deleteMessage(caller(ALICE), sent))).toBe('MessageFinal');
    });

    test('a group is made once per request, joined, left and emptied', async () => {
      const input = groupInput([BOB], { clientRequestId: key(`r${name}`), historyVisibility: HistoryVisibility.All });
      const rooms = await Promise.all(Array.from({ length: 3 }, () => writer().createGroup(caller(ALICE), input)));
      const [room] = rooms;
      if (room === undefined) throw new Error('a group was made');
      expect(new Set(rooms).size).toBe(1);
      expect(await refusal(writer().createGroup(caller(ALICE), { ...input, onlyAdminsPost: true }))).toBe('IdempotencyConflict');
      await writer().addMembers(caller(ALICE), room, [BOB, CAROL, DAN]);
      const members = await real.store.messages.readMembers(T0, room);
      expect([...members.keys()]).toEqual([ALICE, BOB, CAROL, DAN]);
      for (const userId of [CAROL, DAN]) {
        const view = await real.store.directory.view(T0, userId, room);
        expect(view).toMatchObject({ joinedSeq: members.get(userId)?.joinedSeq, visibleFrom: members.get(userId)?.visibleFrom });
      }
      expect(await refusal(writer().leaveGroup(caller(ALICE), room))).toBe('Forbidden');
      await writer().removeMember(caller(ALICE), room, BOB);
      for (const userId of [CAROL, DAN, ALICE]) await writer().leaveGroup(caller(userId), room);
      expect((await real.store.messages.readMembers(T0, room)).size).toBe(0);
      for (const userId of [ALICE, BOB, CAROL, DAN]) expect(await listOf(userId)).not.toContain(room);
      expect(await refusal(send(ALICE, { conversationId: room }))).toBe('NotMember');
    });
  });
}

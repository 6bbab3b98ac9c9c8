import { MessageStatus, MessageType, parseMessageId, REACTION_EMOJI_BYTES_MAX, type UserId } from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, caller, openWorld, refusal, seq, T0, type World } from './support.js';

const UP = '\u{1F44D}';

async function scene() {
  const w = openWorld();
  const room = await w.group(ALICE, [BOB]);
  const { record } = await w.send(ALICE, room);
  return { w, room, record };
}

function react(w: World, by: UserId, record: Awaited<ReturnType<typeof scene>>['record'], emoji = UP, on = true) {
  const { conversationId, conversationSeq, messageId } = record;
  return w.writer.setReaction(caller(by), { conversationId, conversationSeq, messageId, emoji, on });
}

describe('a reaction', () => {
  test('comes back with the message, whose record is what it was', async () => {
    const { w, record } = await scene();
    const message = await react(w, BOB, record);
    expect(message).toEqual({ record, epoch: 1, reactions: { revision: 1, kinds: [{ emoji: UP, userIds: [BOB] }] } });
    expect(await react(w, BOB, record)).toEqual(message);
    expect((await react(w, BOB, record, UP, false)).reactions).toEqual({ revision: 2, kinds: [] });
  });

  test("is a member's own: also where only admins post, and never with a list entry or a read mark", async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB], { onlyAdminsPost: true });
    const { record } = await w.send(ALICE, room);
    const before = await w.store.directory.page(T0, BOB, 10, undefined);
    expect(await refusal(react(w, BOB, record))).toBe('fine');
    expect(await w.store.directory.page(T0, BOB, 10, undefined)).toEqual(before);
    expect(w.announced).toEqual([]);
  });

  test('needs a message that is there, that the caller may see, and that place and id name together', async () => {
    const { w, room, record } = await scene();
    expect(await refusal(react(w, CAROL, record))).toBe('NotMember');
    expect(await refusal(react(w, BOB, { ...record, conversationSeq: seq(9) }))).toBe('NotFound');
    const other = parseMessageId('01890000-0000-7000-8000-000000000009');
    expect(await refusal(react(w, BOB, { ...record, messageId: other }))).toBe('NotFound');
    await w.store.directory.clear(T0, BOB, room, record.conversationSeq);
    expect(await refusal(react(w, BOB, record))).toBe('NotFound');
    await w.writer.addMembers(caller(ALICE), room, [CAROL]);
    expect(await refusal(react(w, CAROL, record))).toBe('NotFound');
  });

  test('is refused on Control, and on what was recalled or deleted, where there is none to take off either', async () => {
    const { w, room, record } = await scene();
    const [created] = await w.store.messages.readMessages(T0, room, [seq(1)]);
    expect(created?.record.type).toBe(MessageType.Control);
    if (created !== undefined) expect(await refusal(react(w, BOB, created.record))).toBe('Forbidden');
    await w.writer.recallMessage(caller(ALICE), record);
    for (const on of [true, false]) expect(await refusal(react(w, BOB, record, UP, on))).toBe('MessageFinal');
  });

  test.each([
    ['', 'InvalidArgument emoji'],
    ['a\nb', 'InvalidArgument emoji'],
    ['\ud83d', 'InvalidArgument emoji'],
    ['x'.repeat(REACTION_EMOJI_BYTES_MAX), 'fine'],
    ['x'.repeat(REACTION_EMOJI_BYTES_MAX + 1), 'InvalidArgument emoji'],
    ['\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}', 'fine'],
    ['\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466}', 'fine'],
  ])('of the emoji %j: %s', async (emoji, outcome) => {
    const { w, record } = await scene();
    expect(await refusal(react(w, BOB, record, emoji))).toBe(outcome);
  });

  test('that meets an edit is judged anew and set; one that meets a recall is refused', async () => {
    for (const [amendment, outcome] of [
      ['edit', 'fine'],
      ['recall', 'MessageFinal'],
    ] as const) {
      let meet = true;
      const w = openWorld((own) => ({
        messages: {
          ...own.messages,
          react: async (request) => {
            const { target } = request;
            const ref = { conversationId: target.conversationId, conversationSeq: target.conversationSeq, messageId: target.messageId };
            const content = { kind: 'text', text: 'better' } as const;
            if (meet && amendment === 'recall') await w.writer.recallMessage(caller(ALICE), ref);
            else if (meet) await w.writer.editMessage(caller(ALICE), { ...ref, content, mentionUserIds: [], mentionAll: false });
            meet = false;
            return own.messages.react(request);
          },
        },
      }));
      const room = await w.group(ALICE, [BOB]);
      const { record } = await w.send(ALICE, room);
      expect(await refusal(react(w, BOB, record))).toBe(outcome);
      const [after] = await w.store.messages.readMessages(T0, room, [record.conversationSeq]);
      expect(after?.record.status).toBe(amendment === 'edit' ? MessageStatus.Edited : MessageStatus.Recalled);
      expect(after?.reactions?.revision).toBe(amendment === 'edit' ? 1 : undefined);
    }
  });
});

import {
  ControlKind,
  HistoryVisibility,
  MessageType,
  parseConversationId,
  parseMessageId,
  parseUserId,
  Role,
  SYSTEM_USER_ID,
  type UserId,
} from '@qim/proto';
import type { CreateConversationInput } from '@qim/writer';
import { describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, caller, openWorld, refusal, seq, T0, T7, type World, whole } from './support.js';

const BACKEND = { ...caller(parseUserId('backend')), admin: true };
const SUPPORT = parseConversationId('support-42');

function input(part: Partial<CreateConversationInput> = {}): CreateConversationInput {
  const settings = { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false, readReceipts: false };
  return { conversationId: SUPPORT, title: 'support', ownerUserId: ALICE, memberIds: [BOB], settings, ...part };
}

async function made(): Promise<World> {
  const w = openWorld();
  await w.writer.createConversation(BACKEND, input());
  return w;
}

const unreadOf = async (w: World, userId: UserId) => {
  const states = [{ conversationId: SUPPORT, watermark: seq(0) }];
  return (await w.store.messages.conversationSummaries(T0, userId, states))[0]?.unreadCount;
};
const recordAt = async (w: World, at: number) => (await w.store.messages.readMessages(T0, SUPPORT, [seq(at)]))[0]?.record;

describe('a conversation that the backend makes', () => {
  test('has the chosen id, its owner and members, and a first record by the system', async () => {
    const w = await made();
    expect([...(await w.store.messages.readMembers(T0, SUPPORT))].map(([id, { role }]) => [id, role])).toEqual([
      [ALICE, Role.Owner],
      [BOB, Role.Member],
    ]);
    expect(await recordAt(w, 1)).toMatchObject({
      sender: { userId: SYSTEM_USER_ID, deviceId: undefined },
      content: { control: { kind: ControlKind.Created, title: 'support', userIds: [ALICE, BOB] } },
    });
    for (const id of [ALICE, BOB]) expect(await w.listOf(id)).toEqual([SUPPORT]);
    expect(await w.listOf(BACKEND.userId)).toEqual([]);
    expect(await refusal(w.send(ALICE, SUPPORT))).toBe('fine');
  });

  test('is found made by the same call again, also at once, and by no other', async () => {
    const w = openWorld();
    await Promise.all(Array.from({ length: 4 }, () => w.writer.createConversation(BACKEND, input())));
    expect(await w.head(SUPPORT)).toBe(1);
    const { settings } = input();
    for (const other of [
      { title: 'x' },
      { memberIds: [CAROL] },
      { ownerUserId: BOB },
      { settings: { ...settings, onlyAdminsPost: true } },
    ]) {
      expect(await refusal(w.writer.createConversation(BACKEND, input(other)))).toBe('IdempotencyConflict');
    }
    expect(await refusal(w.writer.createConversation({ ...BACKEND, tenantId: T7 }, input({ title: 'elsewhere' })))).toBe('fine');
  });

  test('never takes the id of a direct one, or of a group that others made', async () => {
    const w = openWorld();
    const { conversationId: direct } = (await w.sendTo(ALICE, BOB)).record;
    expect(await refusal(w.writer.createConversation(BACKEND, input({ conversationId: direct })))).toBe('InvalidArgument conversationId');
    const conversationId = await w.group(ALICE, [BOB]);
    expect(await refusal(w.writer.createConversation(BACKEND, input({ conversationId })))).toBe('IdempotencyConflict');
  });
});

describe('a message of the system', () => {
  test("is unread for every member and nobody's own, from no device, and moves nobody's mark", async () => {
    const w = await made();
    const { record } = whole(await w.writer.sendAsSystem(BACKEND, w.text({ conversationId: SUPPORT })));
    expect(record).toMatchObject({ conversationSeq: 2, type: MessageType.Text, sender: { userId: SYSTEM_USER_ID, deviceId: undefined } });
    for (const id of [ALICE, BOB]) expect(await unreadOf(w, id)).toBe(1);
    expect(w.announced).toEqual([]);
  });

  test('may mention, is answered once for a retry, and refuses other content under its id', async () => {
    const w = await made();
    const text = w.text({ conversationId: SUPPORT }, { mentionAll: true });
    const first = await w.writer.sendAsSystem(BACKEND, text);
    expect(await w.writer.sendAsSystem(BACKEND, text)).toEqual({ message: whole(first), duplicate: true });
    expect(await refusal(w.writer.sendAsSystem(BACKEND, { ...text, mentionAll: false }))).toBe('IdempotencyConflict');
  });

  test('goes where only admins post, and nowhere else than where a conversation is', async () => {
    const w = openWorld();
    const { settings } = input();
    await w.writer.createConversation(BACKEND, input({ settings: { ...settings, onlyAdminsPost: true } }));
    expect(await refusal(w.send(BOB, SUPPORT))).toBe('Forbidden');
    expect(await refusal(w.writer.sendAsSystem(BACKEND, w.text({ conversationId: SUPPORT })))).toBe('fine');
    expect(await refusal(w.writer.sendAsSystem(BACKEND, w.text({ conversationId: parseConversationId('none') })))).toBe('NotMember');
    expect(await refusal(w.writer.sendAsSystem({ ...BACKEND, tenantId: T7 }, w.text({ conversationId: SUPPORT })))).toBe('NotMember');
    expect(await refusal(w.writer.sendAsSystem(BACKEND, w.text({ toUserId: BOB })))).toBe('InvalidArgument toUserId');
    const read = w.text({ conversationId: SUPPORT }, { readConversationSeq: seq(1) });
    expect(await refusal(w.writer.sendAsSystem(BACKEND, read))).toBe('InvalidArgument readConversationSeq');
  });

  test('replies to what is there; a retry of it is known when that has gone', async () => {
    const w = await made();
    const { record } = await w.send(ALICE, SUPPORT);
    const replyTo = { conversationSeq: record.conversationSeq, messageId: record.messageId };
    const text = w.text({ conversationId: SUPPORT }, { replyTo });
    expect(await refusal(w.writer.sendAsSystem(BACKEND, text))).toBe('fine');
    await w.store.messages.retain(T0, SUPPORT, { olderThanMs: undefined, keepNewest: 1 });
    expect(await w.writer.sendAsSystem(BACKEND, text)).toMatchObject({ duplicate: true });
    const fresh = w.text({ conversationId: SUPPORT }, { replyTo });
    expect(await refusal(w.writer.sendAsSystem(BACKEND, fresh))).toBe('InvalidArgument replyTo');
    const wrong = { ...replyTo, messageId: parseMessageId('01890000-0000-7000-8000-000000000009') };
    expect(await refusal(w.writer.sendAsSystem(BACKEND, w.text({ conversationId: SUPPORT }, { replyTo: wrong })))).toBe(
      'InvalidArgument replyTo',
    );
    // Nothing made the system a member.
    expect((await w.store.messages.readMembers(T0, SUPPORT)).has(SYSTEM_USER_ID)).toBe(false);
  });
});

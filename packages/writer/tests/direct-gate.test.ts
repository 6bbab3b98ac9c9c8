/** Who may send direct messages: blocks, and the tenant's setting. */
import { describe, expect, test } from 'vitest';
import { type DirectMessages, directConversationId } from '../src/index.js';
import { ALICE, BOB, CAROL, caller, openWorld, refusal, seq, T0, T7, type World } from './support.js';

const DIRECT = directConversationId(T0, ALICE, BOB);
const toBob = { toUserId: BOB };

const by = (w: World, target: { toUserId: typeof BOB } | { conversationId: typeof DIRECT }) =>
  refusal(w.writer.sendMessage(caller(ALICE), w.text(target)));
const ruled = (rule: DirectMessages) => openWorld(() => ({ directMessages: (tenantId) => (tenantId === T0 ? rule : 'anyone') }));

describe('one whom the other has blocked', () => {
  test('is refused, by user and by conversation, and not the other way round', async () => {
    const w = openWorld();
    expect(await by(w, toBob)).toBe('fine');
    await w.store.users.block(T0, BOB, ALICE);
    expect(await by(w, toBob)).toBe('Forbidden');
    expect(await by(w, { conversationId: DIRECT })).toBe('Forbidden');
    expect(await refusal(w.writer.sendMessage(caller(BOB), w.text({ conversationId: DIRECT })))).toBe('fine');
    await w.store.users.unblock(T0, BOB, ALICE);
    expect(await by(w, { conversationId: DIRECT })).toBe('fine');
  });

  test('makes no conversation, and is refused with the words that any other is', async () => {
    const w = ruled('serverOnly');
    const words = (target: typeof BOB) =>
      w.writer.sendMessage(caller(ALICE), w.text({ toUserId: target })).catch((error: Error) => error.message);
    await w.store.users.block(T0, BOB, ALICE);
    expect(await words(BOB)).toBe(await words(CAROL));
    expect((await w.store.messages.readConversation(T0, DIRECT, ALICE)).facts).toBeUndefined();
  });

  test('learns of a message that was delivered before, when it is sent again', async () => {
    const w = openWorld();
    const input = w.text(toBob);
    const first = await w.writer.sendMessage(caller(ALICE), input);
    await w.store.users.block(T0, BOB, ALICE);
    const again = await w.writer.sendMessage(caller(ALICE), input);
    expect([again.duplicate, again.message]).toEqual([true, first.message]);
  });

  test('changes nothing that was said before, but may take it back', async () => {
    const w = openWorld();
    const { record } = await w.sendTo(ALICE, BOB);
    await w.store.users.block(T0, BOB, ALICE);
    const edit = { ...record, content: { kind: 'text', text: 'anew' }, mentionUserIds: [], mentionAll: false } as const;
    expect(await refusal(w.writer.editMessage(caller(ALICE), edit))).toBe('Forbidden');
    expect(await refusal(w.writer.recallMessage(caller(ALICE), record))).toBe('fine');
  });

  test('adds no reaction, but may take one off; one that is there is answered as before', async () => {
    const w = openWorld();
    const { record } = await w.sendTo(BOB, ALICE);
    const react = (by: typeof BOB, emoji: string, on: boolean) => w.writer.setReaction(caller(by), { ...record, emoji, on });
    const set = await react(ALICE, '+1', true);
    await w.store.users.block(T0, BOB, ALICE);
    expect(await refusal(react(ALICE, 'ok', true))).toBe('Forbidden');
    expect(await react(ALICE, '+1', true)).toEqual(set);
    expect((await react(ALICE, '+1', false)).reactions?.kinds).toEqual([]);
    expect(await refusal(react(ALICE, '+1', true))).toBe('Forbidden');
    expect(await refusal(react(CAROL, '+1', true))).toBe('NotMember');
    expect(await refusal(react(BOB, '+1', true))).toBe('fine');
  });

  test('is asked about while the target of a reply is read, and its refusal comes first', async () => {
    const order: string[] = [];
    const w = openWorld((own) => ({
      users: {
        ...own.users,
        hasBlocked: async (...of) => {
          await new Promise((resolve) => setImmediate(resolve));
          order.push('gate');
          return own.users.hasBlocked(...of);
        },
      },
      directory: {
        ...own.directory,
        view: (...of) => {
          order.push('target');
          return own.directory.view(...of);
        },
      },
    }));
    const { record } = await w.sendTo(ALICE, BOB);
    order.length = 0;
    const reply = (replyTo: typeof record) => refusal(w.writer.sendMessage(caller(ALICE), w.text(toBob, { replyTo })));
    expect(await reply(record)).toBe('fine');
    expect(order).toEqual(['target', 'gate']);
    await w.store.users.block(T0, BOB, ALICE);
    expect(await reply({ ...record, conversationSeq: seq(9) })).toBe('Forbidden');
  });

  test('speaks in a group of both as before, and in another tenant', async () => {
    const w = openWorld();
    const group = await w.group(ALICE, [BOB]);
    await w.store.users.block(T0, BOB, ALICE);
    expect(await by(w, { conversationId: group })).toBe('fine');
    const { record } = await w.send(BOB, group);
    expect(await refusal(w.writer.setReaction(caller(ALICE), { ...record, emoji: '+1', on: true }))).toBe('fine');
    expect(await refusal(w.writer.sendMessage(caller(ALICE, T7), w.text(toBob)))).toBe('fine');
  });

  test('is not told of a conversation that is not theirs', async () => {
    const w = openWorld();
    await w.writer.sendMessage(caller(ALICE), w.text(toBob));
    await w.store.users.block(T0, BOB, CAROL);
    expect(await refusal(w.writer.sendMessage(caller(CAROL), w.text({ conversationId: DIRECT })))).toBe('NotMember');
  });
});

describe('where only the server sends direct messages', () => {
  test('users are refused, in what is there as well; admin tokens and notes to oneself are not', async () => {
    let rule: DirectMessages = 'anyone';
    const w = openWorld(() => ({ directMessages: () => rule }));
    await w.writer.sendMessage(caller(ALICE), w.text(toBob));
    rule = 'serverOnly';
    expect(await by(w, toBob)).toBe('Forbidden');
    expect(await by(w, { conversationId: DIRECT })).toBe('Forbidden');
    expect(await by(w, { toUserId: ALICE })).toBe('fine');
    expect(await refusal(w.writer.sendMessage({ ...caller(ALICE), admin: true }, w.text(toBob)))).toBe('fine');
  });
});

describe('where a conversation in common is needed', () => {
  test('strangers are refused, members of one group are not, and what was opened stays open', async () => {
    const w = ruled('sharedConversation');
    expect(await by(w, toBob)).toBe('Forbidden');
    const group = await w.group(CAROL, [ALICE, BOB]);
    expect(await by(w, toBob)).toBe('fine');
    await w.writer.leaveGroup(caller(ALICE), group);
    expect(await by(w, toBob)).toBe('fine');
    expect(await refusal(w.writer.sendMessage(caller(BOB), w.text({ conversationId: DIRECT })))).toBe('fine');
  });

  test('is a rule of its tenant alone', async () => {
    const w = ruled('sharedConversation');
    expect(await refusal(w.writer.sendMessage(caller(ALICE, T7), w.text(toBob)))).toBe('fine');
  });
});

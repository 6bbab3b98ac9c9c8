import {
  ConversationKind,
  MessageStatus,
  MessageType,
  parseConversationId,
  parseMessageId,
  parseUserId,
  SEQ_ZERO,
  TOUCH_BEFORE_ANSWER_MAX,
} from '@qim/proto';
import { corrupt, unavailable } from '@qim/store';
import { directConversationId } from '@qim/writer';
import { uuidv7 } from 'uuidv7';
import { describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, caller, key, openWorld, refusal, seq, T0, T7, whole } from './support.js';

describe('a direct conversation', () => {
  test('is made by its first message, and is one from both sides', async () => {
    const w = openWorld();
    const first = await w.sendTo(ALICE, BOB);
    const answer = await w.sendTo(BOB, ALICE);
    expect(first.record.conversationId).toBe(directConversationId(T0, ALICE, BOB));
    expect(answer.record).toMatchObject({ conversationId: first.record.conversationId, conversationSeq: 2, prevSequence: 1 });
    const { facts, member } = await w.store.messages.readConversation(T0, first.record.conversationId, BOB);
    expect(facts).toMatchObject({ kind: ConversationKind.Direct, title: '', pair: [ALICE, BOB] });
    expect(member).toMatchObject({ joinedSeq: 1, visibleFrom: 1 });
  });

  test('opened from both sides at once is one conversation with both messages', async () => {
    const w = openWorld();
    const both = await Promise.all([w.sendTo(ALICE, BOB), w.sendTo(BOB, ALICE)]);
    expect(new Set(both.map(({ record }) => record.conversationId)).size).toBe(1);
    expect(new Set(both.map(({ record }) => record.conversationSeq))).toEqual(new Set([1, 2]));
  });

  test('with oneself is a note to self', async () => {
    const w = openWorld();
    const { record } = await w.sendTo(ALICE, ALICE);
    expect(await w.members(record.conversationId)).toEqual([ALICE]);
    expect(await w.listOf(ALICE)).toEqual([record.conversationId]);
  });

  test('of two people in another tenant is another one', async () => {
    const w = openWorld();
    const here = await w.sendTo(ALICE, BOB);
    const there = whole(await w.writer.sendMessage(caller(ALICE, T7), w.text({ toUserId: BOB })));
    expect(there.record.conversationId).not.toBe(here.record.conversationId);
    expect(there.record.conversationSeq).toBe(1);
  });

  test('is not made by its id alone', async () => {
    const w = openWorld();
    const conversationId = directConversationId(T0, ALICE, BOB);
    expect(await refusal(w.send(ALICE, conversationId))).toBe('NotMember');
  });
});

describe('who may send', () => {
  test('outsider, former member, other tenant and no such conversation get one and the same answer', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB, CAROL]);
    await w.writer.removeMember(caller(ALICE), room, CAROL);
    const failures = await Promise.all(
      [
        w.writer.sendMessage(caller(parseUserId('dan')), w.text({ conversationId: room })),
        w.writer.sendMessage(caller(CAROL), w.text({ conversationId: room })),
        w.writer.sendMessage(caller(ALICE, T7), w.text({ conversationId: room })),
        w.writer.sendMessage(caller(ALICE), w.text({ conversationId: parseConversationId('g_none') })),
      ].map((call) => call.then(() => 'fine', String)),
    );
    expect(new Set(failures).size).toBe(1);
    expect(failures[0]).toContain('no such conversation');
  });

  test('where only admins post, a member does not', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB], { onlyAdminsPost: true });
    expect(await refusal(w.send(BOB, room))).toBe('Forbidden');
    expect(await refusal(w.send(ALICE, room))).toBe('fine');
  });
});

describe('a retry', () => {
  test('of the same content gets the first message, whole, and writes nothing', async () => {
    const w = openWorld();
    const input = w.text({ toUserId: BOB });
    const first = await w.writer.sendMessage(caller(ALICE), input);
    const tries = await Promise.all(Array.from({ length: 10 }, () => w.writer.sendMessage(caller(ALICE), input)));
    for (const retry of tries) expect(retry).toEqual({ message: first.message, duplicate: true });
    expect(first.duplicate).toBe(false);
    expect(await w.head(whole(first).record.conversationId)).toBe(1);
  });

  test('of other content is a conflict and changes nothing', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const { record } = await w.send(ALICE, room, { clientMessageId: key('same') });
    const other = { clientMessageId: key('same'), content: { kind: 'text', text: 'other' } } as const;
    expect(await refusal(w.send(ALICE, room, other))).toBe('IdempotencyConflict');
    expect(await w.head(room)).toBe(record.conversationSeq);
  });

  test('by another sender under the same key is a message of its own', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const mine = await w.send(ALICE, room, { clientMessageId: key('same') });
    const theirs = await w.send(BOB, room, { clientMessageId: key('same') });
    expect(theirs.record.conversationSeq).toBeGreaterThan(mine.record.conversationSeq);
  });

  test('after the sender was removed succeeds with the ids and no content', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const input = w.text({ conversationId: room }, { readConversationSeq: seq(1) });
    const first = whole(await w.writer.sendMessage(caller(BOB), input));
    await w.writer.removeMember(caller(ALICE), room, BOB);
    w.announced.length = 0;
    const { conversationSeq, messageId, clientMessageId, committedAtMs } = first.record;
    expect(await w.writer.sendMessage(caller(BOB), input)).toEqual({
      message: { idsOnly: { conversationId: room, conversationSeq, messageId, clientMessageId, committedAtMs } },
      duplicate: true,
    });
    expect(await w.listOf(BOB)).toEqual([]);
    expect(w.announced).toEqual([]);
  });

  test('of a message that was edited since shows it as it is now', async () => {
    const w = openWorld();
    const input = w.text({ toUserId: BOB });
    const { record } = whole(await w.writer.sendMessage(caller(ALICE), input));
    await w.writer.editMessage(caller(ALICE), {
      ...record,
      content: { kind: 'text', text: 'better' },
      mentionUserIds: [],
      mentionAll: false,
    });
    expect(whole(await w.writer.sendMessage(caller(ALICE), input)).record).toMatchObject({
      status: MessageStatus.Edited,
      content: { text: 'better' },
    });
  });

  test('after the answer was lost puts the conversation into the list', async () => {
    let failing = true;
    const w = openWorld((own) => ({
      directory: {
        ...own.directory,
        touch: async (...args) => {
          if (failing) throw unavailable('test');
          return own.directory.touch(...args);
        },
      },
    }));
    const [old, room] = [await w.group(ALICE, [BOB]), await w.group(ALICE, [BOB])];
    const input = w.text({ conversationId: old });
    w.clock.nowMs += 1;
    await w.writer.sendMessage(caller(ALICE), input);
    expect(await w.listOf(ALICE)).toEqual([room, old].sort().reverse());
    failing = false;
    await w.writer.sendMessage(caller(ALICE), input);
    expect(await w.listOf(ALICE)).toEqual([old, room]);
  });
});

test('a list that the commit has brought up to date is not written again', async () => {
  let touches = 0;
  let touched = true;
  const w = openWorld((own) => ({
    messages: {
      ...own.messages,
      commit: async (request) => {
        const outcome = await own.messages.commit(request);
        return touched && request.touchSender === true ? { ...outcome, senderTouched: true } : outcome;
      },
    },
    directory: {
      ...own.directory,
      touch: async (...args) => {
        touches += 1;
        return own.directory.touch(...args);
      },
    },
  }));
  const room = await w.group(ALICE, [BOB]);
  const before = touches;
  await w.send(ALICE, room);
  expect(touches).toBe(before);
  touched = false;
  await w.send(ALICE, room);
  expect(touches).toBe(before + 1);
});

describe('a reply', () => {
  test('names a record of the conversation that the sender may see: recalled and control ones, too', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const target = await w.send(ALICE, room);
    await w.writer.recallMessage(caller(ALICE), target.record);
    const created = (await w.store.messages.readMessages(T0, room, [seq(1)]))[0];
    if (created === undefined) throw new Error('a group begins with a record');
    for (const { record } of [target, created]) {
      const { conversationSeq, messageId } = record;
      const reply = await w.send(BOB, room, { replyTo: { conversationSeq, messageId } });
      expect(reply.record.replyTo).toEqual({ conversationSeq, messageId });
    }
  });

  test('to a hole, another message’s id, another conversation’s message or what is still to come is refused', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const { record } = await w.send(ALICE, room);
    w.store.testing.skipSequences(T0, room, 5);
    const elsewhere = (await w.sendTo(ALICE, BOB)).record;
    const targets = [
      { conversationSeq: seq(5), messageId: record.messageId },
      { conversationSeq: record.conversationSeq, messageId: parseMessageId(uuidv7()) },
      { conversationSeq: seq(1), messageId: record.messageId },
      { conversationSeq: elsewhere.conversationSeq, messageId: elsewhere.messageId },
      { conversationSeq: seq(1000), messageId: record.messageId },
    ];
    for (const replyTo of targets) expect(await refusal(w.send(ALICE, room, { replyTo }))).toBe('InvalidArgument replyTo');
    expect(await w.head(room)).toBe(2);
  });

  test('to what was said before the sender joined, or what the sender cleared, is refused', async () => {
    let cleared = SEQ_ZERO;
    const w = openWorld((own) => ({
      directory: {
        ...own.directory,
        view: async (...args) => {
          const view = await own.directory.view(...args);
          return view && { ...view, clearedSeq: cleared };
        },
      },
    }));
    const room = await w.group(ALICE, [BOB]);
    const { record } = await w.send(ALICE, room);
    await w.writer.addMembers(caller(ALICE), room, [CAROL]);
    const reply = (by: typeof ALICE) =>
      refusal(w.send(by, room, { replyTo: { conversationSeq: record.conversationSeq, messageId: record.messageId } }));
    expect(await reply(CAROL)).toBe('InvalidArgument replyTo');
    expect(await reply(BOB)).toBe('fine');
    cleared = record.conversationSeq;
    expect(await reply(BOB)).toBe('InvalidArgument replyTo');
  });

  test('opening a direct conversation has nothing to name; from an outsider it tells nothing', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, []);
    const replyTo = { conversationSeq: seq(1), messageId: parseMessageId(uuidv7()) };
    expect(await refusal(w.sendTo(ALICE, BOB, { replyTo }))).toBe('InvalidArgument replyTo');
    expect(await w.listOf(ALICE)).toEqual([room]);
    expect(await refusal(w.send(BOB, room, { replyTo }))).toBe('NotMember');
  });

  test('that is retried after its target has gone, or its sender, is a duplicate all the same', async () => {
    let gone = false;
    const w = openWorld((own) => ({
      messages: {
        ...own.messages,
        readMessages: async (...args) => (gone ? args[2].map(() => undefined) : own.messages.readMessages(...args)),
      },
    }));
    const room = await w.group(ALICE, [BOB]);
    const { conversationSeq, messageId } = (await w.send(ALICE, room)).record;
    const input = w.text({ conversationId: room }, { replyTo: { conversationSeq, messageId } });
    const first = await w.writer.sendMessage(caller(BOB), input);
    gone = true;
    expect(await w.writer.sendMessage(caller(BOB), input)).toEqual({ message: first.message, duplicate: true });
    expect(await refusal(w.writer.sendMessage(caller(BOB), { ...input, clientMessageId: key('fresh') }))).toBe('InvalidArgument replyTo');
    expect(await refusal(w.writer.sendMessage(caller(BOB), { ...input, content: { kind: 'text', text: 'other' } }))).toBe(
      'IdempotencyConflict',
    );
    await w.writer.removeMember(caller(ALICE), room, BOB);
    expect(await w.writer.sendMessage(caller(BOB), input)).toMatchObject({
      message: { idsOnly: { messageId: whole(first).record.messageId } },
    });
    expect(await refusal(w.writer.sendMessage(caller(BOB), { ...input, clientMessageId: key('fresh') }))).toBe('NotMember');
    expect(await w.head(room)).toBe(4);
  });

  test('to a damaged record says so; when the store does not answer, that', async () => {
    let failure: Error = corrupt(T0, parseConversationId('g_x'), 'recordUnreadable', seq(2));
    const w = openWorld((own) => ({ messages: { ...own.messages, readMessages: () => Promise.reject(failure) } }));
    const room = await w.group(ALICE, []);
    const replyTo = { conversationSeq: seq(1), messageId: parseMessageId(uuidv7()) };
    expect(await refusal(w.send(ALICE, room, { replyTo }))).toBe('CorruptRecord');
    failure = unavailable('test');
    expect(await refusal(w.send(ALICE, room, { replyTo }))).toBe('StoreUnavailable');
    expect(await w.head(room)).toBe(1);
  });
});

describe('after the commit', () => {
  test('send, then list: both sides of a new direct conversation have it, and a message moves it up for its sender', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    w.clock.nowMs += 1;
    const direct = (await w.sendTo(ALICE, BOB)).record.conversationId;
    expect(await w.listOf(ALICE)).toEqual([direct, room]);
    expect(await w.listOf(BOB)).toEqual([direct, room]);
    w.clock.nowMs += 1;
    await w.send(ALICE, room);
    expect(await w.listOf(ALICE)).toEqual([room, direct]);
  });

  test('what the sender had on screen is marked read, and announced when the mark rose', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    for (let n = 0; n < 3; n += 1) await w.send(BOB, room);
    const readOf = async () => (await w.store.directory.view(T0, ALICE, room))?.readSeq;
    await w.send(ALICE, room);
    expect(await readOf()).toBe(0);
    await w.send(ALICE, room, { readConversationSeq: seq(3) });
    expect(await readOf()).toBe(3);
    await w.send(ALICE, room, { readConversationSeq: seq(2) });
    expect(await readOf()).toBe(3);
    expect(w.announced).toEqual([`alice ${room} 3`]);
  });

  test('the mark never passes the message itself, whatever was claimed', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const { record } = await w.send(ALICE, room, { readConversationSeq: seq(Number.MAX_SAFE_INTEGER) });
    expect((await w.store.directory.view(T0, ALICE, room))?.readSeq).toBe(record.conversationSeq);
  });

  test('a message of another that arrives before one’s own late one stays unread', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const seen = seq(1);
    await w.send(BOB, room);
    await w.send(ALICE, room, { readConversationSeq: seen });
    const [summary] = await w.store.messages.conversationSummaries(T0, ALICE, [{ conversationId: room, watermark: seen }]);
    expect((await w.store.directory.view(T0, ALICE, room))?.readSeq).toBe(seen);
    expect(summary?.unreadCount).toBe(1);
  });

  test('a list or a mark that cannot be written does not undo the send, and is told', async () => {
    const away = async () => {
      throw unavailable('test');
    };
    const w = openWorld((own) => ({ directory: { ...own.directory, touch: away, join: away, raiseRead: away } }));
    const { record } = await w.sendTo(ALICE, BOB, { readConversationSeq: seq(1) });
    expect(record.conversationSeq).toBe(1);
    await w.send(ALICE, record.conversationId);
    expect(w.failures).toHaveLength(3);
  });

  test('a store that did not answer the commit is told as it is: the outcome is unknown', async () => {
    const w = openWorld((own) => ({
      messages: {
        ...own.messages,
        commit: async () => {
          throw unavailable('test');
        },
      },
    }));
    expect(await refusal(w.sendTo(ALICE, BOB))).toBe('StoreUnavailable');
  });

  test('of a new group the lists of the first 100 members, the owner among them, are up to date at once', async () => {
    const w = openWorld();
    const ids = Array.from({ length: 150 }, (_, n) => parseUserId(`user-${n}`));
    const room = await w.group(ALICE, ids);
    const listed = await Promise.all([ALICE, ...ids].map((id) => w.listOf(id)));
    expect(listed.map((list) => list.length)).toEqual([
      ...Array.from({ length: TOUCH_BEFORE_ANSWER_MAX }, () => 1),
      ...Array.from({ length: 51 }, () => 0),
    ]);
    expect(listed[0]).toEqual([room]);
  });
});

test('messageId and activityId are fresh, and never the same', async () => {
  const w = openWorld();
  const messages = [await w.sendTo(ALICE, BOB), await w.sendTo(ALICE, BOB)];
  const ids = messages.flatMap(({ record }) => [record.messageId, record.activityId]);
  expect(new Set(ids).size).toBe(4);
  expect(messages[0]?.record.type).toBe(MessageType.Text);
});

import {
  AMEND_TRIES_MAX,
  CONTENT_BYTES_MAX,
  ControlKind,
  MENTIONS_MAX,
  type Message,
  MessageStatus,
  MessageType,
  parseMessageId,
  parseUserId,
  RECALL_WINDOW_MS,
  Role,
  TEXT_BYTES_MAX,
  type UserId,
} from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import { describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, caller, openWorld, refusal, seq, T0, type World } from './support.js';

const edit = (w: World, by: UserId, { record }: Message, text = 'better', part: object = {}) =>
  w.writer.editMessage(caller(by), { ...record, content: { kind: 'text', text }, mentionUserIds: [], mentionAll: false, ...part });
const recall = (w: World, by: UserId, { record }: Message) => w.writer.recallMessage(caller(by), record);
const remove = (w: World, by: UserId, { record }: Message) => w.writer.deleteMessage(caller(by), record);
const asSent = (w: World, { record }: Message) =>
  w.store.messages.readMessages(T0, record.conversationId, [record.conversationSeq]).then(([now]) => now?.record);

describe('an edit', () => {
  test('replaces content and both mentions, and takes no sequence', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const sent = await w.send(ALICE, room, { mentionUserIds: [BOB], mentionAll: true });
    const { record } = await edit(w, ALICE, sent, 'better', { mentionUserIds: [CAROL] });
    expect(record).toMatchObject({
      conversationSeq: sent.record.conversationSeq,
      messageId: sent.record.messageId,
      status: MessageStatus.Edited,
      revision: 1,
      content: { kind: 'text', text: 'better' },
      mentions: { userIds: [CAROL], all: false },
    });
    expect(record.activityId).not.toBe(sent.record.activityId);
    expect(await w.head(room)).toBe(sent.record.conversationSeq);
  });

  test('equal to what is there writes nothing, whatever the order of the mentions', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const sent = await w.send(ALICE, room, { content: { kind: 'text', text: 'same' }, mentionUserIds: [BOB, CAROL] });
    const again = await edit(w, ALICE, sent, 'same', { mentionUserIds: [CAROL, BOB] });
    expect(again.record).toEqual(sent.record);
    expect((await edit(w, ALICE, sent, 'same', { mentionUserIds: [CAROL] })).record.revision).toBe(1);
    const picture = { type: MessageType.Image, content: { kind: 'data', contentType: 'image/png', data: new Uint8Array([1, 2]) } } as const;
    const image = await w.send(ALICE, room, picture);
    const same = await w.writer.editMessage(caller(ALICE), {
      ...image.record,
      content: { ...picture.content, data: new Uint8Array([1, 2]) },
      mentionUserIds: [],
      mentionAll: false,
    });
    expect(same.record).toEqual(image.record);
    const changed = await w.writer.editMessage(caller(ALICE), {
      ...image.record,
      content: { ...picture.content, data: new Uint8Array([1, 3]) },
      mentionUserIds: [],
      mentionAll: false,
    });
    expect(changed.record.status).toBe(MessageStatus.Edited);
  });

  test('is the sender’s alone: not another member’s, not an owner’s', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB, CAROL]);
    const sent = await w.send(BOB, room);
    expect(await refusal(edit(w, CAROL, sent))).toBe('Forbidden');
    expect(await refusal(edit(w, ALICE, sent))).toBe('Forbidden');
    expect(await refusal(edit(w, BOB, sent))).toBe('fine');
  });

  test('is shown to the before-send webhook once it was judged, and its membership is read once', async () => {
    const told: string[] = [];
    const w = openWorld((own) => ({
      messages: {
        ...own.messages,
        readConversation: (...of) => {
          told.push('read');
          return own.messages.readConversation(...of);
        },
      },
      beforeSend: async ({ action }) => {
        told.push(action);
        return action === 'edit' ? 'denied' : 'allowed';
      },
    }));
    const room = await w.group(ALICE, [BOB]);
    const sent = await w.send(ALICE, room);
    expect(told).toEqual(['read', 'send']);
    expect(await refusal(edit(w, ALICE, sent))).toBe('Forbidden');
    expect(told.slice(2)).toEqual(['read', 'edit']);
    expect(await refusal(edit(w, BOB, sent))).toBe('Forbidden');
    expect(await refusal(edit(w, CAROL, sent))).toBe('NotMember');
    expect(told.slice(4)).toEqual(['read', 'read']);
  });

  test('keeps the type: content of another kind, and of a size past the bound, is refused by its field', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, []);
    const text = await w.send(ALICE, room);
    const image = await w.send(ALICE, room, {
      type: MessageType.Image,
      content: { kind: 'data', contentType: 'image/png', data: new Uint8Array(1) },
    });
    const data = (size: number) => ({ content: { kind: 'data', contentType: 'image/png', data: new Uint8Array(size) } });
    expect(await refusal(edit(w, ALICE, text, '', data(1)))).toBe('InvalidArgument text');
    expect(await refusal(edit(w, ALICE, image))).toBe('InvalidArgument content');
    expect(await refusal(edit(w, ALICE, text, ''))).toBe('InvalidArgument text');
    expect(await refusal(edit(w, ALICE, text, 'a'.repeat(TEXT_BYTES_MAX)))).toBe('fine');
    expect(await refusal(edit(w, ALICE, text, 'a'.repeat(TEXT_BYTES_MAX + 1)))).toBe('PayloadTooLarge text');
    expect(await refusal(edit(w, ALICE, image, '', data(CONTENT_BYTES_MAX + 1)))).toBe('PayloadTooLarge content.data');
    expect(await refusal(edit(w, ALICE, text, 'x', { mentionUserIds: [BOB, BOB] }))).toBe('InvalidArgument mentionUserIds');
    const many = Array.from({ length: MENTIONS_MAX + 1 }, (_, n) => parseUserId(`user-${n}`));
    expect(await refusal(edit(w, ALICE, text, 'x', { mentionUserIds: many }))).toBe('InvalidArgument mentionUserIds');
  });

  test('of a control message is refused, also to the app that sent it', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, []);
    const content = { kind: 'control', control: { kind: ControlKind.App, appType: 'poll', appData: new Uint8Array(1) } } as const;
    const app = await w.send(ALICE, room, { type: MessageType.Control, content });
    expect(await refusal(edit(w, ALICE, app))).toBe('Forbidden');
    expect(await refusal(edit(w, ALICE, app, '', { content }))).toBe('Forbidden');
  });
});

describe('a recall', () => {
  test('erases the content within the window, at its last millisecond too, and not after it', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const [early, late] = [await w.send(BOB, room), await w.send(BOB, room)];
    w.clock.nowMs = early.record.committedAtMs + RECALL_WINDOW_MS;
    expect((await recall(w, BOB, early)).record).toMatchObject({
      status: MessageStatus.Recalled,
      content: { kind: 'none' },
      mentions: { userIds: [], all: false },
    });
    w.clock.nowMs += 1;
    expect(await refusal(recall(w, BOB, late))).toBe('RecallWindowPassed');
    expect((await asSent(w, late))?.status).toBe(MessageStatus.Normal);
  });

  test('by an admin or the owner knows no window, of one’s own messages or of others’', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const [own, other] = [await w.send(ALICE, room), await w.send(BOB, room)];
    w.clock.nowMs += RECALL_WINDOW_MS + 1;
    expect(await refusal(recall(w, ALICE, own))).toBe('fine');
    expect(await refusal(recall(w, ALICE, other))).toBe('fine');
  });

  test('of another’s message is refused to a member, and to the other side of a direct conversation', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB, CAROL]);
    expect(await refusal(recall(w, CAROL, await w.send(BOB, room)))).toBe('Forbidden');
    expect(await refusal(recall(w, BOB, await w.sendTo(ALICE, BOB)))).toBe('Forbidden');
  });
});

describe('a delete', () => {
  test('is an admin’s: a member may not delete even the own message', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const sent = await w.send(BOB, room);
    expect(await refusal(remove(w, BOB, sent))).toBe('Forbidden');
    expect((await remove(w, ALICE, sent)).record).toMatchObject({ status: MessageStatus.Deleted, content: { kind: 'none' } });
  });
});

describe('every amendment', () => {
  const operations = { edit, recall, remove } as const;

  test('of a recalled or deleted message is refused as final, again and again', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, []);
    const [recalled, deleted] = [await w.send(ALICE, room), await w.send(ALICE, room)];
    await recall(w, ALICE, recalled);
    await remove(w, ALICE, deleted);
    w.clock.nowMs += RECALL_WINDOW_MS + 1;
    for (const [name, operation] of Object.entries(operations)) {
      for (const target of [recalled, deleted]) expect([name, await refusal(operation(w, ALICE, target))]).toEqual([name, 'MessageFinal']);
    }
  });

  test('of what the server wrote about the group is refused, also to the owner who caused it', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const [created] = await w.store.messages.readMessages(T0, room, [seq(1)]);
    if (created === undefined) throw new Error('a group begins with a record');
    for (const [name, operation] of Object.entries(operations))
      expect([name, await refusal(operation(w, ALICE, created))]).toEqual([name, 'Forbidden']);
    const content = { kind: 'control', control: { kind: ControlKind.App, appType: 'poll', appData: new Uint8Array(1) } } as const;
    const app = await w.send(BOB, room, { type: MessageType.Control, content });
    expect((await recall(w, BOB, app)).record).toMatchObject({ type: MessageType.Control, status: MessageStatus.Recalled });
    expect(await refusal(recall(w, BOB, app))).toBe('MessageFinal');
  });

  test('needs place and id to agree; a hole, another’s id and what is to come are not found', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, []);
    const sent = await w.send(ALICE, room);
    w.store.testing.skipSequences(T0, room, 3);
    const { record } = sent;
    const wrong = [
      { ...record, messageId: parseMessageId(uuidv7()) },
      { ...record, conversationSeq: seq(1) },
      { ...record, conversationSeq: seq(4) },
      { ...record, conversationSeq: seq(Number.MAX_SAFE_INTEGER) },
      { ...record, conversationSeq: seq(0) },
    ];
    for (const [name, operation] of Object.entries(operations)) {
      for (const other of wrong) expect([name, await refusal(operation(w, ALICE, { ...sent, record: other }))]).toEqual([name, 'NotFound']);
    }
  });

  test('finds no message that the caller has cleared', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const [cleared, kept] = [await w.send(ALICE, room), await w.send(ALICE, room)];
    await w.store.directory.clear(caller(ALICE).tenantId, ALICE, room, cleared.record.conversationSeq);
    for (const [name, operation] of Object.entries(operations)) {
      expect([name, await refusal(operation(w, ALICE, cleared))]).toEqual([name, 'NotFound']);
    }
    expect(await refusal(operations.recall(w, ALICE, kept))).toBe('fine');
  });

  test('tells an outsider and a former member nothing, and one who joined later that there is no such message', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    const sent = await w.send(BOB, room);
    await w.writer.addMembers(caller(ALICE), room, [CAROL]);
    for (const [name, operation] of Object.entries(operations)) {
      expect([name, await refusal(operation(w, parseUserId('dan'), sent))]).toEqual([name, 'NotMember']);
      expect([name, await refusal(operation(w, CAROL, sent))]).toEqual([name, 'NotFound']);
    }
    await w.writer.removeMember(caller(ALICE), room, BOB);
    for (const [name, operation] of Object.entries(operations))
      expect([name, await refusal(operation(w, BOB, sent))]).toEqual([name, 'NotMember']);
  });

  test('is judged anew when somebody amended the target meanwhile', async () => {
    let meanwhile = async (_target: Message): Promise<unknown> => undefined;
    let sent: Message | undefined;
    const w = openWorld((own) => ({
      messages: {
        ...own.messages,
        amend: async (request) => {
          const once = meanwhile;
          meanwhile = async () => undefined;
          if (sent !== undefined) await once(sent);
          return own.messages.amend(request);
        },
      },
    }));
    const room = await w.group(ALICE, [BOB]);
    sent = await w.send(ALICE, room);
    meanwhile = (target) => edit(w, ALICE, target, 'from the other device');
    expect((await edit(w, ALICE, sent, 'from this one')).record).toMatchObject({ revision: 2, content: { text: 'from this one' } });
    meanwhile = (target) => recall(w, ALICE, target);
    expect(await refusal(edit(w, ALICE, sent, 'too late'))).toBe('MessageFinal');
  });

  test('gives up after three tries with Aborted', async () => {
    let tries = 0;
    const w = openWorld((own) => ({
      messages: {
        ...own.messages,
        amend: async () => {
          tries += 1;
          return { kind: 'changed' } as const;
        },
      },
    }));
    const room = await w.group(ALICE, []);
    const sent = await w.send(ALICE, room);
    for (const operation of Object.values(operations)) {
      tries = 0;
      expect(await refusal(operation(w, ALICE, sent))).toBe('Aborted');
      expect(tries).toBe(AMEND_TRIES_MAX);
    }
  });

  test('relies on the step for a role: one who lost it meanwhile is refused', async () => {
    const w = openWorld((own) => ({
      messages: {
        ...own.messages,
        // The member entry as it was a moment ago.
        readConversation: async (...args) => {
          const read = await own.messages.readConversation(...args);
          return { ...read, member: read.member && { ...read.member, role: Role.Owner } };
        },
      },
    }));
    const room = await w.group(ALICE, [BOB, CAROL]);
    const sent = await w.send(CAROL, room);
    expect(await refusal(recall(w, BOB, sent))).toBe('Forbidden');
    expect(await refusal(remove(w, BOB, sent))).toBe('Forbidden');
  });
});

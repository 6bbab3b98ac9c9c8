import assert from 'node:assert/strict';
import { integer, object, text } from '../api.js';
import type { Item } from '../item.js';

export const head: Item = {
  number: '7',
  name: 'head',
  shows: 'the list head is the newest canonical record; an edit changes lastActivityId; no recalled text anywhere; order by activity',
  async run(stage) {
    const alice = await stage.person('alice');
    const bob = await stage.person('bob');
    const carol = await stage.person('carol');
    const first = await alice.sayTo(bob.id, 'the first');
    const second = await alice.say(first.conversationId, 'the second');
    const before = await bob.entry(first.conversationId);
    assert.equal(integer(before.latestConversationSeq), second.conversationSeq);
    assert.equal(before.lastMessageId, second.messageId);
    assert.equal(before.lastActivityId, second.activityId);
    assert.notEqual(before.lastActivityId, before.lastMessageId);
    assert.equal(object(before.preview).snippet, 'the second');

    const ref = { conversationId: first.conversationId, conversationSeq: String(second.conversationSeq), messageId: second.messageId };
    await alice.call('MessageService/EditMessage', { ...ref, text: 'the second, mended' });
    const edited = await bob.entry(first.conversationId);
    assert.equal(edited.lastMessageId, second.messageId);
    assert.notEqual(edited.lastActivityId, before.lastActivityId);
    assert.equal(object(edited.preview).snippet, 'the second, mended');
    assert.equal(edited.latestConversationSeq, before.latestConversationSeq, 'an edit takes no sequence');

    const other = await carol.sayTo(bob.id, 'later');
    const order = () => bob.list().then((list) => list.map((c) => text(c.conversationId)));
    assert.deepEqual(await order(), [other.conversationId, first.conversationId]);

    await alice.call('MessageService/RecallMessage', ref);
    assert.deepEqual(await order(), [other.conversationId, first.conversationId], 'a recall does not move the conversation');
    const everything = JSON.stringify([await bob.list({ explain: true }), await bob.wholeHistory(first.conversationId)]);
    assert.ok(!everything.includes('the second'), 'a recalled text was found');
    assert.equal(object((await bob.entry(first.conversationId)).preview).status, 'MESSAGE_STATUS_RECALLED');

    await alice.say(first.conversationId, 'the third');
    await stage.delivered();
    assert.deepEqual(await order(), [first.conversationId, other.conversationId]);
  },
};

export const unread: Item = {
  number: '8',
  name: 'unread',
  shows: 'the recipient sees the exact count, and not 0 (the fault that the seed reports)',
  async run(stage) {
    const alice = await stage.person('alice');
    const bob = await stage.person('bob');
    const { conversationId } = await alice.sayTo(bob.id, 'one');
    await alice.say(conversationId, 'two');
    const last = await alice.say(conversationId, 'three');
    const entry = await bob.entry(conversationId);
    assert.deepEqual([entry.unreadCount, entry.unreadExact], [3, true]);
    assert.equal(integer(entry.latestConversationSeq), last.conversationSeq);
    assert.ok(last.conversationSeq > 0);
  },
};

export const own: Item = {
  number: '9',
  name: 'own',
  shows: "the sender's own messages never count, from any device",
  async run(stage) {
    const alice = await stage.person('alice');
    const bob = await stage.person('bob');
    const phone = await stage.deviceOf(alice.id, { device: 'phone' });
    const laptop = await stage.deviceOf(alice.id, { device: 'laptop' });
    const { conversationId } = await phone.sayTo(bob.id, 'from the phone');
    await laptop.say(conversationId, 'from the laptop');
    await alice.say(conversationId, 'from no device at all');
    for (const device of [alice, phone, laptop]) assert.deepEqual(await device.unread(conversationId), [0, true]);
    await bob.say(conversationId, 'an answer');
    await phone.say(conversationId, 'and one more');
    for (const device of [alice, phone, laptop]) assert.deepEqual(await device.unread(conversationId), [1, true]);
    assert.deepEqual(await bob.unread(conversationId), [4, true]);
  },
};

export const watermark: Item = {
  number: '10',
  name: 'watermark',
  shows: 'what lies at or before it is not counted; it only rises; two devices agree; never past the head',
  async run(stage) {
    const alice = await stage.person('alice');
    const bob = await stage.person('bob');
    const phone = await stage.deviceOf(bob.id, { device: 'phone' });
    const first = await alice.sayTo(bob.id, 'one');
    const { conversationId } = first;
    const sent = [first, ...(await alice.sayMany(conversationId, 9))].map((s) => s.conversationSeq);
    const [fifth = 0, ninth = 0, last = 0] = [sent[4], sent[8], sent[9]];

    assert.equal(await bob.markRead(conversationId, fifth), fifth);
    assert.deepEqual(await phone.unread(conversationId), [5, true]);
    assert.equal(await phone.markRead(conversationId, ninth), ninth);
    assert.equal(await bob.markRead(conversationId, fifth), ninth, 'a late call does not lower it');
    for (const device of [bob, phone]) assert.deepEqual(await device.unread(conversationId), [1, true]);
    assert.equal(await bob.markRead(conversationId, last + 1_000), last, 'never past the head');
    await alice.say(conversationId, 'a new one');
    for (const device of [bob, phone]) assert.deepEqual(await device.unread(conversationId), [1, true]);

    const at = last + 1;
    const calls = Array.from({ length: 40 }, (_, i) =>
      i % 2 === 0 ? bob.markRead(conversationId, at) : phone.markRead(conversationId, fifth),
    );
    await Promise.all(calls);
    assert.equal(integer((await bob.entry(conversationId)).readConversationSeq), at);
  },
};

export const kinds: Item = {
  number: '11',
  name: 'kinds',
  shows: 'Control, recalled and deleted do not count; edited and unknown types do',
  async run(stage) {
    const alice = await stage.person('alice');
    const bob = await stage.person('bob');
    const conversationId = await alice.createGroup('kinds', [bob]);
    const ref = (s: { conversationSeq: number; messageId: string }) => ({
      conversationId,
      conversationSeq: String(s.conversationSeq),
      messageId: s.messageId,
    });
    const [edited, recalled, deleted] = await alice.sayMany(conversationId, 3);
    assert.ok(edited && recalled && deleted);
    const unknown = { type: 4711, content: { contentType: 'application/x-future', data: 'AAEC' } };
    await alice.sendRaw({ conversationId, ...unknown });
    await alice.sendRaw({ conversationId, type: 'MESSAGE_TYPE_CONTROL', control: { kind: 'CONTROL_KIND_APP', appType: 'call.started' } });
    assert.deepEqual(await bob.unread(conversationId), [4, true]);
    await alice.call('MessageService/EditMessage', { ...ref(edited), text: 'edited' });
    assert.deepEqual(await bob.unread(conversationId), [4, true]);
    await alice.call('MessageService/RecallMessage', ref(recalled));
    assert.deepEqual(await bob.unread(conversationId), [3, true]);
    await alice.call('MessageService/DeleteMessage', ref(deleted));
    assert.deepEqual(await bob.unread(conversationId), [2, true]);
    assert.equal((await bob.wholeHistory(conversationId)).find((m) => m.type === 4711)?.status, 'MESSAGE_STATUS_NORMAL');
  },
};

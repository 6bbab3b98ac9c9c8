import assert from 'node:assert/strict';
import { type JsonObject, object } from '../api.js';
import type { Item } from '../item.js';
import type { Person } from '../people.js';
import { Device } from '../socket.js';

/** Everything that one may try with a conversation; each must get the one answer that says nothing. */
async function seesNothing(person: Person, conversationId: string, message: JsonObject): Promise<JsonObject[]> {
  const refused = (method: string, body: JsonObject) => person.refused(method, { conversationId, ...body }, 'not_found', 'NOT_MEMBER');
  assert.ok(!(await person.list()).some((c) => c.conversationId === conversationId), 'it is in the list');
  return [
    await refused('SessionService/ReadHistory', {}),
    await refused('SessionService/GetConversation', {}),
    await refused('SessionService/MarkRead', { readConversationSeq: '1' }),
    await refused('ConversationService/ListMembers', {}),
    await refused('ConversationService/AddMembers', { memberIds: [person.id] }),
    await refused('ConversationService/LeaveGroup', {}),
    await refused('MessageService/SendMessage', { clientMessageId: 'intruder', type: 'MESSAGE_TYPE_TEXT', text: 'in?' }),
    await refused('MessageService/EditMessage', { ...message, text: 'changed' }),
    await refused('MessageService/RecallMessage', message),
    await refused('MessageService/DeleteMessage', message),
  ];
}

export const isolation: Item = {
  number: '14',
  name: 'isolation',
  shows: 'other tenants, non-members and removed members can neither read, list, send, nor be pushed to',
  async run(stage) {
    const alice = await stage.person('alice');
    const bob = await stage.person('bob');
    const outsider = await stage.person('outsider');
    const removed = await stage.person('removed');
    const elsewhere = await stage.deviceOf(bob.id, { tenant: 7 });
    const conversationId = await alice.createGroup('ours', [bob, removed]);
    const sent = await alice.say(conversationId, 'for members');
    const message = { conversationSeq: String(sent.conversationSeq), messageId: sent.messageId };

    const people: readonly Person[] = [bob, outsider, removed, elsewhere];
    const devices = await Promise.all(people.map((p) => Device.connect(stage.url, p.token, 'phone')));
    const [bobs, outsiders, removeds, elsewheres] = devices;
    assert.ok(bobs && outsiders && removeds && elsewheres);

    await alice.call('ConversationService/RemoveMember', { conversationId, userId: removed.id });
    await removeds.until(() => removeds.events.some((e) => 'removed' in e), 'the notice');
    const before = removeds.events.length;
    const last = await alice.say(conversationId, 'after the removal');
    await bobs.until(() => bobs.pushed(conversationId).at(-1)?.messageId === last.messageId, 'the message at a member');
    // Their connections are proved alive, and served later than the member's: nothing was under way to them.
    for (const device of [outsiders, removeds, elsewheres]) await device.call('SessionService/ListConversations', {});
    assert.equal(removeds.events.length, before, 'a removed member was pushed to after the notice');
    assert.deepEqual([outsiders.events, elsewheres.events], [[], []]);

    const answers = await Promise.all([outsider, removed, elsewhere].map((p) => seesNothing(p, conversationId, message)));
    const nowhere = await outsider.refused('SessionService/ReadHistory', { conversationId: 'g_no-such' }, 'not_found', 'NOT_MEMBER');
    const texts = new Set(answers.flat().map((a) => JSON.stringify([a.code, a.message])));
    assert.deepEqual([...texts], [JSON.stringify([nowhere.code, nowhere.message])], 'one and the same answer');

    const onSocket = await removeds.call('MessageService/SendMessage', {
      conversationId,
      clientMessageId: 'open-socket',
      type: 'MESSAGE_TYPE_TEXT',
      text: 'still here?',
    });
    assert.equal(object(onSocket.error).reason, 'NOT_MEMBER');
    for (const device of devices) await device.close();
  },
};

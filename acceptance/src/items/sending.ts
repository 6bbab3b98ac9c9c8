import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { integer, text } from '../api.js';
import type { Item } from '../item.js';

export const durable: Item = {
  number: '2',
  name: 'durable',
  shows: 'a message is in record and history before its ack: killed right after the ack and started again, it is there',
  async run(stage) {
    const alice = await stage.person('alice');
    const bob = await stage.person('bob');
    for (let round = 1; round <= 3; round += 1) {
      const sent = await alice.sayTo(bob.id, `kept ${round}`);
      await stage.kill();
      await stage.start();
      const page = await bob.history({ conversationId: sent.conversationId });
      assert.equal(page.messages.at(-1)?.messageId, sent.messageId);
      assert.equal((await bob.entry(sent.conversationId)).unreadCount, round);
    }
  },
};

export const once: Item = {
  number: '3',
  name: 'once',
  shows: 'the same client message id again, at once and across a restart: one record, one id; other content: conflict',
  async run(stage) {
    const alice = await stage.person('alice');
    const bob = await stage.person('bob');
    const clientMessageId = randomUUID();
    const send = () => alice.sayTo(bob.id, 'only once', { clientMessageId });
    const all = await Promise.all(Array.from({ length: 10 }, send));
    await stage.kill();
    await stage.start();
    all.push(await send());
    assert.equal(new Set(all.map((s) => s.messageId)).size, 1);
    assert.equal(new Set(all.map((s) => s.conversationSeq)).size, 1);
    assert.equal(all.filter((s) => !s.duplicate).length, 1);
    const conversationId = all[0]?.conversationId ?? '';
    const other = { conversationId, clientMessageId, type: 'MESSAGE_TYPE_TEXT', text: 'something else' };
    await alice.refused('MessageService/SendMessage', other, 'already_exists', 'IDEMPOTENCY_CONFLICT');
    assert.equal((await bob.wholeHistory(conversationId)).length, 1);
    assert.deepEqual(await bob.unread(conversationId), [1, true]);
  },
};

const SENDERS = 8;
const EACH = 250;

export const order: Item = {
  number: '4',
  name: 'order',
  shows: '8 senders at once x 250: sequences unique and rising, and every reader sees the same order',
  async run(stage) {
    const people = await Promise.all(Array.from({ length: SENDERS }, (_, i) => stage.person(`sender${i}`)));
    const [owner, ...others] = people;
    assert.ok(owner);
    const conversationId = await owner.createGroup('everybody at once', others);
    const sequences = await Promise.all(
      people.map(async (person) => {
        const sent = await person.sayMany(conversationId, EACH);
        const own = sent.map((s) => s.conversationSeq);
        assert.deepEqual(
          own,
          [...own].sort((a, b) => a - b),
          'a sender sees its own messages in its own order',
        );
        return own;
      }),
    );
    const unique = new Set(sequences.flat());
    assert.equal(unique.size, SENDERS * EACH);

    const histories = await Promise.all(people.map((person) => person.wholeHistory(conversationId)));
    const first = histories[0]?.map((m) => text(m.messageId));
    for (const history of histories)
      assert.deepEqual(
        history.map((m) => text(m.messageId)),
        first,
      );
    const texts = (histories[0] ?? []).filter((m) => m.type === 'MESSAGE_TYPE_TEXT');
    assert.deepEqual(
      texts.map((m) => integer(m.conversationSeq)),
      [...unique].sort((a, b) => a - b),
    );
  },
};

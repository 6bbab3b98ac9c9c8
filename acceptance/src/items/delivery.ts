import assert from 'node:assert/strict';
import { skipSequences } from '@qim/store/testing';
import { integer, text } from '../api.js';
import type { Item } from '../item.js';
import { Device } from '../socket.js';
import { target } from '../target.js';

const PUSHED = 30;

export const push: Item = {
  number: '5',
  name: 'push',
  shows: "all of the recipient's devices and the sender's other devices get it, in order, once",
  async run(stage) {
    const alice = await stage.person('alice');
    const bob = await stage.person('bob');
    const connect = async (id: string, device: string) => Device.connect(stage.url, (await stage.deviceOf(id, { device })).token, device);
    const bobPhone = await connect(bob.id, 'phone');
    const bobLaptop = await connect(bob.id, 'laptop');
    const alicePhone = await connect(alice.id, 'phone');
    const aliceLaptop = await connect(alice.id, 'laptop');

    const fromPhone = await stage.deviceOf(alice.id, { device: 'phone' });
    const first = await fromPhone.sayTo(bob.id, 'hello');
    const sent = [first, ...(await fromPhone.sayMany(first.conversationId, PUSHED - 1))].map((s) => s.messageId);
    for (const device of [bobPhone, bobLaptop, aliceLaptop]) {
      await device.until(() => device.pushed().length >= PUSHED, `${PUSHED} messages`);
    }
    // A message that follows on the same connections: whatever was doubled would have come before it.
    const last = (await bob.say(first.conversationId, 'the end')).messageId;
    const everyone = [bobPhone, bobLaptop, alicePhone, aliceLaptop];
    for (const device of everyone) await device.until(() => device.pushed().at(-1)?.messageId === last, 'the last message');
    for (const device of [bobPhone, bobLaptop, aliceLaptop]) {
      assert.deepEqual(
        device.pushed().map((m) => text(m.messageId)),
        [...sent, last],
      );
    }
    assert.deepEqual(
      alicePhone.pushed().map((m) => text(m.messageId)),
      [last],
      'the sending device has its answer already',
    );
    for (const device of everyone) await device.close();
  },
};

export const replay: Item = {
  number: '6',
  name: 'replay',
  shows: 'a device that was away replays exactly what it missed, page by page, forward and backward, across holes',
  async run(stage) {
    const alice = await stage.person('alice');
    const bob = await stage.person('bob');
    const { conversationId, conversationSeq: seen } = await alice.sayTo(bob.id, 'seen before going away');
    const missed = [];
    for (let part = 0; part < 5; part += 1) {
      missed.push(...(await alice.sayMany(conversationId, 50)));
      await skipSequences(stage.location, { ...target(conversationId), count: 100 });
    }
    missed.push(await alice.say(conversationId, 'the last one'));
    const expected = missed.map((s) => s.messageId);

    const forward: string[] = [];
    for (let afterSeq = seen; ; ) {
      const page = await bob.history({ conversationId, afterSeq: String(afterSeq), limit: 40 });
      forward.push(...page.messages.map((m) => text(m.messageId)));
      if (!page.hasMore) break;
      afterSeq = integer(page.messages.at(-1)?.conversationSeq);
    }
    assert.deepEqual(forward, expected);

    const backward: string[] = [];
    let page = await bob.history({ conversationId, limit: 40 });
    for (;;) {
      backward.unshift(...page.messages.map((m) => text(m.messageId)));
      if (!page.hasMore) break;
      page = await bob.history({ conversationId, beforeSeq: text(page.messages[0]?.conversationSeq), limit: 40 });
    }
    assert.deepEqual(backward.slice(1), expected, 'and before them the one that was seen');
    assert.equal(new Set(missed.map((s) => s.conversationSeq)).size, expected.length);
    assert.ok((missed.at(-1)?.conversationSeq ?? 0) > expected.length + 400, 'there were holes');
  },
};

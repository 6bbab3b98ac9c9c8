/** Cases: what was acknowledged is there after the store was closed and opened again. */
import { SEQ_MAX } from '@qim/proto';
import { expect } from 'vitest';
import type { OutboxEntry } from '../../outbox/outbox.js';
import { type Fixture, seq, TENANT, text } from './fixture.js';
import type { Cases } from './suite.js';

async function reopen({ backend }: Fixture): Promise<void> {
  if (backend.reopen === undefined) throw new Error('only a backend that survives is asked to');
  await backend.reopen();
}

export const restart: Cases = {
  async 'history, heads, counts and members are as they were'(fixture) {
    const [alice, bob, carol] = [fixture.user('alice'), fixture.user('bob'), fixture.user('carol')];
    const chat = await fixture.group(alice, [bob]);
    await chat.sayTimes(alice, 5);
    await chat.say(bob, { content: text('x'.repeat(16_000)) });
    await chat.edit(3, 'edited');
    await chat.recall(4);
    await chat.skip(40);
    await chat.join(alice, carol);
    const all = async () => [
      await chat.history(bob),
      await chat.history(carol),
      await chat.sound(alice, 2),
      await chat.sound(bob),
      [...(await chat.messages.readMembers(TENANT, chat.conversationId))],
    ];
    const before = await all();
    await reopen(fixture);
    expect(await all()).toEqual(before);
    expect((await chat.say(bob)).conversationSeq).toBe(49);
    expect((await chat.record(49)).prevSequence).toBe(48);
  },

  async 'a retry of what was sent before is a duplicate, and a hole stays a hole'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    const request = chat.request(alice);
    const first = await chat.messages.commit(request);
    await chat.skip(SEQ_MAX - 10);
    await reopen(fixture);
    expect(await chat.messages.commit(request)).toEqual({ ...first, duplicate: true, created: false });
    expect((await chat.say(bob)).conversationSeq).toBe(SEQ_MAX - 8);
  },

  async 'lists and read marks are as they were'(fixture) {
    const bob = fixture.user('bob');
    const [kept, left] = [fixture.conversationId(), fixture.conversationId()];
    const joined = [{ userId: bob, joinedSeq: seq(2), visibleFrom: seq(1) }];
    const activity = { conversationSeq: seq(2), activityAtMs: 2_000 };
    for (const chat of [kept, left]) await fixture.store.directory.join(TENANT, chat, joined, activity);
    await fixture.store.directory.raiseRead(TENANT, bob, kept, seq(7));
    await fixture.store.directory.leave(TENANT, left, [bob], seq(5));
    const before = await fixture.store.directory.page(TENANT, bob, 50, undefined);
    expect(before.views.map(({ conversationId, readSeq }) => [conversationId, readSeq])).toEqual([[kept, 7]]);
    await reopen(fixture);
    expect(await fixture.store.directory.page(TENANT, bob, 50, undefined)).toEqual(before);
    await fixture.store.directory.join(TENANT, left, joined, activity);
    expect(await fixture.store.directory.view(TENANT, bob, left)).toBeUndefined();
  },

  async 'what was not acknowledged is delivered again'(fixture) {
    const alice = fixture.user('alice');
    const chat = fixture.direct(alice, alice);
    await chat.sayTimes(alice, 3);
    const readAll = async (owner: string): Promise<OutboxEntry[]> => {
      const { outbox } = fixture.store;
      const found: OutboxEntry[] = [];
      for (let partition = 0; partition < outbox.partitionCount; partition += 1) {
        const lease = await outbox.acquire(partition, owner, 600_000);
        if (lease === undefined) throw new Error('the partition is free');
        for (;;) {
          const { entries } = await outbox.read([lease], 0, new AbortController().signal);
          if (entries.length === 0) break;
          found.push(...entries);
        }
        await outbox.release(lease);
      }
      return found.filter(({ conversationId }) => conversationId === chat.conversationId);
    };
    const before = await readAll('before');
    expect(before.map(({ conversationSeq }) => conversationSeq)).toEqual([1, 2, 3]);
    await reopen(fixture);
    expect(await readAll('after')).toEqual(before);
  },
};

import assert from 'node:assert/strict';
import { skipSequences } from '@qim/store/testing';
import { object } from '../api.js';
import type { Item } from '../item.js';
import type { Person } from '../people.js';
import type { Stage } from '../stage.js';
import { target } from '../target.js';

const SCAN_LIMIT = 200;
/** The head and the preview may be read beside the window. */
const RECORDS_MAX = SCAN_LIMIT + 2;

/** How many records a list reads: told by the server's command log on Redis, by the explanation on the embedded store. */
async function recordsRead(stage: Stage, reader: Person, conversationId: string): Promise<number> {
  if (stage.nodes.length === 0) return Number(object((await reader.entry(conversationId, { explain: true })).explanation).scanned);
  const logs = await Promise.all(stage.nodes.map((node) => node.commandLog()));
  await reader.entry(conversationId);
  const commands = (await Promise.all(logs.map((log) => log.read()))).flat();
  for (const log of logs) log.close();
  const reads = commands.filter(({ name, args }) => (name === 'HGET' || name === 'HMGET') && args[0]?.startsWith('msgrecord:'));
  return reads.reduce((sum, { args }) => sum + args.length - 1, 0);
}

export const bound: Item = {
  number: '12',
  name: 'bound',
  shows: '200 exact; 201 saturates to 200, not exact; holes are taken on the safe side; reads stay bounded',
  async run(stage) {
    const alice = await stage.person('alice');
    const bob = await stage.person('bob');
    const { conversationId } = await alice.sayTo(bob.id, 'one');
    await alice.sayMany(conversationId, SCAN_LIMIT - 1);
    assert.deepEqual(await bob.unread(conversationId), [200, true]);
    await alice.say(conversationId, 'one more');
    assert.deepEqual(await bob.unread(conversationId), [200, false]);
    assert.equal((await bob.entry(conversationId)).mentionCount, undefined, 'no mention count where the count is not exact');
    assert.ok((await recordsRead(stage, bob, conversationId)) <= RECORDS_MAX);
    await alice.sayMany(conversationId, 300);
    assert.ok((await recordsRead(stage, bob, conversationId)) <= RECORDS_MAX, 'history does not make the list dearer');

    const carol = await stage.person('carol');
    const holes = await alice.sayTo(carol.id, 'before the hole');
    await carol.markRead(holes.conversationId, holes.conversationSeq);
    await skipSequences(stage.location, { ...target(holes.conversationId), count: SCAN_LIMIT - 1 });
    const after = await alice.say(holes.conversationId, 'after the hole');
    assert.equal(after.conversationSeq, holes.conversationSeq + SCAN_LIMIT);
    assert.deepEqual(await carol.unread(holes.conversationId), [1, true], 'a distance of 200 is still counted one by one');
    await alice.say(holes.conversationId, 'past the bound');
    assert.deepEqual(await carol.unread(holes.conversationId), [200, false], 'a distance of 201 is not, though only 2 are there');
  },
};

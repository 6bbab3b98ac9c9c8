/**
 * `npm run seed-demo`: the bug that the seed reports, and what replaced it, side by side.
 *
 * It starts a Redis and a qim server of its own, fills the abandoned `hist:{conversation}` keys with garbage, sends
 * messages through the public API, and asks three rules for the same list entry: the old one, the tempting one
 * (`latest - read`), and qim's. Then one record is damaged. It exits with 0 only if each answer is as expected.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { damage, skipSequences } from '@qim/store/testing';
import { type JsonObject, object, text } from '../acceptance/src/api.js';
import { Stage } from '../acceptance/src/stage.js';
import { recordTarget, target } from '../acceptance/src/target.js';

interface Reading {
  readonly latest: number;
  readonly unread: number;
}

const print = (line = ''): void => void process.stdout.write(`${line}\n`);

function redisCli(port: number, ...args: string[]): string {
  return execFileSync('redis-cli', ['-p', String(port), ...args], { encoding: 'latin1' }).trim();
}

/** What nobody writes any more and nobody cleaned up: members that are no sequences. */
function fillWithGarbage(port: number, conversationId: string): void {
  redisCli(port, 'ZADD', `hist:${conversationId}`, '3', 'left by an old version', '7', '{"seq":"?"}', '9', '\x01\x02');
}

/**
 * The old rule: newest member of `hist:` is the head, members past the watermark are unread, and what does not decode
 * counts for nothing. A member is a sequence of 8 bytes.
 */
function oldRule(port: number, conversationId: string, read: number): Reading {
  const members = redisCli(port, 'ZRANGE', `hist:${conversationId}`, '0', '-1').split('\n');
  const sequences = members
    .filter((member) => member.length === 8)
    .map((member) => Number(Buffer.from(member, 'latin1').readBigUInt64BE()));
  return { latest: Math.max(0, ...sequences), unread: sequences.filter((sequence) => sequence > read).length };
}

/** A group of four members, a hole, and one message of each kind that a list must not count. */
async function talk(stage: Stage) {
  const [alice, bob] = [await stage.person('alice'), await stage.person('bob')];
  const group = await alice.createGroup('seed', [bob]);
  const first = await alice.say(group, 'read by bob');
  await bob.markRead(group, first.conversationSeq);
  await alice.say(group, 'one');
  await bob.say(group, "bob's own, from his phone");
  await skipSequences(stage.location, { ...target(group), count: 40 });
  const recalled = await alice.say(group, 'recalled at once');
  await alice.call('MessageService/RecallMessage', ref(recalled));
  await alice.sendRaw({
    conversationId: group,
    type: 'MESSAGE_TYPE_CONTROL',
    control: { kind: 'CONTROL_KIND_APP', appType: 'call', appData: '' },
  });
  const second = await alice.say(group, 'two');
  return { bob, group, second };
}

function ref(sent: { conversationId: string; conversationSeq: number; messageId: string }): JsonObject {
  return { conversationId: sent.conversationId, conversationSeq: String(sent.conversationSeq), messageId: sent.messageId };
}

function table(rows: readonly (readonly [string, Reading | undefined, string])[]): void {
  print(`  ${'rule'.padEnd(28)}${'latest'.padStart(8)}${'unread'.padStart(8)}`);
  for (const [rule, reading, verdict] of rows) {
    const numbers = reading === undefined ? ['-', '-'] : [String(reading.latest), String(reading.unread)];
    print(`  ${rule.padEnd(28)}${numbers.map((number) => number.padStart(8)).join('')}   ${verdict}`);
  }
}

async function demo(stage: Stage, port: number): Promise<void> {
  const { bob, group, second } = await talk(stage);
  fillWithGarbage(port, group);
  const before = redisCli(port, 'DUMP', `hist:${group}`);

  const entry = await bob.entry(group);
  const latest = Number(text(entry.latestConversationSeq));
  const read = Number(text(entry.readConversationSeq));
  const old = oldRule(port, group, read);
  const subtraction = { latest, unread: latest - read };
  const ours = { latest, unread: Number(entry.unreadCount) };

  print(`bob's entry for the group: 2 messages of alice are new to him, at sequence ${latest}; he has read up to ${read}`);
  print();
  table([
    ['the old rule, over hist:', old, 'wrong: nobody writes hist: any more, and what is there is garbage'],
    ['latest - read', subtraction, 'wrong: counts 40 holes, his own message, a recalled one, a Control'],
    ['qim, from the records', ours, `right, and ${entry.unreadExact === true ? 'exact' : 'NOT exact'}`],
  ]);
  assert.deepEqual(old, { latest: 0, unread: 0 });
  assert.deepEqual(subtraction, { latest: second.conversationSeq, unread: 2 + 40 + 3 });
  assert.deepEqual([ours.unread, entry.unreadExact], [2, true]);
  assert.equal(redisCli(port, 'DUMP', `hist:${group}`), before, 'qim must leave hist: alone');

  await damage(stage.location, recordTarget(group, second.conversationSeq), 'recordBitFlipped');
  const damaged = await bob.entry(group);
  const { reason, conversationSeq, what } = object(damaged.damaged);
  print();
  print(`one bit of the record at ${second.conversationSeq} is flipped:`);
  print();
  table([['qim, from the records', undefined, `${text(reason)}: ${text(what)} at ${text(conversationSeq)}; no number, and no quiet zero`]]);
  assert.equal(reason, 'CORRUPT_RECORD');
  assert.ok(!('unreadCount' in damaged) && !('latestConversationSeq' in damaged));
  print();
  print('as expected');
}

const stage = await Stage.open('redis');
try {
  assert.ok(stage.redis);
  await demo(stage, stage.redis.port);
} finally {
  await stage.close();
}

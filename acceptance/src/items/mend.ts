import assert from 'node:assert/strict';
import { parseUserId } from '@qim/proto';
import { type DamageKind, damage } from '@qim/store/testing';
import { object } from '../api.js';
import type { Item } from '../item.js';
import type { Person } from '../people.js';
import type { Ran, Stage } from '../stage.js';
import { recordTarget, target } from '../target.js';

interface Planted {
  /** What `qim fsck` must call it. */
  readonly code: string;
  /** At the second of three messages, whose body is apart; or of the whole conversation. */
  readonly at: 'record' | 'conversation';
  /** What bob has unread after the repair: a lost record is there as deleted, and does not count. */
  readonly unread: 2 | 3;
}

const lost = (code: string): Planted => ({ code, at: 'record', unread: 2 });
const whole = (code: string): Planted => ({ code, at: 'conversation', unread: 3 });

const PLANTED: Readonly<Partial<Record<DamageKind, Planted>>> = {
  recordMissing: lost('recordMissing'),
  recordTruncated: lost('recordUnreadable'),
  recordBitFlipped: lost('recordUnreadable'),
  recordOfAnother: lost('recordMismatch'),
  recordOtherTenant: lost('recordMismatch'),
  recordOtherConversation: lost('recordMismatch'),
  recordOtherSequence: lost('recordMismatch'),
  recordUnknownStatus: lost('recordUnreadable'),
  recordUnknownVersion: lost('unsupportedVersion'),
  bodyMissing: lost('bodyMissing'),
  bodyBitFlipped: lost('bodyUnreadable'),
  indexMemberMissing: { ...whole('indexMemberMissing'), at: 'record' },
  indexKeyMissing: whole('indexMissing'),
  indexMemberExtra: whole('indexMemberExtra'),
  indexMemberShort: whole('indexMemberInvalid'),
  factsMissing: whole('factsMissing'),
  factsUnreadable: whole('factsUnreadable'),
  factsAhead: whole('headWrong'),
  factsBehind: whole('headWrong'),
  previewPointerWrong: whole('previewWrong'),
  memberUnreadable: whole('memberUnreadable'),
};
const ON_REDIS: Readonly<Partial<Record<DamageKind, Planted>>> = {
  indexScoreNonZero: whole('indexMemberInvalid'),
  indexWrongType: whole('wrongType'),
};

interface Case {
  readonly kind: DamageKind;
  readonly planted: Planted;
  readonly alice: Person;
  readonly bob: Person;
  readonly conversationId: string;
  /** Of the second message. */
  readonly conversationSeq: number;
}

/** Three messages of alice. */
async function talk(stage: Stage, kind: DamageKind, planted: Planted): Promise<Case> {
  const alice = await stage.person('alice');
  const bob = await stage.person('bob');
  const { conversationId } = await alice.sayTo(bob.id, 'one');
  const { conversationSeq } = await alice.say(conversationId, 'two '.repeat(1_000));
  await alice.say(conversationId, 'three');
  return { kind, planted, alice, bob, conversationId, conversationSeq };
}

async function plant(stage: Stage, { kind, planted, bob, conversationId, conversationSeq }: Case): Promise<void> {
  const at = planted.at === 'record' ? recordTarget(conversationId, conversationSeq) : target(conversationId);
  await damage(stage.location, { ...at, userId: parseUserId(bob.id) }, kind);
}

/** Events of `qim fsck --json`. */
function events({ out }: Ran): readonly Record<string, unknown>[] {
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function checkFound(stage: Stage, cases: readonly Case[]): Promise<void> {
  const ran = await stage.qim('fsck', '--json');
  assert.equal(ran.code, 1, `fsck beside the server: ${ran.out}${ran.err}`);
  const found = events(ran).filter(({ event }) => event === 'found');
  for (const { kind, planted, conversationId } of cases) {
    const codes = found.filter((one) => one.conversationId === conversationId).map(({ code }) => code);
    assert.ok(codes.includes(planted.code), `${kind} must be found as ${planted.code}: ${JSON.stringify(codes)}`);
  }
}

/** The embedded store is mended without its server; Redis beside it. */
async function repair(stage: Stage): Promise<void> {
  if (stage.nodes.length === 0) {
    const refused = await stage.qim('fsck', '--repair');
    assert.equal(refused.code, 2, `beside its server the embedded store is not mended: ${refused.out}`);
    await stage.stop();
  }
  const ran = await stage.qim('fsck', '--repair', '--newer-is-damage', '--json');
  assert.equal(ran.code, 0, `everything was mended: ${ran.out}${ran.err}`);
  if (stage.nodes.length === 0) await stage.start();
  const clean = await stage.qim('fsck', '--json');
  assert.equal(clean.code, 0, `nothing is found any more: ${clean.out}${clean.err}`);
  assert.equal(events(clean).at(-1)?.findings, 0);
}

async function checkAnswers({ kind, planted, alice, bob, conversationId }: Case): Promise<void> {
  const list = await bob.call('SessionService/ListConversations', {});
  assert.equal(list.damagedCount, 0, `${kind}: the list answers again: ${JSON.stringify(list)}`);
  assert.deepEqual(await bob.unread(conversationId), [planted.unread, true], kind);
  const messages = await bob.wholeHistory(conversationId);
  assert.equal(messages.length, 3, `${kind}: history has all three places`);
  const deleted = messages.filter(({ status }) => status === 'MESSAGE_STATUS_DELETED').length;
  assert.equal(deleted, 3 - planted.unread, `${kind}: what is lost shows as deleted`);
  await alice.say(conversationId, 'goes on');
  assert.deepEqual((await bob.wholeHistory(conversationId)).length, 4, `${kind}: sending goes on`);
  assert.ok(!('damaged' in object((await bob.call('SessionService/GetConversation', { conversationId })).conversation)));
}

export const mended: Item = {
  number: '13b',
  name: 'mend',
  shows: '`qim fsck` finds each kind of damage, and `--repair` mends it: nothing is found any more, and the lists answer again',
  async run(stage) {
    const kinds = Object.entries(stage.nodes.length === 0 ? PLANTED : { ...PLANTED, ...ON_REDIS }) as [DamageKind, Planted][];
    const cases: Case[] = [];
    for (const [kind, planted] of kinds) cases.push(await talk(stage, kind, planted));
    await stage.delivered();
    for (const each of cases) await plant(stage, each);
    await checkFound(stage, cases);
    await repair(stage);
    for (const each of cases) await checkAnswers(each);
  },
};

import assert from 'node:assert/strict';
import { type DamageKind, damage } from '@qim/store/testing';
import { object } from '../api.js';
import type { Item } from '../item.js';
import type { Stage } from '../stage.js';
import { recordTarget, target } from '../target.js';

const NUMBERS = [
  'latestConversationSeq',
  'lastActivityId',
  'lastMessageId',
  'readConversationSeq',
  'unreadCount',
  'unreadExact',
  'mentionCount',
] as const;

const RECORD_KINDS: readonly DamageKind[] = [
  'recordMissing',
  'recordTruncated',
  'recordBitFlipped',
  'recordOfAnother',
  'recordOtherTenant',
  'recordOtherConversation',
  'recordOtherSequence',
  'recordUnknownStatus',
  'recordUnknownVersion',
  'indexMemberMissing',
];
const CONVERSATION_KINDS: readonly DamageKind[] = ['indexKeyMissing', 'indexMemberExtra', 'indexMemberShort', 'factsMissing', 'factsAhead'];
const REDIS_KINDS: readonly DamageKind[] = ['indexScoreNonZero', 'indexWrongType'];

/** Three unread messages; the one in the middle, or the whole conversation, is damaged; a neighbour stays whole. */
async function damagedListing(stage: Stage, kind: DamageKind, whole: boolean): Promise<void> {
  const alice = await stage.person('alice');
  const bob = await stage.person('bob');
  const carol = await stage.person('carol');
  const neighbour = await carol.sayTo(bob.id, 'sound');
  const first = await alice.sayTo(bob.id, 'one');
  const second = await alice.say(first.conversationId, 'two');
  await alice.say(first.conversationId, 'three');
  const { conversationId } = first;
  await damage(stage.location, whole ? target(conversationId) : recordTarget(conversationId, second.conversationSeq), kind);

  const answer = await bob.call('SessionService/ListConversations', {});
  assert.equal(answer.damagedCount, 1, `${kind} went unnoticed: ${JSON.stringify(answer)}`);
  const entry = await bob.entry(conversationId);
  const reason = kind === 'recordUnknownVersion' ? 'UNSUPPORTED_VERSION' : 'CORRUPT_RECORD';
  assert.equal(object(entry.damaged).reason, reason, kind);
  for (const name of NUMBERS) assert.ok(!(name in entry), `${kind}: a damaged entry must not have ${name}`);
  assert.deepEqual(await bob.unread(neighbour.conversationId), [1, true], `${kind} troubled another conversation`);
  const alone = await bob.call('SessionService/GetConversation', { conversationId });
  assert.ok('damaged' in object(alone.conversation), `${kind}: GetConversation still answers, with damaged`);
}

export const damaged: Item = {
  number: '13a',
  name: 'damage',
  shows: 'every way of damaging index, record or facts gives a damaged entry without numbers; the others still list',
  async run(stage) {
    for (const kind of RECORD_KINDS) await damagedListing(stage, kind, false);
    const whole = stage.nodes.length === 0 ? CONVERSATION_KINDS : [...CONVERSATION_KINDS, ...REDIS_KINDS];
    for (const kind of whole) await damagedListing(stage, kind, true);
  },
};

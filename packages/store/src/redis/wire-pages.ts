/**
 * Both rounds of a page over the wire: the commands of summaries.ts and reads.ts, in the same order, read in place.
 *
 * Each answers with undefined when the wire did, or when a reply has not the form of a sound store: summaries.ts then asks
 * over the ordinary connection, and only what that one finds is told of anyone's data.
 */
import { type ConversationSeq, EXACT_UNREAD_SCAN_LIMIT } from '@qim/proto';
import { sequenceFromBytes } from '../message/bytes.js';
import { FACT_FIELDS, parseFacts, parseMember } from '../message/facts.js';
import {
  type AnsweredPlan,
  finishReading,
  type IndexMember,
  planReading,
  type ReadingPlan,
  type ReadingScope,
  type ReadRecord,
} from '../message/summaries.js';
import type { ConversationReading, ConversationState } from '../message/summary.js';
import type { RedisContext } from './context.js';
import { bucketOf, type ConversationKeys } from './keys.js';
import { type Replies, UnexpectedReply } from './wire-replies.js';
import { bulk, bytesBulk, memberBytes, type WireRequest } from './wire-request.js';

type Plan = ReadingPlan | AnsweredPlan;

const FACTS_HEAD = `*${2 + FACT_FIELDS.length}\r\n${bytesBulk('HMGET')}`;
const FACTS_TAIL = FACT_FIELDS.map(bytesBulk).join('');
const NEWEST_HEAD = `*5\r\n${bytesBulk('ZRANGE')}`;
const NEWEST_TAIL = ['-1', '-1', 'WITHSCORES'].map(bytesBulk).join('');
const WINDOW_HEAD = `*7\r\n${bytesBulk('ZRANGEBYLEX')}`;
const WINDOW_TAIL = ['+', 'LIMIT', '0', String(EXACT_UNREAD_SCAN_LIMIT)].map(bytesBulk).join('');
const MEMBER_HEAD = `*3\r\n${bytesBulk('HGET')}`;
const FIRST_ROUND_COMMANDS = 4;

/** @throws StoreUnavailable */
export async function wireFirstRound(
  { wire, keys }: RedisContext,
  scope: ReadingScope,
  states: readonly ConversationState[],
): Promise<Plan[] | undefined> {
  if (wire === undefined || states.length === 0) return undefined;
  const member = bulk(scope.user.userId);
  let text = '';
  for (const { conversationId, watermark } of states) {
    const own = keys.conversation(scope.tenantId, conversationId);
    const history = bytesBulk(own.history);
    text += FACTS_HEAD + bytesBulk(own.facts) + FACTS_TAIL + NEWEST_HEAD + history + NEWEST_TAIL;
    text += WINDOW_HEAD + history + bytesBulk(`(${memberBytes(watermark)}`) + WINDOW_TAIL;
    text += MEMBER_HEAD + bytesBulk(own.members) + member;
  }
  const request = { text, commands: FIRST_ROUND_COMMANDS * states.length };
  return wire.round(request, (replies) => states.map((state) => planFrom(scope, state, replies)));
}

function planFrom(scope: ReadingScope, state: ConversationState, replies: Replies): Plan {
  const facts = factsFrom(replies);
  const newest = newestFrom(replies);
  const window: IndexMember[] = [];
  for (let left = replies.array(); left > 0; left -= 1) window.push(memberFrom(replies));
  const member = replies.text();
  return planReading(scope, state, { facts, newest, window, member: member === undefined ? undefined : parseMember(member) });
}

function factsFrom(replies: Replies) {
  if (replies.array() !== FACT_FIELDS.length) throw new UnexpectedReply('another number of fields');
  return parseFacts(FACT_FIELDS.map(() => replies.text()));
}

function newestFrom(replies: Replies): { readonly sequence: IndexMember; readonly score: number } | undefined {
  if (replies.array() === 0) return undefined;
  return { sequence: memberFrom(replies), score: Number(replies.text()) };
}

function memberFrom(replies: Replies): IndexMember {
  if (!replies.value()) throw new UnexpectedReply('nil in an index');
  return sequenceFromBytes(replies.bytes, replies.start, replies.length);
}

/** Where the records of a plan were asked for: for each sequence, which of all the values of the plan it is. */
interface Asked {
  readonly plan: ReadingPlan;
  /** How many values each command is answered with. */
  readonly counts: readonly number[];
  /** Undefined: in the order of the sequences. */
  readonly places: readonly number[] | undefined;
}

/** @throws StoreUnavailable */
export async function wireSecondRound(
  { wire, keys }: RedisContext,
  scope: ReadingScope,
  plans: readonly Plan[],
  confirmed: boolean,
): Promise<(ConversationReading | 'again')[] | undefined> {
  if (wire === undefined || plans.length === 0) return undefined;
  const request = { text: '', commands: 0 };
  const asked = plans.map((plan) => {
    if (plan.kind === 'answered') return plan;
    return askRecords(request, keys.conversation(scope.tenantId, plan.state.conversationId), plan);
  });
  const finish = (replies: Replies) => asked.map((each) => ('kind' in each ? each.reading : finished(scope, each, replies, confirmed)));
  return request.commands === 0 ? plans.map((plan) => (plan as AnsweredPlan).reading) : wire.round(request, finish);
}

/** One HMGET for each bucket. */
function askRecords(request: { -readonly [Key in keyof WireRequest]: WireRequest[Key] }, own: ConversationKeys, plan: ReadingPlan): Asked {
  const groups = new Map<number, number[]>();
  for (const [i, seq] of plan.sequences.entries()) {
    const bucket = bucketOf(seq);
    const group = groups.get(bucket);
    if (group === undefined) groups.set(bucket, [i]);
    else group.push(i);
  }
  const counts: number[] = [];
  let text = '';
  for (const [bucket, group] of groups) {
    counts.push(group.length);
    text += `*${2 + group.length}\r\n${HMGET}${bytesBulk(own.records(bucket))}`;
    for (const i of group) text += numberBulk(plan.sequences[i]);
  }
  request.text += text;
  request.commands += groups.size;
  return { plan, counts, places: groups.size === 1 ? undefined : placesOf(groups, plan.sequences.length) };
}

const HMGET = bytesBulk('HMGET');

function numberBulk(seq: ConversationSeq | undefined): string {
  const digits = String(seq);
  return `$${digits.length}\r\n${digits}\r\n`;
}

function placesOf(groups: ReadonlyMap<number, readonly number[]>, length: number): number[] {
  const places = new Array<number>(length).fill(0);
  let place = 0;
  for (const group of groups.values()) for (const i of group) places[i] = place++;
  return places;
}

function finished(
  scope: ReadingScope,
  { plan, counts, places }: Asked,
  replies: Replies,
  confirmed: boolean,
): ConversationReading | 'again' {
  // Of each value, but for the arrays around them.
  const positions: number[] = [];
  for (const count of counts) {
    if (replies.array() !== count) throw new UnexpectedReply('another number of fields');
    for (let i = 0; i < count; i += 1) positions.push(replies.position + 2 * i);
    replies.skip(count);
  }
  const read: ReadRecord = (index, header) => {
    const position = positions[places?.[index] ?? index];
    if (position === undefined || !replies.valueAt(position)) return 'recordMissing';
    return header.load(replies.bytes, replies.start, replies.length);
  };
  return finishReading(scope, plan, read, confirmed);
}

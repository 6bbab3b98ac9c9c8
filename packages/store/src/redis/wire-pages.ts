/**
 * Both rounds of a page over the wire: the commands of summaries.ts and reads.ts, in the same order, read in place.
 *
 * It answers with undefined when the wire did, or when a reply has not the form of a sound store: summaries.ts then asks
 * over the ordinary connection, and only what that one finds is told of anyone's data.
 */
import { type ConversationSeq, EXACT_UNREAD_SCAN_LIMIT } from '@qim/proto';
import { sequenceFromBytes } from '../message/bytes.js';
import { FACT_FIELDS, factsFromValues, parseMember, type StoredFacts } from '../message/facts.js';
import {
  type AnsweredPlan,
  finishReading,
  type IndexMember,
  planReading,
  type ReadingPlan,
  type ReadingScope,
  type ReadRecord,
} from '../message/summaries.js';
import type { ConversationReading, ConversationState, MemberEntry } from '../message/summary.js';
import type { RedisContext } from './context.js';
import { bucketOf, type ConversationKeys } from './keys.js';
import type { Wire } from './wire.js';
import { type Replies, UnexpectedReply } from './wire-replies.js';
import { encodedWords, WireRequest } from './wire-request.js';

type Plan = ReadingPlan | AnsweredPlan;

const FACTS_HEAD = encodedWords(['HMGET'], 2 + FACT_FIELDS.length);
const FACTS_TAIL = encodedWords(FACT_FIELDS);
const NEWEST_HEAD = encodedWords(['ZRANGE'], 5);
const NEWEST_TAIL = encodedWords(['-1', '-1', 'WITHSCORES']);
const WINDOW_HEAD = encodedWords(['ZRANGEBYLEX'], 7);
const WINDOW_TAIL = encodedWords(['+', 'LIMIT', '0', String(EXACT_UNREAD_SCAN_LIMIT)]);
const MEMBER_HEAD = encodedWords(['HGET'], 3);
const HMGET = encodedWords(['HMGET']);
const FIRST_ROUND_COMMANDS = 4;
/** Of one conversation in the first round, about; and of one record in the second. */
const FIRST_BYTES = 640;
const RECORD_BYTES = 12;
const RECORDS_BYTES = 96;
const ZERO = 48;

/** Undefined: ask over the ordinary connection. @throws StoreUnavailable */
export async function readByWire(
  { wire, keys }: RedisContext,
  scope: ReadingScope,
  states: readonly ConversationState[],
  confirmed: boolean,
): Promise<(ConversationReading | 'again')[] | undefined> {
  if (wire === undefined || states.length === 0) return undefined;
  const own = states.map(({ conversationId }) => keys.conversation(scope.tenantId, conversationId));
  const plans = await firstRound(wire, scope, states, own);
  return plans && secondRound(wire, scope, plans, own, confirmed);
}

function firstRound(
  wire: Wire,
  scope: ReadingScope,
  states: readonly ConversationState[],
  keys: readonly ConversationKeys[],
): Promise<Plan[] | undefined> {
  const request = new WireRequest(FIRST_BYTES * states.length);
  const member = encodedWords([scope.user.userId]);
  for (const [i, own] of keys.entries()) {
    const { facts, history, members } = own;
    request.words(FACTS_HEAD);
    request.ascii(facts);
    request.words(FACTS_TAIL);
    request.words(NEWEST_HEAD);
    request.ascii(history);
    request.words(NEWEST_TAIL);
    request.words(WINDOW_HEAD);
    request.ascii(history);
    request.after((states[i] as ConversationState).watermark);
    request.words(WINDOW_TAIL);
    request.words(MEMBER_HEAD);
    request.ascii(members);
    request.words(member);
  }
  request.commands = FIRST_ROUND_COMMANDS * states.length;
  const members = new MemberTexts();
  return wire.round(request, (replies) => states.map((state) => planFrom(scope, state, replies, members)));
}

function planFrom(scope: ReadingScope, state: ConversationState, replies: Replies, members: MemberTexts): Plan {
  const facts = factsFrom(replies);
  const newest = newestFrom(replies);
  const window: IndexMember[] = [];
  for (let left = replies.array(); left > 0; left -= 1) window.push(memberFrom(replies));
  return planReading(scope, state, { facts, newest, window, member: members.parsed(replies.text()) });
}

/** Undefined: absent. Facts that are no facts are the ordinary connection's to tell. */
function factsFrom(replies: Replies): StoredFacts | undefined {
  if (replies.array() !== FACT_FIELDS.length) throw new UnexpectedReply('another number of fields');
  if (!replies.value()) {
    for (let i = 1; i < FACT_FIELDS.length; i += 1) if (replies.value()) throw new UnexpectedReply('a field is missing');
    return undefined;
  }
  const kind = replies.asDecimal();
  const [title, settings, pair] = [replies.text(), replies.text(), replies.text()];
  if (title === undefined || settings === undefined || pair === undefined) throw new UnexpectedReply('a field is missing');
  const numbers: number[] = [];
  for (let i = 4; i < FACT_FIELDS.length; i += 1) numbers.push(replies.decimal());
  const facts = factsFromValues({ kind, title, settings, pair, numbers });
  if (typeof facts === 'string') throw new UnexpectedReply(facts);
  return facts;
}

function newestFrom(replies: Replies): { readonly sequence: IndexMember; readonly score: number } | undefined {
  if (replies.array() === 0) return undefined;
  const sequence = memberFrom(replies);
  replies.value();
  const zero = replies.length === 1 && replies.bytes[replies.start] === ZERO;
  return { sequence, score: zero ? 0 : Number.NaN };
}

function memberFrom(replies: Replies): IndexMember {
  if (!replies.value()) throw new UnexpectedReply('nil in an index');
  return sequenceFromBytes(replies.bytes, replies.start, replies.length);
}

/** Most entries of one user say the same: each text is parsed once for a page. */
class MemberTexts {
  #text: string | undefined;
  #entry: MemberEntry | 'memberUnreadable' | undefined;

  parsed(text: string | undefined): MemberEntry | 'memberUnreadable' | undefined {
    if (text !== this.#text) {
      this.#text = text;
      this.#entry = text === undefined ? undefined : parseMember(text);
    }
    return this.#entry;
  }
}

/** Where the records of a plan were asked for: for each sequence, which of all the values of the plan it is. */
interface Asked {
  readonly plan: ReadingPlan;
  /** How many values each command is answered with. */
  readonly counts: readonly number[];
  /** Undefined: in the order of the sequences. */
  readonly places: readonly number[] | undefined;
}

async function secondRound(
  wire: Wire,
  scope: ReadingScope,
  plans: readonly Plan[],
  keys: readonly ConversationKeys[],
  confirmed: boolean,
): Promise<(ConversationReading | 'again')[] | undefined> {
  let records = 0;
  for (const plan of plans) if (plan.kind === 'read') records += plan.sequences.length;
  if (records === 0) return plans.map((plan) => (plan as AnsweredPlan).reading);
  const request = new WireRequest(RECORDS_BYTES * plans.length + RECORD_BYTES * records);
  const asked = plans.map((plan, i) => (plan.kind === 'answered' ? plan : askRecords(request, keys[i] as ConversationKeys, plan)));
  return wire.round(request, (replies) => asked.map((each) => ('kind' in each ? each.reading : finished(scope, each, replies, confirmed))));
}

/** One HMGET for each bucket. */
function askRecords(request: WireRequest, own: ConversationKeys, plan: ReadingPlan): Asked {
  const { sequences } = plan;
  const bucket = bucketOf(sequences[0] ?? 0);
  if (sequences.every((seq) => bucketOf(seq) === bucket)) {
    askBucket(request, own.records(bucket), sequences);
    return { plan, counts: [sequences.length], places: undefined };
  }
  const groups = new Map<number, BucketGroup>();
  for (const [i, seq] of sequences.entries()) {
    const of = bucketOf(seq);
    const group = groups.get(of) ?? { sequences: [], indexes: [] };
    group.sequences.push(seq);
    group.indexes.push(i);
    groups.set(of, group);
  }
  for (const [of, group] of groups) askBucket(request, own.records(of), group.sequences);
  const all = [...groups.values()];
  return { plan, counts: all.map(({ indexes }) => indexes.length), places: placesOf(all, sequences.length) };
}

function askBucket(request: WireRequest, key: string, sequences: readonly ConversationSeq[]): void {
  request.command(2 + sequences.length);
  request.words(HMGET);
  request.ascii(key);
  for (const seq of sequences) request.number(seq);
}

/** What of a plan lies in one bucket. */
interface BucketGroup {
  readonly sequences: ConversationSeq[];
  /** In `ReadingPlan.sequences`. */
  readonly indexes: number[];
}

function placesOf(groups: readonly BucketGroup[], length: number): number[] {
  const places = new Array<number>(length).fill(0);
  let place = 0;
  for (const { indexes } of groups) for (const i of indexes) places[i] = place++;
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

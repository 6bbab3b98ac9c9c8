/**
 * Both rounds of a page over the wire: the commands of summaries.ts and reads.ts, in the same order, read in place.
 *
 * It answers with undefined when the wire did, or when a reply has not the form of a sound store: summaries.ts then asks
 * over the ordinary connection, and only what that one finds is told of anyone's data.
 */
import { EXACT_UNREAD_SCAN_LIMIT, WIRE_PIECE_CONVERSATIONS } from '@qim/proto';
import { sequenceFromBytes } from '../message/bytes.js';
import { parseMember } from '../message/facts.js';
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
import { bucketOf, KEY_NAMES } from './keys.js';
import type { PlaceBytes } from './place-bytes.js';
import type { Wire } from './wire.js';
import { LastText, WireFacts } from './wire-facts.js';
import { type Replies, UnexpectedReply } from './wire-replies.js';
import { encodedWords, type WireRequest } from './wire-request.js';

type Plan = ReadingPlan | AnsweredPlan;

const FACTS_HEAD = encodedWords(['HGETALL'], 2);
const NEWEST_HEAD = encodedWords(['ZRANGE'], 5);
const NEWEST_TAIL = encodedWords(['-1', '-1', 'WITHSCORES']);
const WINDOW_HEAD = encodedWords(['ZRANGEBYLEX'], 7);
const WINDOW_TAIL = encodedWords(['+', 'LIMIT', '0', String(EXACT_UNREAD_SCAN_LIMIT)]);
const MEMBER_HEAD = encodedWords(['HGET'], 3);
const HMGET = encodedWords(['HMGET']);
const [FACTS, HISTORY, MEMBERS, RECORDS] = [KEY_NAMES.facts, KEY_NAMES.history, KEY_NAMES.members, KEY_NAMES.records].map((name) =>
  Buffer.from(name, 'latin1'),
) as [Buffer, Buffer, Buffer, Buffer];
const FIRST_ROUND_COMMANDS = 4;
/** Of one conversation in the first round, about; and of one record in the second. */
const FIRST_BYTES = 512;
const RECORD_BYTES = 12;
const RECORDS_BYTES = 96;
const ZERO = 48;

/**
 * Undefined: ask over the ordinary connection. A page is asked for in pieces, all of the first round at once, and the
 * second round of each as soon as its first one was answered: Redis works on one piece while another one is read.
 * @throws StoreUnavailable
 */
export async function readByWire(
  { wire, keys }: RedisContext,
  scope: ReadingScope,
  states: readonly ConversationState[],
  confirmed: boolean,
): Promise<(ConversationReading | 'again')[] | undefined> {
  if (wire === undefined || states.length === 0) return undefined;
  const [facts, members] = [new WireFacts(), new LastText(parseMember)];
  const page: Page = { wire, place: keys.placeBytes(), scope, confirmed, facts, members, begun: 0 };
  const pieces = await Promise.all(piecesOf(states).map((piece) => readPiece(page, piece)));
  const readings: (ConversationReading | 'again')[] = [];
  for (const piece of pieces) {
    if (piece === undefined) return undefined;
    readings.push(...piece);
  }
  return readings;
}

interface Page {
  readonly wire: Wire;
  readonly place: PlaceBytes;
  readonly scope: ReadingScope;
  readonly confirmed: boolean;
  readonly facts: WireFacts;
  readonly members: LastText<ReturnType<typeof parseMember>>;
  /** Rounds of which a piece was asked for. */
  begun: number;
}

/** Of the round's pieces the first one, which counts as the round. */
function begins(page: Page, round: 1 | 2): boolean {
  const first = page.begun < round;
  page.begun = Math.max(page.begun, round);
  return first;
}

function piecesOf(states: readonly ConversationState[]): (readonly ConversationState[])[] {
  const pieces: (readonly ConversationState[])[] = [];
  for (let from = 0; from < states.length; from += WIRE_PIECE_CONVERSATIONS)
    pieces.push(states.slice(from, from + WIRE_PIECE_CONVERSATIONS));
  return pieces;
}

async function readPiece(page: Page, states: readonly ConversationState[]): Promise<(ConversationReading | 'again')[] | undefined> {
  const plans = await firstRound(page, states);
  return plans && secondRound(page, plans);
}

function firstRound(page: Page, states: readonly ConversationState[]): Promise<Plan[] | undefined> {
  const { wire, scope, place } = page;
  const request = wire.request(FIRST_BYTES * states.length);
  const member = encodedWords([scope.user.userId]);
  for (const { conversationId, watermark } of states) {
    place.set(scope.tenantId, conversationId);
    request.words(FACTS_HEAD);
    request.key(FACTS, place);
    request.words(NEWEST_HEAD);
    request.key(HISTORY, place);
    request.words(NEWEST_TAIL);
    request.words(WINDOW_HEAD);
    request.key(HISTORY, place);
    request.after(watermark);
    request.words(WINDOW_TAIL);
    request.words(MEMBER_HEAD);
    request.key(MEMBERS, place);
    request.words(member);
    request.group(FIRST_ROUND_COMMANDS);
  }
  const read = (replies: Replies, i: number): Plan => planFrom(page, states[i] as ConversationState, replies);
  return wire.round(request, read, begins(page, 1));
}

function planFrom({ scope, facts, members }: Page, state: ConversationState, replies: Replies): Plan {
  return planReading(scope, state, {
    facts: facts.read(replies),
    newest: newestFrom(replies),
    window: windowFrom(replies),
    member: replies.value() ? members.of(replies) : undefined,
  });
}

function newestFrom(replies: Replies): { readonly sequence: IndexMember; readonly score: number } | undefined {
  if (replies.array() === 0) return undefined;
  const sequence = memberFrom(replies);
  replies.value();
  const zero = replies.length === 1 && replies.bytes[replies.start] === ZERO;
  return { sequence, score: zero ? 0 : Number.NaN };
}

function windowFrom(replies: Replies): IndexMember[] {
  const window: IndexMember[] = [];
  for (let left = replies.array(); left > 0; left -= 1) window.push(memberFrom(replies));
  return window;
}

function memberFrom(replies: Replies): IndexMember {
  if (!replies.value()) throw new UnexpectedReply('nil in an index');
  return sequenceFromBytes(replies.bytes, replies.start, replies.length);
}

/** The records of a plan, as they were asked for. */
interface Asked {
  readonly plan: ReadingPlan;
  /** In `plans`. */
  readonly at: number;
  /** How many sequences, one after the other, each command asks for. */
  readonly runs: readonly number[];
}

async function secondRound(page: Page, plans: readonly Plan[]): Promise<(ConversationReading | 'again')[] | undefined> {
  const { wire, scope, place, confirmed } = page;
  let [reads, records] = [0, 0];
  for (const plan of plans) {
    if (plan.kind === 'answered') continue;
    reads += 1;
    records += plan.sequences.length;
  }
  if (reads === 0) return plans.map((plan) => (plan as AnsweredPlan).reading);
  const request = wire.request(RECORDS_BYTES * reads + RECORD_BYTES * records);
  const asked: Asked[] = [];
  for (const [at, plan] of plans.entries()) {
    if (plan.kind === 'answered') continue;
    place.set(scope.tenantId, plan.state.conversationId);
    asked.push({ plan, at, runs: askRecords(request, place, plan) });
  }
  const finish = (replies: Replies, i: number) => finished(scope, asked[i] as Asked, replies, confirmed);
  const read = await wire.round(request, finish, begins(page, 2));
  if (read === undefined || reads === plans.length) return read;
  const readings = plans.map((plan): ConversationReading | 'again' => (plan.kind === 'answered' ? plan.reading : 'again'));
  for (const [i, { at }] of asked.entries()) readings[at] = read[i] ?? 'again';
  return readings;
}

/** One HMGET for the sequences, one after the other, that lie in one bucket: at most three. */
function askRecords(request: WireRequest, place: PlaceBytes, { sequences }: ReadingPlan): number[] {
  const runs: number[] = [];
  for (let from = 0; from < sequences.length; ) {
    const bucket = bucketOf(sequences[from] ?? 0);
    let to = from + 1;
    while (to < sequences.length && bucketOf(sequences[to] ?? 0) === bucket) to += 1;
    request.command(2 + to - from);
    request.words(HMGET);
    request.key(RECORDS, place, bucket);
    for (let i = from; i < to; i += 1) request.number(sequences[i] ?? 0);
    runs.push(to - from);
    from = to;
  }
  request.group(runs.length);
  return runs;
}

function finished(scope: ReadingScope, { plan, runs }: Asked, replies: Replies, confirmed: boolean): ConversationReading | 'again' {
  const start = replies.position;
  for (const run of runs) {
    if (replies.array() !== run) throw new UnexpectedReply('another number of fields');
    replies.skip(run);
  }
  const [first = 0, second = 0] = runs;
  const read: ReadRecord = (index, header) => {
    // Each run has the array's own mark before it.
    const arrays = index < first ? 1 : index < first + second ? 2 : 3;
    if (!replies.valueAt(start + 2 * (index + arrays))) return 'recordMissing';
    return header.load(replies.bytes, replies.start, replies.length);
  };
  return finishReading(scope, plan, read, confirmed);
}

/**
 * Heads and unread counts in two rounds (seed, section 4): what is read is here, what it means is message/summaries.ts.
 *
 * Round 1 asks for facts, newest member, window and member entry of each conversation, in that order: facts that are
 * older than the index can be told from a lost end of the index, and the member entry is read after the data. Round 2
 * asks for the records that round 1 made necessary. A conversation that looked damaged is read once more, in two further
 * rounds for all such together.
 */
import { assert, EXACT_UNREAD_SCAN_LIMIT, LIST_PAGE_SIZE_MAX, type TenantId, type UserId } from '@qim/proto';
import { sequenceFromBytes } from '../message/bytes.js';
import {
  type AnsweredPlan,
  type FirstRound,
  finishReading,
  planReading,
  type ReadingPlan,
  type ReadingScope,
  readingScope,
  recordsIn,
} from '../message/summaries.js';
import type { ConversationReading, ConversationState } from '../message/summary.js';
import type { Command, Reply } from './connection.js';
import type { RedisContext } from './context.js';
import {
  type BucketRead,
  bucketRead,
  factsCommand,
  factsFrom,
  memberCommand,
  memberFrom,
  membersAfterCommand,
  membersFrom,
  newestCommand,
  newestFrom,
} from './reads.js';
import { readByWire } from './wire-pages.js';

const FIRST_ROUND_COMMANDS = 4;

/** @throws StoreUnavailable */
export async function readConversations(
  context: RedisContext,
  tenantId: TenantId,
  userId: UserId,
  states: readonly ConversationState[],
): Promise<readonly ConversationReading[]> {
  assert(states.length <= LIST_PAGE_SIZE_MAX, 'a page has at most LIST_PAGE_SIZE_MAX conversations');
  const scope = readingScope(tenantId, userId);
  const readings = await readOnce(context, scope, states, false);
  const again = states.filter((_, i) => readings[i] === 'again');
  for (const _ of again) context.observer.redo?.();
  const confirmed = (await readOnce(context, scope, again, true)).values();
  return readings.map((reading) => {
    const settled = reading === 'again' ? confirmed.next().value : reading;
    assert(settled !== undefined && settled !== 'again', 'a confirmed reading is an answer');
    if (settled.kind === 'damaged') context.observer.damage?.(settled.error.detail.reason);
    return settled;
  });
}

/** Both rounds. No state costs no command. */
async function readOnce(
  context: RedisContext,
  scope: ReadingScope,
  states: readonly ConversationState[],
  confirmed: boolean,
): Promise<(ConversationReading | 'again')[]> {
  const fast = await readByWire(context, scope, states, confirmed);
  if (fast !== undefined) return fast;
  const plans = await firstRound(context, scope, states);
  const reads = plans.map((plan) => (plan.kind === 'read' ? recordsOf(context, scope, plan) : undefined));
  const replies = await context.connection.pipeline(reads.flatMap((read) => read?.commands ?? []));
  let at = 0;
  return plans.map((plan, i) => {
    const read = reads[i];
    if (plan.kind === 'answered' || read === undefined) return (plan as AnsweredPlan).reading;
    const own = replies.slice(at, at + read.commands.length);
    at += own.length;
    return finishReading(scope, plan, recordsIn(read.valuesFrom(own)), confirmed);
  });
}

async function firstRound(
  { connection, keys }: RedisContext,
  scope: ReadingScope,
  states: readonly ConversationState[],
): Promise<(ReadingPlan | AnsweredPlan)[]> {
  const commands = states.flatMap(({ conversationId, watermark }): Command[] => {
    const own = keys.conversation(scope.tenantId, conversationId);
    return [
      factsCommand(own),
      newestCommand(own),
      membersAfterCommand(own, watermark, EXACT_UNREAD_SCAN_LIMIT),
      memberCommand(own, scope.user.userId),
    ];
  });
  const replies = await connection.pipeline(commands);
  return states.map((state, i) => planFrom(scope, state, replies.slice(i * FIRST_ROUND_COMMANDS, (i + 1) * FIRST_ROUND_COMMANDS)));
}

function planFrom(scope: ReadingScope, state: ConversationState, replies: readonly Reply[]): ReadingPlan | AnsweredPlan {
  const [facts, newest, window, member] = replies;
  return planReading(scope, state, {
    facts: factsFrom(facts),
    newest: newestSequence(newestFrom(newest)),
    window: windowSequences(membersFrom(window)),
    member: memberFrom(member),
  });
}

function newestSequence(newest: ReturnType<typeof newestFrom>): FirstRound['newest'] {
  if (newest === undefined || typeof newest === 'string') return newest;
  return { sequence: sequenceFromBytes(newest.member), score: newest.score };
}

function windowSequences(window: ReturnType<typeof membersFrom>): FirstRound['window'] {
  return typeof window === 'string' ? window : window.map((member) => sequenceFromBytes(member));
}

function recordsOf({ keys }: RedisContext, scope: ReadingScope, plan: ReadingPlan): BucketRead {
  const own = keys.conversation(scope.tenantId, plan.state.conversationId);
  return bucketRead((bucket) => own.records(bucket), plan.sequences);
}

/**
 * The conversation list's reads. One conversation comes from one snapshot, so there is nothing to redo: what the
 * evaluator finds wrong is wrong. Values are read where LMDB puts them, one after the other, and none is copied.
 */
import { type ConversationSeq, type CorruptReason, EXACT_UNREAD_SCAN_LIMIT, parseConversationSeq, SEQ_ZERO } from '@qim/proto';
import { sequenceFromBytes } from '../message/bytes.js';
import { parseMember } from '../message/facts.js';
import { finishReading, type IndexMember, planReading, type ReadingScope, type ReadRecord } from '../message/summaries.js';
import type { ConversationReading, ConversationState, MemberEntry } from '../message/summary.js';
import type { Snapshot } from './environment.js';
import { ListKeys } from './list-keys.js';
import { decodeFacts, textFrom } from './values.js';

/** At most EXACT_UNREAD_SCAN_LIMIT + 2 records are read. `keys`: of the scope's user, to be used again. */
export function readConversationState(
  snapshot: Snapshot,
  scope: ReadingScope,
  state: ConversationState,
  keys = new ListKeys(scope.user.userId),
): { readonly reading: ConversationReading; readonly recordsRead: number } {
  keys.set(scope.tenantId, state.conversationId);
  const facts = decodeFacts(snapshot.peek(keys.facts));
  const plan = planReading(scope, state, {
    facts,
    ...readIndex(snapshot, keys, state.watermark, typeof facts === 'object' ? facts.lastSequence : SEQ_ZERO),
    member: memberFrom(snapshot.peek(keys.member)),
  });
  if (plan.kind === 'answered') return { reading: plan.reading, recordsRead: 0 };
  const { sequences } = plan;
  const read: ReadRecord = (index, header) => {
    const bytes = snapshot.peek(keys.record(sequences[index] ?? SEQ_ZERO));
    return bytes === undefined ? 'recordMissing' : header.load(bytes);
  };
  const reading = finishReading(scope, plan, read, true);
  if (reading === 'again') throw new Error('a confirmed reading was asked for again');
  return { reading, recordsRead: sequences.length };
}

function memberFrom(value: Uint8Array | undefined): MemberEntry | CorruptReason | undefined {
  return value === undefined ? undefined : parseMember(textFrom(value));
}

interface Index {
  /** What stands at its end; undefined: there is no index. */
  readonly newest: { readonly sequence: IndexMember; readonly score: 0 } | undefined;
  /** Past the watermark, the first EXACT_UNREAD_SCAN_LIMIT. */
  readonly window: readonly IndexMember[];
}

/**
 * One range where that shows both: it begins before the last sequence that the facts know, so that it holds the end of a
 * sound index, also when nothing lies past the watermark.
 */
function readIndex(snapshot: Snapshot, keys: ListKeys, watermark: ConversationSeq, last: ConversationSeq): Index {
  const before = last > watermark || last === SEQ_ZERO ? watermark : parseConversationSeq(last - 1);
  const range = { start: keys.indexAfter(before), end: keys.indexEnd };
  let members = snapshot.keys(range, EXACT_UNREAD_SCAN_LIMIT + 1);
  const whole = members.length > 0 && members.length <= EXACT_UNREAD_SCAN_LIMIT;
  const newest = whole ? members.at(-1) : snapshot.keys(keys.wholeIndex, 1, 'descending')[0];
  if (before !== watermark) {
    const start = keys.indexAfter(watermark);
    members = whole
      ? members.filter((member) => member.compare(start) >= 0)
      : snapshot.keys({ start, end: keys.indexEnd }, EXACT_UNREAD_SCAN_LIMIT);
  }
  const sequenceOf = (member: Buffer): IndexMember => sequenceFromBytes(member, keys.prefixBytes, member.length - keys.prefixBytes);
  return {
    newest: newest && { sequence: sequenceOf(newest), score: 0 },
    window: members.slice(0, EXACT_UNREAD_SCAN_LIMIT).map(sequenceOf),
  };
}

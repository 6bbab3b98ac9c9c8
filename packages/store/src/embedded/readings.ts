/**
 * The conversation list's reads. One conversation comes from one snapshot, so there is nothing to redo: what the
 * evaluator finds wrong is wrong.
 */
import { EXACT_UNREAD_SCAN_LIMIT } from '@qim/proto';
import { sequenceFromBytes } from '../message/bytes.js';
import { finishReading, planReading, type ReadingScope, recordsIn } from '../message/summaries.js';
import type { ConversationReading, ConversationState } from '../message/summary.js';
import { ConversationReads } from './conversation-reads.js';
import type { Snapshot } from './environment.js';

/** At most EXACT_UNREAD_SCAN_LIMIT + 2 records are read. */
export function readConversationState(
  snapshot: Snapshot,
  scope: ReadingScope,
  state: ConversationState,
): { readonly reading: ConversationReading; readonly recordsRead: number } {
  const reads = new ConversationReads(snapshot, scope.tenantId, state.conversationId);
  const newest = reads.newestMember();
  const plan = planReading(scope, state, {
    facts: reads.storedFacts(),
    newest: newest === undefined ? undefined : { sequence: sequenceFromBytes(newest), score: 0 },
    window: reads.membersAfter(state.watermark, EXACT_UNREAD_SCAN_LIMIT).map((member) => sequenceFromBytes(member)),
    member: reads.storedMember(scope.user.userId),
  });
  if (plan.kind === 'answered') return { reading: plan.reading, recordsRead: 0 };
  const records = reads.recordsBytes(plan.sequences);
  const reading = finishReading(scope, plan, recordsIn(records), true);
  if (reading === 'again') throw new Error('a confirmed reading was asked for again');
  return { reading, recordsRead: records.length };
}

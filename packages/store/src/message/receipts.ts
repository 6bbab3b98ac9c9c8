/** Read receipts: who may know of whose read mark. One rule for what is told as marks rise, and for what is asked later. */
import type { ConversationSeq } from '@qim/proto';
import type { MemberEntry } from './summary.js';

/** A mark below one's own joining, or what one may see, tells of nothing that was read. */
export function tellsOfReading({ joinedSeq, visibleFrom }: MemberEntry, mark: ConversationSeq): boolean {
  return mark >= joinedSeq && mark >= visibleFrom;
}

/** Of the other members whoever sees what was read. */
export function mayKnowOfReading({ visibleFrom }: MemberEntry, mark: ConversationSeq): boolean {
  return visibleFrom <= mark;
}

/**
 * What is unread.
 *
 * A message is unread for a user when it lies past the user's unread floor and this function says that it counts. The
 * floor is the greatest of the read mark, the sequence before joining, and what the user cleared (data-model, Two
 * floors). The count is exact while the *distance* from floor to head is at most EXACT_UNREAD_SCAN_LIMIT, and says that
 * it is not past it. There is no other rule in qim, and no counter anywhere: every badge is this function over records.
 */
import { MessageStatus, MessageType, type UserId } from '@qim/proto';

/** What of a record decides; every backend's decoded header has it. */
export interface UnreadCandidate {
  readonly senderUserId: UserId;
  readonly type: MessageType;
  readonly status: MessageStatus;
}

/** own: sent by the user from any device; counted: everything visible that another one said, unknown types included. */
export type UnreadVerdict = 'counted' | 'own' | 'control' | 'recalled' | 'deleted';

/** Source: seed, section 4. `own`: the sender is the user; whoever reads many records compares the bytes. */
export function judge(type: MessageType, status: MessageStatus, own: boolean): UnreadVerdict {
  if (type === MessageType.Control) return 'control';
  if (own) return 'own';
  if (status === MessageStatus.Recalled) return 'recalled';
  if (status === MessageStatus.Deleted) return 'deleted';
  return 'counted';
}

export function judgeUnread(record: UnreadCandidate, userId: UserId): UnreadVerdict {
  return judge(record.type, record.status, record.senderUserId === userId);
}

export function countsAsUnread(record: UnreadCandidate, userId: UserId): boolean {
  return judgeUnread(record, userId) === 'counted';
}

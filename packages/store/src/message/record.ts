/** How records come to be: from a commit, and from an amendment. Pure; what the step knows arrives as an argument. */
import { createHash } from 'node:crypto';
import { type ActivityId, assert, type ConversationSeq, type MessageRecord, MessageStatus, parseActivityId } from '@qim/proto';
import { sameFingerprint } from './dedup-entry.js';
import { requestFingerprint } from './fingerprint.js';
import type { AmendRequest, CommitRequest } from './message-store.js';

export interface CommitStamp {
  readonly conversationSeq: ConversationSeq;
  readonly prevSequence: ConversationSeq;
  readonly committedAtMs: number;
}

export function committedRecord(request: CommitRequest, stamp: CommitStamp): MessageRecord {
  return {
    tenantId: request.tenantId,
    conversationId: request.conversationId,
    conversationSeq: stamp.conversationSeq,
    prevSequence: stamp.prevSequence,
    messageId: request.messageId,
    activityId: request.activityId,
    sender: request.sender,
    clientMessageId: request.clientMessageId,
    type: request.type,
    status: MessageStatus.Normal,
    revision: 0,
    committedAtMs: stamp.committedAtMs,
    amendedAtMs: 0,
    mentions: request.mentions,
    replyTo: request.replyTo,
    content: request.content,
  };
}

/** Recalled and Deleted are final, and hold nothing of what was said. */
export function isErased(status: MessageStatus): boolean {
  return status === MessageStatus.Recalled || status === MessageStatus.Deleted;
}

/** An edit to what the message says already, or a recall of what is recalled: nothing is to be written. */
export function changesNothing(request: AmendRequest): boolean {
  const { target, status } = request;
  if (isErased(status) || isErased(target.status)) return target.status === status;
  const said = requestFingerprint(target);
  return sameFingerprint(said, requestFingerprint({ ...target, content: request.content, mentions: request.mentions }));
}

/**
 * The newest record as retention leaves it when its time has come: deleted by nobody. Its activityId is made of the old
 * one alone, so that every backend makes the same. `now` in Unix milliseconds.
 */
export function expiredRecord(target: MessageRecord, now: number): MessageRecord {
  return {
    ...target,
    activityId: followingActivityId(target.activityId),
    status: MessageStatus.Deleted,
    revision: target.revision + 1,
    amendedAtMs: Math.max(now, target.committedAtMs, target.amendedAtMs),
    mentions: { userIds: [], all: false },
    replyTo: undefined,
    content: { kind: 'none' },
  };
}

/** A UUIDv7 of the same time, its random part hashed. */
function followingActivityId(activityId: ActivityId): ActivityId {
  const hash = createHash('sha256').update(activityId).digest('hex');
  return parseActivityId(
    `${activityId.slice(0, 15)}${hash.slice(0, 3)}-${activityId.slice(19, 20)}${hash.slice(3, 6)}-${hash.slice(6, 18)}`,
  );
}

/**
 * The target as it stands after the amendment; erased by a recall or delete whatever the request carries. `now` in Unix
 * milliseconds; amendedAtMs never lies before the commit or an earlier amendment.
 */
export function amendedRecord(request: AmendRequest, now: number): MessageRecord {
  const { target } = request;
  assert(!isErased(target.status), 'the caller has refused to amend what is final');
  const erased = isErased(request.status);
  return {
    ...target,
    activityId: request.activityId,
    status: request.status,
    revision: target.revision + 1,
    amendedAtMs: Math.max(now, target.committedAtMs, target.amendedAtMs),
    mentions: erased ? { userIds: [], all: false } : request.mentions,
    replyTo: erased ? undefined : target.replyTo,
    content: erased ? { kind: 'none' } : request.content,
  };
}

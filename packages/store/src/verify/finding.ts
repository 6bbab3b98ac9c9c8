/**
 * What the verifier can find, each under a code that stays what it is: reports and scripts are built on them. One line
 * for each, as docs/fsck.md lists them (a test compares the two).
 */
import type { ConversationId, ConversationSeq, TenantId, UserId } from '@qim/proto';

export const FINDING_CODES = {
  factsMissing: 'something of a conversation is stored, and its facts are not',
  factsUnreadable: 'the facts of a conversation cannot be understood',
  headWrong: 'the facts name another newest record than there is',
  previewWrong: 'the facts name another newest message for lists than there is',
  commitTimeWrong: 'the newest record was committed at another time than the facts say',
  retainedFromWrong: 'the facts say that retention removed a record which is there',
  wrongType: 'a key has another type than it must have (Redis)',
  unsupportedVersion: 'a newer qim wrote it',
  indexMissing: 'a conversation has records and no index',
  indexMemberMissing: 'a record is not in the index',
  indexMemberExtra: 'the index names a record that never was',
  indexMemberInvalid: 'a member of the index is no sequence, or has a score',
  recordMissing: 'a record that index, chain or facts vouch for is not there',
  recordUnreadable: 'a record is damaged',
  recordMismatch: 'a whole record stands in the place of another one',
  recordLeftOver: 'what is stored under a sequence belongs to no record of the conversation',
  chainBroken: 'a record does not name the record before it',
  commitTimeBack: 'a record was committed before the one before it',
  bodyMissing: 'the body of a record is not there',
  bodyUnreadable: 'the body of a record is damaged, or of another record or revision',
  bodyLeftOver: 'a body belongs to no record',
  amendmentMissing: 'an amended message has no amendments entry',
  amendmentWrong: 'an amendments entry is no such entry, or has the number of another, or one past the facts',
  amendmentLeftOver: 'an amendments entry names a message that was not amended, or is not there',
  reactionsUnreadable: 'the reactions beside a record are damaged, or of another message',
  reactionsLeftOver: 'reactions stand beside a record that has none: it is not there, or its content was erased',
  memberUnreadable: 'the entry of a member cannot be understood',
  memberAhead: 'a member joined after the newest record',
  memberMissing: 'one of the two of a direct conversation is no member',
  memberLeftOver: 'a member of a direct conversation is none of the two',
  dedupUnreadable: 'a de-duplication entry cannot be understood',
  dedupLeftOver: 'a de-duplication entry names a record that is not there, or another one',
  viewMissing: "a member's list does not know the conversation",
  viewUnreadable: 'the view entry of a user cannot be understood',
  viewWrong: 'a view entry has another floor than the member entry',
  viewAhead: 'a view entry is past the newest record',
  viewLeftOver: 'a view entry names a conversation that the user is not in',
  listEntryMissing: "a conversation is missing from the order of a member's list",
  listEntryWrong: 'an entry in the order of a list is no such entry, or is there twice',
  listEntryLeftOver: 'a list orders a conversation that the user is not in',
  orderBehind: "a list orders a conversation before its newest record's time",
  readMarkUnreadable: 'a read mark cannot be understood',
  readMarkAhead: 'a read mark is past the newest record',
  readMarkLeftOver: 'a read mark names no conversation',
  pinWrong: 'a pin has no time, or is of a conversation that is hidden',
  pinLeftOver: 'a pin is of a conversation that the user is not in',
  profileUnreadable: 'the profile of a user cannot be understood',
  blockLeftOver: 'a user has blocked what is no user',
  answerDiffers: 'what the service answers is not what the records say',
} as const;

export type FindingCode = keyof typeof FINDING_CODES;

export interface ConversationPlace {
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
}

export interface UserPlace {
  readonly tenantId: TenantId;
  readonly userId: UserId;
}

export interface Finding {
  readonly code: FindingCode;
  readonly tenantId: TenantId;
  /** Undefined only where what is stored names none. */
  readonly conversationId: ConversationId | undefined;
  /** Whose entry it is; undefined: it is no user's. */
  readonly userId: UserId | undefined;
  /** Undefined: it is not at one record. */
  readonly conversationSeq: ConversationSeq | undefined;
  /** For people: what is wrong, without content of messages. */
  readonly what: string;
}

/** Two findings of two passes are the same one. */
export function findingKey({ code, tenantId, conversationId, userId, conversationSeq, what }: Finding): string {
  return JSON.stringify([code, tenantId, conversationId, userId, conversationSeq, conversationSeq === undefined ? what : '']);
}

/** The ways in which tests damage a store, and what they aim at. */
import type { ConversationId, ConversationSeq, TenantId, UserId } from '@qim/proto';

/** Of the record with `conversationSeq`. */
export const RECORD_DAMAGE_KINDS = [
  'recordMissing',
  /** Its last byte is cut off. */
  'recordTruncated',
  'recordBitFlipped',
  /** The bytes of the record before or after it stand in its place. */
  'recordOfAnother',
  /** Whole and with a right checksum, but of the next tenant, another conversation, or the next sequence. */
  'recordOtherTenant',
  'recordOtherConversation',
  'recordOtherSequence',
  /** Whole and with a right checksum. */
  'recordUnknownStatus',
  'recordUnknownVersion',
  /** Only where the body is apart. */
  'bodyMissing',
  'bodyBitFlipped',
  /** The sequence is taken out of the index. */
  'indexMemberMissing',
] as const;

/** Of the whole conversation. */
export const CONVERSATION_DAMAGE_KINDS = [
  'indexKeyMissing',
  /** One past the newest, without a record. */
  'indexMemberExtra',
  /** The newest member is cut to 7 bytes. */
  'indexMemberShort',
  /** The newest member's score becomes 1. */
  'indexScoreNonZero',
  /** The index is a string. */
  'indexWrongType',
  'factsMissing',
  /** The facts stand and cannot be understood. */
  'factsUnreadable',
  /** lastSequence is one more. */
  'factsAhead',
  /** lastSequence is one less: lists take it for a commit between two reads; a commit and the verifier notice. */
  'factsBehind',
  /** previewSequence names a record far past the head. */
  'previewPointerWrong',
  /** The entry of `userId`. */
  'memberUnreadable',
] as const;

/** There is no such thing on the embedded store. */
export const REDIS_ONLY_DAMAGE_KINDS = ['indexScoreNonZero', 'indexWrongType'] as const;

export const DAMAGE_KINDS = [...RECORD_DAMAGE_KINDS, ...CONVERSATION_DAMAGE_KINDS] as const;
export type RecordDamageKind = (typeof RECORD_DAMAGE_KINDS)[number];
export type DamageKind = (typeof DAMAGE_KINDS)[number];

export interface ConversationTarget {
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
}

export interface DamageTarget extends ConversationTarget {
  /** For the kinds of RECORD_DAMAGE_KINDS. */
  readonly conversationSeq?: ConversationSeq;
  /** For memberUnreadable. */
  readonly userId?: UserId;
}

/** A store as `qim serve` is told of it. */
export interface StoreLocation {
  /** `embedded` or a redis:// URL. */
  readonly store: string;
  /** The data folder. */
  readonly data: string;
}

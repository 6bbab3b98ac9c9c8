/**
 * What an archive holds, as values: one line for each stored thing, the same whatever store it came from (docs/archive.md).
 *
 * Bytes are the stored forms of docs/storage.md and are not looked into. A line of a part belongs to the conversation or
 * user of the last `conversation` or `user` line before it; the rest name their owners themselves.
 */
import type { ClientMessageId, ConversationId, ConversationSeq, TenantId, UserId } from '@qim/proto';
import type { StoredFacts } from '../message/facts.js';
import type { MemberEntry } from '../message/summary.js';
import type { OutboxKind } from '../outbox/outbox.js';
import type { ConversationPlace, UserPlace } from '../verify/finding.js';

/** `facts` undefined: the conversation goes on, from the chunk before. */
export interface ConversationLine extends ConversationPlace {
  readonly kind: 'conversation';
  readonly facts: StoredFacts | undefined;
}

/** `continued`: from the chunk before. */
export interface UserLine extends UserPlace {
  readonly kind: 'user';
  readonly continued: boolean;
}

/** What stands under one sequence. */
export interface RecordLine {
  readonly kind: 'record';
  readonly sequence: ConversationSeq;
  readonly indexed: boolean;
  /** Undefined: there is none, which is damage that the archive carries on. */
  readonly record: Uint8Array | undefined;
  readonly body: Uint8Array | undefined;
}

export type ConversationPart =
  | RecordLine
  | { readonly kind: 'member'; readonly userId: UserId; readonly entry: MemberEntry }
  | { readonly kind: 'amendment'; readonly sequence: ConversationSeq; readonly number: number }
  | { readonly kind: 'reactions'; readonly sequence: ConversationSeq; readonly bytes: Uint8Array }
  | {
      readonly kind: 'dedup';
      readonly sender: UserId;
      readonly clientMessageId: ClientMessageId;
      /** Whole weeks since the Unix epoch. */
      readonly week: number;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'skipped'; readonly epoch: number; readonly from: number; readonly through: number }
  | { readonly kind: 'aside'; readonly id: string; readonly bytes: Uint8Array };

export type UserPart =
  | {
      readonly kind: 'entry';
      readonly conversationId: ConversationId;
      /** As it is stored; undefined: there is none. */
      readonly view: string | undefined;
      readonly listedAtMs: number | undefined;
      readonly readMark: string | undefined;
      readonly pinnedAtMs: number | undefined;
    }
  | { readonly kind: 'profile'; readonly text: string }
  | { readonly kind: 'blocked'; readonly userId: UserId }
  /** A device; empty: the whole user. */
  | { readonly kind: 'suspended'; readonly device: string };

/** `left`: when a tombstone was written; of the embedded store the last millisecond of its week. */
export type OtherLine =
  | {
      readonly kind: 'left';
      readonly tenantId: TenantId;
      readonly userId: UserId;
      readonly conversationId: ConversationId;
      readonly atMs: number;
    }
  | {
      readonly kind: 'groupRequest';
      readonly tenantId: TenantId;
      readonly userId: UserId;
      readonly clientRequestId: string;
      readonly week: number;
      readonly conversationId: ConversationId;
    }
  /** `number`: 0 for the oldest of the tenant. */
  | { readonly kind: 'report'; readonly tenantId: TenantId; readonly number: number; readonly text: string }
  /** What the webhook is still to be told; the times of these lines never go back. */
  | {
      readonly kind: 'untold';
      readonly tenantId: TenantId;
      readonly conversationId: ConversationId;
      readonly of: OutboxKind;
      readonly conversationSeq: ConversationSeq;
      readonly committedAtMs: number;
    }
  /** Committed, and not yet delivered. */
  | {
      readonly kind: 'undelivered';
      readonly tenantId: TenantId;
      readonly conversationId: ConversationId;
      readonly of: OutboxKind;
      readonly conversationSeq: ConversationSeq;
    };

export type ContextLine = ConversationLine | UserLine;
export type PartLine = ConversationPart | UserPart;
export type ArchiveLine = ContextLine | PartLine | OtherLine;
export type LineKind = ArchiveLine['kind'];

export const LINE_KINDS: readonly LineKind[] = [
  'conversation',
  'record',
  'member',
  'amendment',
  'reactions',
  'dedup',
  'skipped',
  'aside',
  'user',
  'entry',
  'profile',
  'blocked',
  'suspended',
  'left',
  'groupRequest',
  'report',
  'untold',
  'undelivered',
];

const CONVERSATION_PARTS: ReadonlySet<LineKind> = new Set(['record', 'member', 'amendment', 'reactions', 'dedup', 'skipped', 'aside']);
const USER_PARTS: ReadonlySet<LineKind> = new Set(['entry', 'profile', 'blocked', 'suspended']);

export function isConversationPart(line: ArchiveLine): line is ConversationPart {
  return CONVERSATION_PARTS.has(line.kind);
}

export function isUserPart(line: ArchiveLine): line is UserPart {
  return USER_PARTS.has(line.kind);
}

/** It only says what the lines after it belong to. */
export function isContinued(line: ArchiveLine): boolean {
  return (line.kind === 'conversation' && line.facts === undefined) || (line.kind === 'user' && line.continued);
}

/** How many lines of each kind; what is continued is not counted again. */
export type LineCounts = Readonly<Record<LineKind, number>>;

export function noCounts(): Record<LineKind, number> {
  return Object.fromEntries(LINE_KINDS.map((kind) => [kind, 0])) as Record<LineKind, number>;
}

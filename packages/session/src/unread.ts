/**
 * From what the store read of a conversation to what a user is shown of it. Pure: numbers pass through as they were
 * counted, or there are none.
 *
 * Two floors decide (data-model, Two floors). Counting starts after the unread floor: the read mark, the sequence before
 * joining, or what was cleared, whichever is greatest. Nothing at or below the visibility floor is shown in any form.
 */
import { type Caller, ConversationKind, type ConversationSeq, parseConversationSeq, SEQ_ZERO, type UserId } from '@qim/proto';
import type { ConversationListing, ConversationReading, ConversationView, DamageError, MemberEntry } from '@qim/store';
import type { DamagedConversation, Explanation, SoundConversation } from './contract.js';

type Sound = Extract<ConversationReading, { kind: 'sound' }>;
type Damaged = Extract<ConversationReading, { kind: 'damaged' }>;

export function unreadFloor({
  readSeq,
  joinedSeq,
  clearedSeq,
}: Pick<ConversationView, 'readSeq' | 'joinedSeq' | 'clearedSeq'>): ConversationSeq {
  return parseConversationSeq(Math.max(0, readSeq, joinedSeq - 1, clearedSeq));
}

export function visibilityFloor(member: Pick<MemberEntry, 'visibleFrom'>, clearedSeq: ConversationSeq): ConversationSeq {
  return parseConversationSeq(Math.max(0, member.visibleFrom - 1, clearedSeq));
}

/** `view` is the one whose unread floor was the reading's watermark. */
export function showSound(
  reading: Sound,
  member: MemberEntry,
  view: ConversationView,
  caller: Caller,
  explain: boolean,
): SoundConversation {
  const { summary, listing, evidence } = reading;
  const { kind, title, settings, epoch, amendmentNumber, watermarkAhead, preview, previewDamage } = listing;
  const floor = visibilityFloor(member, view.clearedSeq);
  return {
    conversationId: view.conversationId,
    flags: view.flags,
    damaged: undefined,
    summary,
    readConversationSeq: view.readSeq,
    listing: { kind, title, settings, epoch, amendmentNumber, watermarkAhead },
    peerUserId: peerOf(listing, caller.userId),
    role: member.role,
    preview: preview !== undefined && preview.conversationSeq > floor ? preview : undefined,
    previewDamage: previewDamage !== undefined && mayKnow(previewDamage, floor) ? previewDamage : undefined,
    explanation: explain ? explanation(reading, evidence, view) : undefined,
  };
}

/** Facts that could be read, and no number. */
export function showDamaged({ error, listing, member }: Damaged, view: ConversationView, caller: Caller): DamagedConversation {
  return {
    conversationId: view.conversationId,
    flags: view.flags,
    damaged: error,
    listing: listing && { kind: listing.kind, title: listing.title, settings: listing.settings, epoch: listing.epoch },
    peerUserId: listing && peerOf(listing, caller.userId),
    role: member?.role,
  };
}

function explanation({ summary }: Sound, evidence: Sound['evidence'], view: ConversationView): Explanation {
  return {
    ...evidence,
    readConversationSeq: view.readSeq,
    unreadFloor: unreadFloor(view),
    headConversationSeq: summary.latestConversationSeq,
  };
}

/** The other one; oneself in a note to self; undefined in a group. */
function peerOf({ kind, pair }: Pick<ConversationListing, 'kind' | 'pair'>, userId: UserId): UserId | undefined {
  if (kind !== ConversationKind.Direct) return undefined;
  return pair.find((id) => id !== userId) ?? userId;
}

/** Damage at a record that the caller may not see is not the caller's; one at no record in particular is. */
function mayKnow(damage: DamageError, floor: ConversationSeq): boolean {
  return damage.detail.conversationSeq === SEQ_ZERO || damage.detail.conversationSeq > floor;
}

/** Where one user's number for one conversation comes from, for `qim explain`: the session service's own answer, unwrapped. */
import { type Caller, type ConversationId, isQimError } from '@qim/proto';
import type { ListedConversation, Session, SoundConversation } from '@qim/session';
import type { Store } from '@qim/store';

/** Plain values, so that `--json` prints them as they are. Sequences are numbers; absent ids are null. */
export type ConversationExplanation =
  | { readonly kind: 'noSuchConversation' }
  /** It exists, and the user is not a member (now): nothing of it is shown to the user. */
  | { readonly kind: 'notMember' }
  /** No number is given for it. */
  | { readonly kind: 'damaged'; readonly reason: string; readonly conversationSeq: number; readonly title: string | null }
  | ({ readonly kind: 'sound' } & SoundExplanation);

export interface SoundExplanation {
  readonly conversationKind: number;
  readonly title: string;
  readonly role: number;
  readonly readConversationSeq: number;
  readonly unreadFloor: number;
  readonly headConversationSeq: number;
  readonly lastMessageId: string | null;
  readonly lastActivityId: string | null;
  readonly unreadCount: number;
  readonly unreadExact: boolean;
  /** Null: not counted, because the count is not exact. */
  readonly mentionCount: number | null;
  readonly scanned: number;
  readonly leftOut: { readonly own: number; readonly control: number; readonly recalled: number; readonly deleted: number };
  readonly chainUnbroken: boolean;
  readonly watermarkAhead: boolean;
  /** The word for what is wrong with the preview's record; null: nothing. */
  readonly previewDamage: string | null;
}

/** Cost: that of `GetConversation`; one read more for a user who is not a member. @throws StoreUnavailable */
export async function explainConversation(
  messages: Pick<Store['messages'], 'readConversation'>,
  session: Pick<Session, 'getConversation'>,
  caller: Caller,
  conversationId: ConversationId,
): Promise<ConversationExplanation> {
  try {
    return explained(await session.getConversation(caller, conversationId, true));
  } catch (error) {
    if (!isQimError(error) || error.code !== 'NotMember') throw error;
    const { facts } = await messages.readConversation(caller.tenantId, conversationId, caller.userId);
    return { kind: facts === undefined ? 'noSuchConversation' : 'notMember' };
  }
}

function explained(listed: ListedConversation): ConversationExplanation {
  if (listed.damaged === undefined) return { kind: 'sound', ...soundOf(listed) };
  const { reason, conversationSeq } = listed.damaged.detail;
  return { kind: 'damaged', reason, conversationSeq, title: listed.listing?.title ?? null };
}

function soundOf({ summary, listing, explanation, ...listed }: SoundConversation): SoundExplanation {
  if (explanation === undefined) throw new Error('assertion failed: an explanation was asked for');
  const { own, control, recalled, deleted } = explanation;
  return {
    conversationKind: listing.kind,
    title: listing.title,
    role: listed.role,
    readConversationSeq: explanation.readConversationSeq,
    unreadFloor: explanation.unreadFloor,
    headConversationSeq: explanation.headConversationSeq,
    lastMessageId: summary.lastMessageId ?? null,
    lastActivityId: summary.lastActivityId ?? null,
    unreadCount: summary.unreadCount,
    unreadExact: summary.unreadExact,
    mentionCount: summary.mentionCount ?? null,
    scanned: explanation.scanned,
    leftOut: { own, control, recalled, deleted },
    chainUnbroken: explanation.chainUnbroken,
    watermarkAhead: listing.watermarkAhead,
    previewDamage: listed.previewDamage?.detail.reason ?? null,
  };
}

/**
 * The conversation list: three dependent reads (the user's page, then the two rounds of the store). A damaged
 * conversation is an entry of its own and costs the others nothing; an unanswered read fails the page, because half a
 * page would look like a whole one.
 *
 * The page comes from the user's own keys, which may lag behind a membership; the member entry that was read after the
 * data is what holds. No entry: the user is not a member, and it is dropped, so that a page may be shorter than asked
 * for while more follow. Another floor than the one counted from: that conversation is read once more with the right one.
 */
import {
  type Caller,
  type ConversationId,
  invalidArgument,
  LIST_PAGE_SIZE_DEFAULT,
  LIST_PAGE_SIZE_MAX,
  notMember,
  QimError,
  SEQ_ZERO,
} from '@qim/proto';
import type { ConversationReading, ConversationView } from '@qim/store';
import type { SessionContext } from './context.js';
import type { ListedConversation, ListPage } from './contract.js';
import { decodeListToken, encodeListToken } from './page-token.js';
import { showDamaged, showSound, unreadFloor } from './unread.js';

/** Cost: 3; 5 when a floor had to be corrected. */
export async function listConversations(
  context: SessionContext,
  caller: Caller,
  input: { readonly pageSize: number; readonly pageToken: string; readonly explain: boolean },
): Promise<ListPage> {
  const limit = admitPageSize(input.pageSize);
  const cursor = input.pageToken === '' ? undefined : decodeListToken(caller, input.pageToken);
  const page = await context.directory.page(caller.tenantId, caller.userId, limit, cursor);
  const read = await readViews(context, caller, page.views, input.explain);
  const conversations = read.flatMap((entry) => (entry.kind === 'listed' ? [entry.conversation] : []));
  return {
    conversations,
    nextPageToken: page.next === undefined ? '' : encodeListToken(caller, page.next),
    damagedCount: conversations.filter((conversation) => conversation.damaged !== undefined).length,
  };
}

/**
 * Also for a member whose own list does not have it yet. Cost: 3; 5 when a floor had to be corrected.
 *
 * @throws NotMember | Aborted (left and joined again, over and over, while it was read)
 */
export async function getConversation(
  context: SessionContext,
  caller: Caller,
  conversationId: ConversationId,
  explain: boolean,
): Promise<ListedConversation> {
  const view = await context.directory.view(caller.tenantId, caller.userId, conversationId);
  const [entry] = await readViews(context, caller, [view ?? unlistedView(conversationId)], explain);
  if (entry?.kind === 'unsettled') throw new QimError('Aborted', {}, 'the membership changed while it was read; retry');
  if (entry?.kind !== 'listed') throw notMember();
  // Of a conversation that is not in the user's list, missing facts are no damage: there is no such conversation.
  if (view === undefined && entry.conversation.damaged !== undefined && entry.conversation.role === undefined) throw notMember();
  return entry.conversation;
}

/** notMember: to be dropped. unsettled: its floor moved once more after it was read again. */
export type ReadView =
  | { readonly kind: 'listed'; readonly conversation: ListedConversation }
  | { readonly kind: 'notMember' }
  | { readonly kind: 'unsettled' };
type Judged = ReadView | { readonly kind: 'otherFloor'; readonly view: ConversationView };

/** One for each view, in their order. */
export async function readViews(
  context: SessionContext,
  caller: Caller,
  views: readonly ConversationView[],
  explain: boolean,
): Promise<readonly ReadView[]> {
  const judged = await readOnce(context, caller, views, explain);
  const moved = judged.flatMap((entry) => (entry.kind === 'otherFloor' ? [entry.view] : []));
  const again = (await readOnce(context, caller, moved, explain)).values();
  return judged.map((entry) => {
    const settled = entry.kind === 'otherFloor' ? again.next().value : entry;
    return settled === undefined || settled.kind === 'otherFloor' ? { kind: 'unsettled' } : settled;
  });
}

async function readOnce(
  context: SessionContext,
  caller: Caller,
  views: readonly ConversationView[],
  explain: boolean,
): Promise<readonly Judged[]> {
  if (views.length === 0) return [];
  const states = views.map((view) => ({ conversationId: view.conversationId, watermark: unreadFloor(view) }));
  const readings = await context.messages.readConversations(caller.tenantId, caller.userId, states);
  return views.map((view, index) => judge(reading(readings, index), view, caller, explain));
}

function judge(read: ConversationReading, view: ConversationView, caller: Caller, explain: boolean): Judged {
  if (read.kind === 'damaged') {
    // Facts that are gone are damage whatever the member entry says: they went with it, or it with them.
    const stranger = read.memberKnown && read.member === undefined && read.error.detail.reason !== 'factsMissing';
    return stranger ? { kind: 'notMember' } : { kind: 'listed', conversation: showDamaged(read, view, caller) };
  }
  const { member } = read.listing;
  if (member === undefined) return { kind: 'notMember' };
  const corrected = { ...view, joinedSeq: member.joinedSeq, visibleFrom: member.visibleFrom };
  if (unreadFloor(corrected) !== unreadFloor(view)) return { kind: 'otherFloor', view: corrected };
  return { kind: 'listed', conversation: showSound(read, member, corrected, caller, explain) };
}

function reading(readings: readonly ConversationReading[], index: number): ConversationReading {
  const read = readings[index];
  if (read === undefined) throw new Error('assertion failed: one reading for each state');
  return read;
}

function admitPageSize(pageSize: number): number {
  if (pageSize === 0) return LIST_PAGE_SIZE_DEFAULT;
  if (Number.isInteger(pageSize) && pageSize >= 1 && pageSize <= LIST_PAGE_SIZE_MAX) return pageSize;
  throw invalidArgument('pageSize', `an integer 0..${LIST_PAGE_SIZE_MAX}`);
}

/** What a user has of a conversation whose join has not reached the user's own keys. */
function unlistedView(conversationId: ConversationId): ConversationView {
  const flags = { pinned: false, muted: false, hidden: false, markedUnread: false };
  return {
    conversationId,
    readSeq: SEQ_ZERO,
    joinedSeq: SEQ_ZERO,
    visibleFrom: SEQ_ZERO,
    clearedSeq: SEQ_ZERO,
    memberSeq: SEQ_ZERO,
    flags,
  };
}

/**
 * What the badge of an app shows: unread messages of all conversations together, counted from the records like those of
 * the list. Muted ones are left out. The bounds are told by `exact`, and a damaged conversation is never taken for a quiet one.
 */
import { type Caller, LIST_PAGE_SIZE_MAX, TOTALS_CONVERSATIONS_MAX, TOTALS_PAGES_MAX } from '@qim/proto';
import type { ConversationView, DirectoryCursor } from '@qim/store';
import type { SessionContext } from './context.js';
import type { ListedConversation, Totals } from './contract.js';
import { readViews } from './conversation-list.js';

/**
 * Of the first TOTALS_CONVERSATIONS_MAX unmuted conversations of the list. Cost: 1 for each page of the list, at most
 * TOTALS_PAGES_MAX, and beside them 2, or 4 where a floor had to be corrected.
 */
export async function getTotals(context: SessionContext, caller: Caller): Promise<Totals> {
  const { views, complete } = await unmutedViews(context, caller);
  const batches = Array.from({ length: Math.ceil(views.length / LIST_PAGE_SIZE_MAX) }, (_, i) =>
    views.slice(i * LIST_PAGE_SIZE_MAX, (i + 1) * LIST_PAGE_SIZE_MAX),
  );
  const read = await Promise.all(batches.map((batch) => readViews(context, caller, batch, false)));
  const settled = read.flat();
  const listed = settled.flatMap((entry) => (entry.kind === 'listed' ? [entry.conversation] : []));
  const whole = complete && settled.every(({ kind }) => kind !== 'unsettled');
  return totalsOf(listed, whole);
}

/** Pure. `complete`: there is no other conversation that would count. */
export function totalsOf(conversations: readonly ListedConversation[], complete: boolean): Totals {
  let [unreadConversations, unreadCount, mentionCount, exact] = [0, 0, 0, complete];
  for (const conversation of conversations) {
    if (conversation.damaged !== undefined) {
      exact = false;
      continue;
    }
    const { summary, flags } = conversation;
    if (summary.unreadCount > 0 || flags.markedUnread) unreadConversations += 1;
    unreadCount += summary.unreadCount;
    mentionCount += summary.mentionCount ?? 0;
    exact &&= summary.unreadExact;
  }
  return { unreadConversations, unreadCount, mentionCount, exact };
}

async function unmutedViews(
  context: SessionContext,
  { tenantId, userId }: Caller,
): Promise<{ readonly views: readonly ConversationView[]; readonly complete: boolean }> {
  // By id: one that moves up while one pages is met twice.
  const views = new Map<string, ConversationView>();
  let cursor: DirectoryCursor | undefined;
  for (let pages = 0; pages < TOTALS_PAGES_MAX; pages += 1) {
    const page = await context.directory.page(tenantId, userId, LIST_PAGE_SIZE_MAX, cursor);
    for (const view of page.views) {
      if (view.flags.muted) continue;
      if (views.size === TOTALS_CONVERSATIONS_MAX && !views.has(view.conversationId))
        return { views: [...views.values()], complete: false };
      views.set(view.conversationId, view);
    }
    cursor = page.next;
    if (cursor === undefined) return { views: [...views.values()], complete: true };
  }
  return { views: [...views.values()], complete: false };
}

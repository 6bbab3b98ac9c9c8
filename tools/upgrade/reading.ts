/** All that a store says of the users of a fixture, as one value that JSON holds: what an upgrade may not change. */
import { HISTORY_PAGE_SIZE_MAX, LEGACY_TENANT_ID, LIST_PAGE_SIZE_MAX, type UserId } from '@qim/proto';
import type { ConversationView, Store } from '@qim/store';
import { LOST_PHONE, USERS } from './fill.js';

export async function readingOf(store: Store): Promise<unknown> {
  const { users, hooks } = store;
  const lists: Record<string, unknown> = {};
  for (const userId of USERS) {
    const { views } = await store.directory.page(LEGACY_TENANT_ID, userId, LIST_PAGE_SIZE_MAX, undefined);
    const states = views.map(({ conversationId, readSeq }) => ({ conversationId, watermark: readSeq }));
    const summaries = await store.messages.conversationSummaries(LEGACY_TENANT_ID, userId, states);
    const readings = await store.messages.readConversations(LEGACY_TENANT_ID, userId, states);
    const histories = await Promise.all(views.map((view) => historyOf(store, userId, view)));
    lists[userId] = { views, summaries, readings, histories, blocked: await users.blocked(LEGACY_TENANT_ID, userId) };
  }
  const suspended = await Promise.all(USERS.map((userId) => users.isSuspended(LEGACY_TENANT_ID, userId, LOST_PHONE)));
  const { waiting, dead } = await hooks.backlog();
  return plain({
    lists,
    suspended,
    profiles: await users.profiles(LEGACY_TENANT_ID, USERS),
    webPush: await users.webPush(LEGACY_TENANT_ID, USERS),
    reports: await users.reports(LEGACY_TENANT_ID, 100),
    hooks: { waiting, dead },
  });
}

async function historyOf({ messages }: Store, userId: UserId, { conversationId, clearedSeq }: ConversationView) {
  const read = await messages.readHistory({
    tenantId: LEGACY_TENANT_ID,
    conversationId,
    userId,
    clearedSeq,
    position: 'newest',
    limit: HISTORY_PAGE_SIZE_MAX,
  });
  const members = [...(await messages.readMembers(LEGACY_TENANT_ID, conversationId))].sort(([a], [b]) => (a < b ? -1 : 1));
  return { read, members };
}

/** Maps and bytes too, as JSON writes them when it is told how. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, part: unknown): unknown => {
      if (part instanceof Map || part instanceof Set) return Array.from<unknown>(part);
      if (part instanceof Error) return part.message;
      return part instanceof Uint8Array ? Buffer.from(part).toString('base64') : part;
    }),
  );
}

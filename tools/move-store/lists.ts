/** What every user's list says, so that two stores can be compared. */
import { LEGACY_TENANT_ID, LIST_PAGE_SIZE_MAX, parseUserId, type UserId } from '@qim/proto';
import type { DirectoryCursor, Store } from '@qim/store';

export interface Lists {
  /** That have something in their list. */
  readonly users: number;
  readonly unread: number;
  /** By user and place in the list: all that a list shows of the conversation but its epoch. */
  readonly summaries: ReadonlyMap<string, string>;
}

/** Of user-0 and on. */
export async function listsOf(store: Store, users: number): Promise<Lists> {
  const summaries = new Map<string, string>();
  let [found, unread] = [0, 0];
  for (let i = 0; i < users; i += 1) {
    const entries = await listOf(store, parseUserId(`user-${i}`));
    if (entries.length > 0) found += 1;
    for (const [place, entry] of entries.entries()) {
      unread += entry.unread;
      summaries.set(`user-${i} ${place}`, entry.shown);
    }
  }
  return { users: found, unread, summaries };
}

async function listOf(store: Store, userId: UserId): Promise<readonly { readonly unread: number; readonly shown: string }[]> {
  const entries: { unread: number; shown: string }[] = [];
  let cursor: DirectoryCursor | undefined;
  do {
    const { views, next } = await store.directory.page(LEGACY_TENANT_ID, userId, LIST_PAGE_SIZE_MAX, cursor);
    const states = views.map(({ conversationId, readSeq }) => ({ conversationId, watermark: readSeq }));
    const summaries = await store.messages.conversationSummaries(LEGACY_TENANT_ID, userId, states);
    const readings = await store.messages.readConversations(LEGACY_TENANT_ID, userId, states);
    for (const [i, view] of views.entries()) {
      const [summary, reading] = [summaries[i], readings[i]];
      entries.push({ unread: summary?.unreadCount ?? 0, shown: JSON.stringify([view, summary, reading], withoutEpoch) });
    }
    cursor = next;
  } while (cursor !== undefined);
  return entries;
}

/** An import begins new ones. */
function withoutEpoch(name: string, value: unknown): unknown {
  return name === 'epoch' ? undefined : value;
}

/** What differs, in words. */
export function moved(before: Lists, after: Lists): readonly string[] {
  const names = new Set([...before.summaries.keys(), ...after.summaries.keys()]);
  return [...names].flatMap((name) => {
    const [was, is] = [before.summaries.get(name), after.summaries.get(name)];
    return was === is ? [] : [`${name}: was ${was}, is ${is}`];
  });
}

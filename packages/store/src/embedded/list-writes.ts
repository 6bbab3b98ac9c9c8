/** What of a user's list a plan reads and writes: the order, and the view of one conversation. */
import type { ConversationId } from '@qim/proto';
import type { Activity } from '../directory/directory.js';
import { formatViewEntry, parseViewEntry, UNREADABLE_VIEW, type ViewEntry, ViewFlag, ViewState } from '../directory/view-entry.js';
import type { Snapshot, Write } from './environment.js';
import type { UserKeys } from './keys.js';
import { counterFrom, counterValue, textFrom } from './values.js';

const NOTHING = new Uint8Array(0);

/** As Directory.touch, of one user. */
export function touchWrites(snapshot: Snapshot, keys: UserKeys, conversationId: ConversationId, activity: Activity): Write[] {
  const listedAt = snapshot.get(keys.listedAt(conversationId));
  const view = storedView(snapshot, keys, conversationId) ?? (listedAt === undefined ? undefined : UNREADABLE_VIEW);
  if (view?.state !== ViewState.Listed) return [];
  if ((view.flags & ViewFlag.Hidden) === 0) return moveWrites(keys, conversationId, listedAt, activity.activityAtMs);
  if (activity.conversationSeq <= view.hiddenSeq) return [];
  const shown = viewWrite(keys, conversationId, { ...view, flags: view.flags & ~ViewFlag.Hidden });
  return [shown, ...moveWrites(keys, conversationId, listedAt, activity.activityAtMs)];
}

/** Undefined: there is none, or it cannot be read. */
export function storedView(snapshot: Snapshot, keys: UserKeys, conversationId: ConversationId): ViewEntry | undefined {
  const value = snapshot.peek(keys.view(conversationId));
  const view = value === undefined ? undefined : parseViewEntry(textFrom(value));
  return view === 'viewUnreadable' ? undefined : view;
}

export function viewWrite(keys: UserKeys, conversationId: ConversationId, entry: ViewEntry): Write {
  return { key: keys.view(conversationId), value: Buffer.from(formatViewEntry(entry)) };
}

/** Puts it into the list, or moves it up; never down. */
export function listWrites(snapshot: Snapshot, keys: UserKeys, conversationId: ConversationId, activityAtMs: number): Write[] {
  return moveWrites(keys, conversationId, snapshot.get(keys.listedAt(conversationId)), activityAtMs);
}

/** `listedAt`: where it stands; undefined: nowhere. */
function moveWrites(keys: UserKeys, conversationId: ConversationId, listedAt: Uint8Array | undefined, activityAtMs: number): Write[] {
  const before = counterFrom(listedAt);
  if (listedAt !== undefined && before >= activityAtMs) return [];
  const gone = listedAt === undefined ? [] : [{ key: keys.list(before, conversationId), value: undefined }];
  return [
    ...gone,
    { key: keys.list(activityAtMs, conversationId), value: NOTHING },
    { key: keys.listedAt(conversationId), value: counterValue(activityAtMs) },
  ];
}

export function unlistWrites(snapshot: Snapshot, keys: UserKeys, conversationId: ConversationId): Write[] {
  const listedAt = snapshot.get(keys.listedAt(conversationId));
  if (listedAt === undefined) return [];
  return [
    { key: keys.list(counterFrom(listedAt), conversationId), value: undefined },
    { key: keys.listedAt(conversationId), value: undefined },
  ];
}

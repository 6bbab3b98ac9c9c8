/** The order of a list with its pins, for the backends that sort it themselves, and the places in it. */
import type { ConversationId } from '@qim/proto';
import type { DirectoryCursor } from './directory.js';

export interface Pin {
  readonly conversationId: ConversationId;
  /** Unix milliseconds; no two of a user's are the same. */
  readonly pinnedAtMs: number;
}

/** The pins of one list, as its pages see them. */
export interface PagePins {
  /** Pins up to here come first; later ones stand where their activity puts them. 0: there were none. */
  readonly throughMs: number;
  /** Those that come after the cursor, the newest pin first. */
  readonly following: readonly Pin[];
  /** Left out of the others. */
  readonly first: ReadonlySet<ConversationId>;
  /** Whether the page begins among the pinned ones. */
  readonly among: boolean;
}

export function pagePins(pins: readonly Pin[], cursor: DirectoryCursor | undefined): PagePins {
  const newest = Math.max(0, ...pins.map(({ pinnedAtMs }) => pinnedAtMs));
  const throughMs = cursor === undefined ? newest : (cursor.pinsThroughMs ?? 0);
  const early = pins.filter(({ pinnedAtMs }) => pinnedAtMs <= throughMs).sort((a, b) => b.pinnedAtMs - a.pinnedAtMs);
  const among = cursor === undefined || cursor.pinned === true;
  const following = among ? early.filter(({ pinnedAtMs }) => cursor === undefined || pinnedAtMs < cursor.activityAtMs) : [];
  return { throughMs, following, first: new Set(early.map(({ conversationId }) => conversationId)), among };
}

/** When one that is pinned now is pinned: later than all others. */
export function nextPinTime(pins: readonly Pin[], nowMs: number): number {
  return Math.max(nowMs, ...pins.map(({ pinnedAtMs }) => pinnedAtMs + 1));
}

export function cursorAt(activityAtMs: number, conversationId: ConversationId, pinned: boolean, pinsThroughMs: number): DirectoryCursor {
  return { activityAtMs, conversationId, ...(pinned ? { pinned } : {}), ...(pinsThroughMs > 0 ? { pinsThroughMs } : {}) };
}

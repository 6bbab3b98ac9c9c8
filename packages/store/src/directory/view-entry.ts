/**
 * A user's view of a conversation as it is stored: the text
 * `joinedSeq visibleFrom clearedSeq hiddenSeq memberSeq flags state`, decimals with one space between them.
 */
import { type ConversationSeq, parseConversationSeq, SEQ_ZERO } from '@qim/proto';
import { Malformed } from '../message/bytes.js';
import { parseDecimals } from '../message/decimal.js';
import type { ConversationFlags, FlagsChange } from './directory.js';

/** Bit field. Whether a conversation is pinned is said by the pins alone: the bit is not written, and not read. */
export const ViewFlag = { Pinned: 1, Muted: 2, Hidden: 4, MarkedUnread: 8, All: 15 } as const;

/** Tombstone: the user left; kept so that what arrives late does not bring the conversation back. */
export const ViewState = { Tombstone: 0, Listed: 1 } as const;
export type ViewState = (typeof ViewState)[keyof typeof ViewState];

export interface ViewEntry {
  readonly joinedSeq: ConversationSeq;
  readonly visibleFrom: ConversationSeq;
  readonly clearedSeq: ConversationSeq;
  /** The head when the user hid it: activity past it brings it back. 0: never hidden. */
  readonly hiddenSeq: ConversationSeq;
  /** The sequence of the last join or leave that was applied. */
  readonly memberSeq: ConversationSeq;
  /** `ViewFlag` bits. */
  readonly flags: number;
  readonly state: ViewState;
}

const SEQ_ONE = parseConversationSeq(1);

/** What stands for a view that cannot be read: the member entry decides anyway, so the conversation is listed, or found to be damaged. */
export const UNREADABLE_VIEW: ViewEntry = {
  joinedSeq: SEQ_ONE,
  visibleFrom: SEQ_ONE,
  clearedSeq: SEQ_ZERO,
  hiddenSeq: SEQ_ZERO,
  memberSeq: SEQ_ZERO,
  flags: 0,
  state: ViewState.Listed,
};

export function formatViewEntry(entry: ViewEntry): string {
  const { joinedSeq, visibleFrom, clearedSeq, hiddenSeq, memberSeq, flags, state } = entry;
  return `${joinedSeq} ${visibleFrom} ${clearedSeq} ${hiddenSeq} ${memberSeq} ${flags} ${state}`;
}

export function parseViewEntry(text: string): ViewEntry | 'viewUnreadable' {
  try {
    const numbers = parseDecimals(text, 7);
    const sequence = (index: number) => parseConversationSeq(numbers[index] ?? -1);
    const [flags, state] = numbers.slice(5);
    if (flags === undefined || flags > ViewFlag.All) return 'viewUnreadable';
    if (state !== ViewState.Listed && state !== ViewState.Tombstone) return 'viewUnreadable';
    return {
      joinedSeq: sequence(0),
      visibleFrom: sequence(1),
      clearedSeq: sequence(2),
      hiddenSeq: sequence(3),
      memberSeq: sequence(4),
      flags,
      state,
    };
  } catch (error) {
    if (error instanceof Malformed) return 'viewUnreadable';
    throw error;
  }
}

export function flagsOf(bits: number, pinned: boolean): ConversationFlags {
  return {
    pinned,
    muted: (bits & ViewFlag.Muted) !== 0,
    hidden: (bits & ViewFlag.Hidden) !== 0,
    markedUnread: (bits & ViewFlag.MarkedUnread) !== 0,
  };
}

/** The bits after a change. Pinning shows what was hidden. */
export function changedFlags(bits: number, { pinned, muted, hidden, markedUnread }: FlagsChange): number {
  const set = (flag: number, on: boolean | undefined, before: number) => (on === undefined ? before : on ? before | flag : before & ~flag);
  const shown = pinned === true ? false : hidden;
  return set(ViewFlag.Muted, muted, set(ViewFlag.Hidden, shown, set(ViewFlag.MarkedUnread, markedUnread, bits)));
}

/**
 * Clears away what has expired, a bounded number of entries with each commit: de-duplication entries and remembered
 * group requests of the weeks that are no longer looked at, and tombstones of the same age. All of them sort by week,
 * so that nothing is searched; and it looks only when a week has ended or something was left over.
 */
import { EXPIRED_CLEARED_MAX } from '@qim/proto';
import { parseViewEntry, ViewState } from '../directory/view-entry.js';
import type { Snapshot, Write } from './environment.js';
import { Table, tombstoneIn, viewOfTombstone, weekPrefix } from './keys.js';
import { textFrom, weekOf } from './values.js';

const EXPIRING = [Table.Dedup, Table.GroupRequest, Table.Tombstone] as const;

/** What one commit clears away. */
export interface Clearing {
  /** Two for each of at most EXPIRED_CLEARED_MAX entries. */
  readonly writes: readonly Write[];
  /** When these writes are done nothing is left of the weeks before this one; undefined: something may be. */
  readonly clearedBefore: number | undefined;
}

const NOTHING_TO_CLEAR: Clearing = { writes: [], clearedBefore: undefined };

export class Expiry {
  #clearedBefore = 0;

  /** `now` in Unix milliseconds. */
  clearing(snapshot: Snapshot, now: number): Clearing {
    const keepFrom = weekOf(now) - 1;
    if (this.#clearedBefore >= keepFrom) return NOTHING_TO_CLEAR;
    const writes: Write[] = [];
    let left = EXPIRED_CLEARED_MAX;
    for (const table of EXPIRING) {
      const expired = snapshot.keys({ start: weekPrefix(table, 0), end: weekPrefix(table, keepFrom) }, left);
      left -= expired.length;
      for (const key of expired) {
        writes.push({ key, value: undefined });
        if (table === Table.Tombstone) writes.push(...viewWrites(snapshot, key, keepFrom));
      }
    }
    return { writes, clearedBefore: left > 0 ? keepFrom : undefined };
  }

  /** The writes of this clearing are on the disk. */
  cleared({ clearedBefore = 0 }: Clearing): void {
    this.#clearedBefore = Math.max(this.#clearedBefore, clearedBefore);
  }
}

/** The view goes with its tombstone, unless the user joined again, or left again later. */
function viewWrites(snapshot: Snapshot, tombstone: Buffer, keepFrom: number): Write[] {
  const key = viewOfTombstone(tombstone);
  const value = snapshot.get(key);
  const view = value === undefined ? undefined : parseViewEntry(textFrom(value));
  if (view === undefined || view === 'viewUnreadable' || view.state === ViewState.Listed) return [];
  const leftLater = [keepFrom, keepFrom + 1].some((week) => snapshot.get(tombstoneIn(tombstone, week)) !== undefined);
  return leftLater ? [] : [{ key, value: undefined }];
}

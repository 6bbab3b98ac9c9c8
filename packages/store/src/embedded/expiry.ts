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

export class Expiry {
  /** Everything of the weeks before this one is gone. */
  #clearedBefore = 0;

  /** `now` in Unix milliseconds. At most EXPIRED_CLEARED_MAX entries, two writes for each. */
  writes(snapshot: Snapshot, now: number): Write[] {
    const keepFrom = weekOf(now) - 1;
    if (this.#clearedBefore >= keepFrom) return [];
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
    if (left > 0) this.#clearedBefore = keepFrom;
    return writes;
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

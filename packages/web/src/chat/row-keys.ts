/** From message to message with the arrow keys; Enter opens what can be done with one. */
import type { KeyboardEvent } from 'react';

export function onRowKey(event: KeyboardEvent<HTMLElement>): void {
  const target = event.target as HTMLElement;
  const row = target.closest<HTMLElement>('[data-row]');
  if (event.key === 'Enter' && row !== null && target === row) {
    event.preventDefault();
    row.querySelector<HTMLElement>('[data-more]')?.focus();
    // The menu opens on a key, as a button does.
    row.querySelector<HTMLElement>('[data-more]')?.dispatchEvent(new globalThis.KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    return;
  }
  if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
  if (row !== null && target !== row) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')];
  const at = row === null ? lastInView(rows, event.currentTarget) + 1 : rows.indexOf(row);
  const next = rows[at + (event.key === 'ArrowUp' ? -1 : 1)];
  if (next === undefined) return;
  event.preventDefault();
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
}

function lastInView(rows: readonly HTMLElement[], box: HTMLElement): number {
  const { bottom } = box.getBoundingClientRect();
  return rows.findLastIndex((row) => row.getBoundingClientRect().bottom <= bottom + 1);
}

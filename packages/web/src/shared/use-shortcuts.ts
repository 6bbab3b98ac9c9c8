/** The keys of the page, but for those of what is focused. */
import { useEffect } from 'react';

export interface Shortcuts {
  readonly onFind: () => void;
  readonly onNew: () => void;
  readonly onHelp: () => void;
  readonly onWrite: () => void;
  readonly onEscape: () => void;
  /** 1: the next conversation, -1: the one before. */
  readonly onMove: (step: 1 | -1) => void;
}

export function useShortcuts(shortcuts: Shortcuts): void {
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      // Within a dialog or a menu the keys are theirs.
      if (event.defaultPrevented || event.isComposing || document.querySelector('dialog[open], [role="menu"]') !== null) return;
      const run = actionFor(event, shortcuts);
      if (run === undefined) return;
      event.preventDefault();
      run();
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [shortcuts]);
}

function actionFor(event: KeyboardEvent, shortcuts: Shortcuts): (() => void) | undefined {
  const { key } = event;
  if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === 'k') return shortcuts.onFind;
  if (event.altKey && key === 'ArrowDown') return () => shortcuts.onMove(1);
  if (event.altKey && key === 'ArrowUp') return () => shortcuts.onMove(-1);
  if (key === 'Escape') return shortcuts.onEscape;
  const isWriting = event.target instanceof HTMLElement && event.target.closest('input, textarea, select') !== null;
  if (isWriting || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  return { '/': shortcuts.onFind, n: shortcuts.onNew, i: shortcuts.onWrite, '?': shortcuts.onHelp }[key.toLowerCase()];
}

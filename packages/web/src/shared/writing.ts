/** What forms and the places to write in share. */
import type { KeyboardEvent } from 'react';

/** An Enter that ends a choice of an input method is part of the writing. */
export function isPlainEnter(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing;
}

/** As high as the text, up to what its style allows. `text` is named so that callers run again when it changes. */
export function fitHeight(box: HTMLTextAreaElement | null, _text: string): void {
  if (box === null) return;
  box.style.height = 'auto';
  box.style.height = `${box.scrollHeight + box.offsetHeight - box.clientHeight}px`;
}

/** A form that stays on this page. */
export function submitting(run: () => void): (event: { preventDefault(): void }) => void {
  return (event) => {
    event.preventDefault();
    run();
  };
}

/** As a ref: takes the focus once it is there. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}

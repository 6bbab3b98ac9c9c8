import { type RefObject, useEffect } from 'react';

/** Not on a phone: there it would bring up the keyboard over what one came to read. */
export function useFocusAtFirst(box: RefObject<HTMLTextAreaElement | null>): void {
  useEffect(() => {
    const element = box.current;
    if (element === null || !matchMedia('(hover: hover)').matches) return;
    element.focus();
    element.setSelectionRange(element.value.length, element.value.length);
  }, [box]);
}

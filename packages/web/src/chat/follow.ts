/** Whether the end of the list is followed when items come. */
import type { Item } from './items.js';
import { MANY_AT_ONCE } from './use-unread-line.js';

/**
 * At the end one stays there, unless much comes at once; what is loaded, above or after a part of the past, is nothing that comes.
 * One object for good: the list asks in the middle of taking new items, and is to hear of these.
 */
export class Follow {
  #items: readonly Item[];
  #past: boolean;
  #added = 0;

  constructor(items: readonly Item[], past: boolean) {
    this.#items = items;
    this.#past = past;
  }

  /** `past`: they are a part of the past. The same items again change nothing. */
  took(items: readonly Item[], past: boolean): void {
    if (items === this.#items) return;
    this.#added = past || this.#past ? 0 : addedTo(this.#items, items);
    this.#items = items;
    this.#past = past;
  }

  readonly decide = (isAtEnd: boolean): 'auto' | false => (isAtEnd && this.#added > 0 && this.#added <= MANY_AT_ONCE ? 'auto' : false);
}

/** Past MANY_AT_ONCE it is not counted further. */
function addedTo(before: readonly Item[], items: readonly Item[]): number {
  const last = before.at(-1);
  for (let added = 0; added <= MANY_AT_ONCE; added += 1) if (items[items.length - 1 - added] === last) return added;
  // It goes on its way: nothing has come. To follow then would lead past what comes a moment later.
  if (items.length === before.length && isSameOutgoing(last, items.at(-1))) return 0;
  // One's own message that has arrived is another item than when it was on its way.
  return items.length - before.length > MANY_AT_ONCE ? MANY_AT_ONCE + 1 : 1;
}

function isSameOutgoing(a: Item | undefined, b: Item | undefined): boolean {
  return a?.kind === 'outgoing' && b?.kind === 'outgoing' && a.message.clientMessageId === b.message.clientMessageId;
}

/** Whether the end of the list is followed when items come. */
import type { Item } from './items.js';
import { MANY_AT_ONCE } from './use-unread-line.js';

/**
 * At the end one stays there, unless much comes at once; what is loaded, above or after a part of the past, is nothing that comes,
 * and neither is a list that begins anew.
 */
export class Follow {
  #items: readonly Item[];
  #past: boolean;
  #generation: number;
  #wanted = false;

  constructor(items: readonly Item[], past: boolean, generation: number) {
    this.#items = items;
    this.#past = past;
    this.#generation = generation;
  }

  /** `past`: they are a part of the past. `isAtEnd`: asked before they show. The same items again change nothing. */
  took(items: readonly Item[], past: boolean, generation: number, isAtEnd: () => boolean): void {
    if (items === this.#items) return;
    const comes = !past && !this.#past && generation === this.#generation;
    const added = comes ? addedTo(this.#items, items) : 0;
    this.#wanted = added > 0 && added <= MANY_AT_ONCE && isAtEnd();
    this.#items = items;
    this.#past = past;
    this.#generation = generation;
  }

  /** Whether the end is to be shown for what was taken last; once. */
  due(): boolean {
    const wanted = this.#wanted;
    this.#wanted = false;
    return wanted;
  }
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

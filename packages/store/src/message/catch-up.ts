/** What of the amendments a catch-up tells, for every backend. Pure. */
import type { ConversationSeq } from '@qim/proto';
import type { StoredFacts } from './facts.js';
import type { CatchUpQuery } from './message-store.js';

/** One amended record: `number` of its newest amendment. */
export interface Amendment {
  readonly sequence: ConversationSeq;
  readonly number: number;
}

/** The caller must begin anew: sequences or amendments that it holds are not of what is there now. */
export function mustReset({ epoch, after, amendmentCursor }: CatchUpQuery, facts: StoredFacts): boolean {
  if (epoch === 0) return false;
  return epoch !== facts.epoch || after > facts.lastSequence || amendmentCursor > facts.amendmentNumber;
}

/** The amendments past the caller's cursor, as far as one page goes. */
export class AmendmentPage {
  /** To be read and told, by number. */
  readonly wanted: readonly Amendment[];
  /**
   * The newest entry is missing: each amendment moves its record's entry to the number that the facts then have. Known on
   * the page that reaches the end, where retention has not removed entries with their records.
   */
  readonly lacksNewest: boolean;
  readonly #looked: readonly Amendment[];
  readonly #query: CatchUpQuery;
  readonly #more: boolean;
  readonly #amendmentNumber: number;

  /** `past`: by number, one more than the query's limit when there are more. `visibility`: nothing at or below it. */
  constructor(query: CatchUpQuery, facts: StoredFacts, visibility: ConversationSeq, past: readonly Amendment[]) {
    const floor = Math.max(visibility, facts.retainedFrom - 1);
    // Nothing that is held can be shown: what is new comes in its present state anyway.
    const none = query.after <= floor;
    this.#looked = none ? [] : past.slice(0, query.limit);
    this.#more = !none && past.length > query.limit;
    const newest = past.at(-1)?.number ?? query.amendmentCursor;
    this.lacksNewest = !none && !this.#more && facts.retainedFrom === 1 && newest < facts.amendmentNumber;
    this.#query = query;
    this.#amendmentNumber = facts.amendmentNumber;
    this.wanted = this.#looked.filter(({ sequence }) => sequence <= query.after && sequence > floor);
  }

  /** Where the next page goes on when the first `taken` of `wanted` were told. */
  after(taken: number): { readonly cursor: number; readonly more: boolean } {
    const cut = this.wanted[taken];
    const told = cut === undefined ? this.#looked : this.#looked.slice(0, this.#looked.indexOf(cut));
    if (cut === undefined && !this.#more) return { cursor: this.#amendmentNumber, more: false };
    return { cursor: told.at(-1)?.number ?? this.#query.amendmentCursor, more: true };
  }
}

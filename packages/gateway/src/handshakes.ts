/**
 * Admission: how many WebSockets may be between their upgrade and their welcome. When a server comes back and everyone
 * connects at once, those past the bound are told when to come again, and so many at a time are done quickly instead of all of
 * them slowly.
 */
import { HANDSHAKE_RETRY_AFTER_MS, HANDSHAKE_RETRY_SPREAD_MS } from '@qim/proto';

/** Turns that a storm is spread over. */
const TURNS = 500;

export class Handshakes {
  readonly #max: number;
  #underWay = 0;
  #turn = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** The function ends it; called again it does nothing. Undefined: there are as many as may be. */
  begin(): (() => void) | undefined {
    if (this.#underWay >= this.#max) return undefined;
    this.#underWay += 1;
    let ended = false;
    return () => {
      if (!ended) this.#underWay -= 1;
      ended = true;
    };
  }

  /** For one that is turned away. Those of one moment are spread evenly, whatever their clients' own chance does. */
  retryAfterMs(): number {
    this.#turn = (this.#turn + 1) % TURNS;
    return HANDSHAKE_RETRY_AFTER_MS + (HANDSHAKE_RETRY_SPREAD_MS / TURNS) * this.#turn;
  }
}

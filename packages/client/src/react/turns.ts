import { Listeners, type Observable } from '../observable.js';

type Subscribe = Observable<unknown>['subscribe'];

/**
 * Gathers what observables tell into turns. React renders each change of a store at once: of some hundred events in one go it
 * would render hundreds of times, and give up in the middle with 'maximum update depth exceeded', so that what came last never shows.
 */
export class Turns {
  readonly #later: (run: () => void) => void;
  #due = new Listeners<[]>();
  #isComing = false;

  /** `later` runs in a task of its own. */
  constructor(later: (run: () => void) => void) {
    this.#later = later;
  }

  /** The same, but that a listener is called once in the next turn, however many changes there were: with all others that are due. */
  of(subscribe: Subscribe): Subscribe {
    return (listener) => {
      let forget: (() => void) | undefined;
      const end = subscribe(() => {
        forget ??= this.#next(() => {
          forget = undefined;
          listener();
        });
      });
      return () => {
        end();
        forget?.();
      };
    };
  }

  #next(call: () => void): () => void {
    if (!this.#isComing) this.#later(() => this.#tell());
    this.#isComing = true;
    return this.#due.add(call);
  }

  #tell(): void {
    const due = this.#due;
    this.#due = new Listeners();
    this.#isComing = false;
    due.emit();
  }
}

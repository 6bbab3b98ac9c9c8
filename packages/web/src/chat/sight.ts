/**
 * What of the messages is in view. Apart from the list that tells it: were the list rendered anew by its own telling, it would
 * tell again, and while pages come in that does not end.
 */
export interface InView {
  /** Of the first item in view, as the list numbers them. */
  readonly startIndex: number;
  readonly isAtEnd: boolean;
}

export class Sight {
  readonly #listeners = new Set<() => void>();
  #inView: InView = { startIndex: 0, isAtEnd: true };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The same object until it changes. */
  readonly snapshot = (): InView => this.#inView;

  readonly began = ({ startIndex }: { readonly startIndex: number }): void => this.#set({ ...this.#inView, startIndex });
  readonly atEnd = (isAtEnd: boolean): void => this.#set({ ...this.#inView, isAtEnd });

  #set(inView: InView): void {
    if (inView.startIndex === this.#inView.startIndex && inView.isAtEnd === this.#inView.isAtEnd) return;
    this.#inView = inView;
    for (const listener of this.#listeners) listener();
  }
}

/** What is in flight, so that a stop can wait for it; and whether new work is still taken. */
import { QimError } from '@qim/proto';

export class Work {
  #running = 0;
  #stopping = false;
  readonly #idle: (() => void)[] = [];

  get stopping(): boolean {
    return this.#stopping;
  }

  /** @throws StoreUnavailable once stopping: nothing was begun, and another server will answer */
  async run<Result>(action: () => Promise<Result>): Promise<Result> {
    if (this.#stopping) throw serverStopping();
    this.#running++;
    try {
      return await action();
    } finally {
      this.#running--;
      if (this.#running === 0) for (const told of this.#idle.splice(0)) told();
    }
  }

  /** From now on nothing new is taken; resolves once nothing is in flight. */
  stop(): Promise<void> {
    this.#stopping = true;
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }
}

export function serverStopping(): QimError<'StoreUnavailable'> {
  return new QimError('StoreUnavailable', { what: 'the server is stopping' }, 'the server is stopping');
}

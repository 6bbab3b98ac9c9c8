/** HTTP answers that are not yet on their way, so that a stop cuts none of them. */
import type { Server, ServerResponse } from 'node:http';

export class Replies {
  readonly #open = new Set<ServerResponse>();
  readonly #waiting: (() => void)[] = [];

  constructor(server: Server) {
    // Before any other listener: a request that is answered at once must have been seen.
    server.prependListener('request', (_, response) => {
      this.#open.add(response);
      response.once('close', () => {
        this.#open.delete(response);
        if (this.#open.size === 0) for (const told of this.#waiting.splice(0)) told();
      });
    });
  }

  /** Resolves once none is open: each was handed to the kernel, or its connection is gone. */
  sent(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

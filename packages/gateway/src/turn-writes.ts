/**
 * What is sent to one socket in one turn of the process goes to the system in one write: answers that become known together,
 * and events. Nothing waits longer than that turn, and no more of it than FRAMES_GATHERED_BYTES.
 */
import type { Writable } from 'node:stream';
import { FRAMES_GATHERED_BYTES } from '@qim/proto';

export class TurnWrites {
  readonly #stream: Pick<Writable, 'cork' | 'uncork' | 'writableLength'>;
  #gathering = false;

  constructor(stream: Pick<Writable, 'cork' | 'uncork' | 'writableLength'>) {
    this.#stream = stream;
  }

  /** Before each frame. */
  gather(): void {
    // What the system would have taken must not be counted as waiting for a slow reader.
    if (this.#gathering && this.#stream.writableLength >= FRAMES_GATHERED_BYTES) {
      this.#stream.uncork();
      this.#stream.cork();
    }
    if (this.#gathering) return;
    this.#gathering = true;
    this.#stream.cork();
    process.nextTick(this.#release);
  }

  readonly #release = (): void => {
    this.#gathering = false;
    this.#stream.uncork();
  };
}

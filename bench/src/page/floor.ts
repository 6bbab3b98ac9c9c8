/**
 * The floor: the same rounds are asked over a bare socket, one after the other, and the answers are counted and thrown away.
 * Whoever waits for a round before the next one cannot take less.
 */
import { connect, type Socket } from 'node:net';
import type { Cleanup } from '../stores.js';
import type { Round } from './recorder.js';

const READ_BYTES = 256 * 1024;

export class Floor {
  readonly #socket: Socket;
  #left = 0;
  #answered = (): void => {};

  private constructor(port: number) {
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      // One buffer for all reads: nothing is allocated for what is thrown away.
      onread: {
        buffer: Buffer.alloc(READ_BYTES),
        callback: (bytes) => {
          this.#left -= bytes;
          if (this.#left <= 0) this.#answered();
          return true;
        },
      },
    });
  }

  static async open(cleanup: Cleanup, port: number): Promise<Floor> {
    const floor = new Floor(port);
    await new Promise((resolve, reject) => floor.#socket.once('connect', resolve).once('error', reject));
    cleanup.add(async () => floor.#socket.destroy());
    return floor;
  }

  /** @throws when another number of bytes comes back than was recorded */
  async ask(rounds: readonly Round[]): Promise<void> {
    for (const { asked, answerBytes } of rounds) {
      this.#left = answerBytes;
      await new Promise<void>((resolve) => {
        this.#answered = resolve;
        this.#socket.write(asked);
      });
      if (this.#left !== 0) throw new Error('the floor was answered more than was recorded');
    }
  }
}

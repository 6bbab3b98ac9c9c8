/**
 * A relay in front of Redis that notes what one page asks and how many bytes answer it, round by round. So the other
 * contenders ask for exactly what qim asks for, and the bench need not know a key.
 */
import { connect as connectTo, createServer, type Socket } from 'node:net';
import type { Cleanup } from '../stores.js';

export interface Round {
  readonly asked: Buffer;
  readonly answerBytes: number;
}

interface RecordedRound extends Round {
  /** Which of the connections asked, in the order in which they were opened, from 0. */
  readonly connection: number;
}

interface Open {
  readonly asked: Buffer[];
  answerBytes: number;
  connection: number;
}

export class Recorder {
  readonly #rounds: Open[] = [];
  #port = 0;
  /** Connections that were opened. */
  connections = 0;

  static async start(cleanup: Cleanup, redisPort: number): Promise<Recorder> {
    const recorder = new Recorder();
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const redis = connectTo(redisPort, '127.0.0.1');
      const connection = recorder.connections;
      recorder.connections += 1;
      for (const socket of [client, redis]) {
        sockets.add(socket);
        socket.on('error', () => socket.destroy());
      }
      client.on('data', (chunk: Buffer) => {
        const round = recorder.#rounds.at(-1);
        round?.asked.push(chunk);
        if (round !== undefined) round.connection = connection;
        redis.write(chunk);
      });
      redis.on('data', (chunk: Buffer) => {
        const round = recorder.#rounds.at(-1);
        if (round !== undefined) round.answerBytes += chunk.length;
        client.write(chunk);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanup.add(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the relay has a port');
    recorder.#port = address.port;
    return recorder;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** For the store's observer: what comes from now on belongs to the next round. */
  readonly roundBegins = (): void => {
    this.#rounds.push({ asked: [], answerBytes: 0, connection: -1 });
  };

  /** What `work` asked, and nothing else may ask meanwhile. */
  async record(work: () => Promise<unknown>): Promise<readonly RecordedRound[]> {
    this.#rounds.length = 0;
    await work();
    return this.#rounds.splice(0).map(({ asked, ...round }) => ({ ...round, asked: Buffer.concat(asked) }));
  }
}

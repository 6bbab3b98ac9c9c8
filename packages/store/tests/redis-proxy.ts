/** A way to Redis on which a test can do something between two writes of a store. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export class RedisProxy {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  /** Awaited before what a client sent goes on; gets it as Latin-1 text. A pipeline of a test arrives as one. */
  before: (sent: string) => Promise<void> | void = () => {};

  #split: { readonly command: RegExp; readonly work: () => Promise<unknown> } | undefined;

  private constructor(server: Server, sockets: Set<Socket>, port: number) {
    this.#server = server;
    this.#sockets = sockets;
    this.url = `redis://127.0.0.1:${port}`;
  }

  static open(port: number): Promise<RedisProxy> {
    const sockets = new Set<Socket>();
    return new Promise((resolve) => {
      const server = createServer((client) => {
        const upstream = connect(port, '127.0.0.1');
        for (const socket of [client, upstream]) {
          sockets.add(socket);
          socket.on('error', () => socket.destroy());
        }
        let forwarded = Promise.resolve();
        client.on('data', (chunk) => {
          forwarded = forwarded.then(async () => {
            const sent = chunk.toString('latin1');
            await proxy.before(sent);
            const at = proxy.#split === undefined ? -1 : sent.search(proxy.#split.command);
            const split = proxy.#split;
            if (at <= 0 || split === undefined) {
              upstream.write(chunk);
              return;
            }
            proxy.#split = undefined;
            // The replies to what comes before it show that it was done.
            const answered = once(upstream, 'data');
            upstream.write(chunk.subarray(0, at));
            await answered;
            await split.work();
            upstream.write(chunk.subarray(at));
          });
        });
        client.on('close', () => upstream.destroy());
        upstream.on('close', () => client.destroy());
        upstream.pipe(client);
      });
      let proxy: RedisProxy;
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        proxy = new RedisProxy(server, sockets, address !== null && typeof address === 'object' ? address.port : 0);
        resolve(proxy);
      });
    });
  }

  /** Does `work` once, before the next thing that is sent and holds `text`. */
  once(text: string, work: () => Promise<unknown>): void {
    this.before = async (sent) => {
      if (!sent.includes(text)) return;
      this.before = () => {};
      await work();
    };
  }

  /** Does `work` once in the middle of a pipeline: after what comes before `command` in it, and before `command`. */
  within(command: string, work: () => Promise<unknown>): void {
    this.#split = { command: new RegExp(`\\*\\d+\\r\\n\\$\\d+\\r\\n${command}\\r\\n`), work };
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

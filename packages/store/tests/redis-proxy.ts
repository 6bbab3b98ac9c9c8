/** A way to Redis on which a test can do something between two writes of a store. */
import { FaultProxy, type Interception } from '../../../tools/testing/fault-proxy.js';

export class RedisProxy {
  readonly url: string;
  readonly #proxy: FaultProxy;
  /** Awaited before what a client sent goes on; gets it as Latin-1 text. A pipeline of a test arrives as one. */
  before: (sent: string) => Promise<void> | void = () => {};

  #split: { readonly command: RegExp; readonly work: () => Promise<unknown> } | undefined;

  private constructor(proxy: FaultProxy) {
    this.#proxy = proxy;
    this.url = `redis://127.0.0.1:${proxy.port}`;
  }

  static async open(port: number): Promise<RedisProxy> {
    const opened: RedisProxy = new RedisProxy(await FaultProxy.open({ port, intercept: (chunk, link) => opened.#pass(chunk, link) }));
    return opened;
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

  async close(): Promise<void> {
    await this.#proxy.close();
  }

  readonly #pass: Interception = async (chunk, link) => {
    const sent = chunk.toString('latin1');
    await this.before(sent);
    const split = this.#split;
    const at = split === undefined ? -1 : sent.search(split.command);
    if (at <= 0 || split === undefined) {
      link.forward(chunk);
      return;
    }
    this.#split = undefined;
    // The replies to what comes before it show that it was done.
    const answered = link.answered();
    link.forward(chunk.subarray(0, at));
    await answered;
    await split.work();
    link.forward(chunk.subarray(at));
  };
}

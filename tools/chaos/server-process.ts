/** One server as a process, always on the same port, with a fault proxy before it and, on Redis, one behind it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { FaultProxy } from '../testing/fault-proxy.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = fileURLToPath(new URL('../chaos-server.ts', import.meta.url));
/** As a supervisor does it, while what the server needs is away. */
const START_AGAIN_MS = 200;
const START_WITHIN_MS = 60_000;
/** Lines of the last words of a server that ended by itself. */
const LINES_KEPT = 20;

export interface ServerOptions {
  readonly name: string;
  /** Settings by name, as text. */
  readonly flags: Readonly<Record<string, string>>;
  /** Undefined: the store is not reached over a link. */
  readonly back: FaultProxy | undefined;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class ServerProcess {
  readonly name: string;
  /** Clients to server. */
  readonly front: FaultProxy;
  /** Server to store. */
  readonly back: FaultProxy | undefined;
  readonly #flags: Readonly<Record<string, string>>;
  readonly #lastWords: string[] = [];
  #child: ChildProcess | undefined;
  #port = 0;
  #clockOffsetMs = 0;

  private constructor({ name, flags, back }: ServerOptions, front: FaultProxy) {
    this.name = name;
    this.back = back;
    this.front = front;
    this.#flags = flags;
  }

  static async start(options: ServerOptions): Promise<ServerProcess> {
    const server = new ServerProcess(options, await FaultProxy.open({ port: 0 }));
    await server.start();
    return server;
  }

  get port(): number {
    return this.#port;
  }
  /** Undefined while there is none. */
  get pid(): number | undefined {
    const child = this.#child;
    return child !== undefined && child.exitCode === null && child.signalCode === null ? child.pid : undefined;
  }
  /** The last lines on its standard error. */
  get lastWords(): string {
    return this.#lastWords.join('\n');
  }
  /** By way of the proxy. */
  get url(): string {
    return `http://127.0.0.1:${this.front.port}`;
  }

  /** Again and again until it is ready. @throws Error with its last words */
  async start(): Promise<void> {
    const endsAt = performance.now() + START_WITHIN_MS;
    while (!(await this.#launched())) {
      if (performance.now() > endsAt) throw new Error(`${this.name} does not start:\n${this.#lastWords.join('\n')}`);
      await pause(START_AGAIN_MS);
    }
    this.front.retarget(this.#port);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Resolves when it is gone; at once when it is. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.pid === undefined) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    // One that is stopped takes no other signal than these.
    child.kill('SIGCONT');
    await exited;
  }

  /** From now on, also for a server that is started again. */
  setClock(offsetMs: number): void {
    this.#clockOffsetMs = offsetMs;
    if (this.pid !== undefined) this.#child?.send({ clockOffsetMs: offsetMs });
  }

  /** Memory of its own, without mapped files, in bytes; 0 while it is away. */
  async anonymousBytes(): Promise<number> {
    if (this.pid === undefined) return 0;
    const status = await readFile(`/proc/${this.pid}/status`, 'latin1').catch(() => '');
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  }

  async close(): Promise<void> {
    await this.end('SIGKILL');
    await this.front.close();
    await this.back?.close();
  }

  /** False: it ended before it was ready. */
  async #launched(): Promise<boolean> {
    const flags = JSON.stringify({ ...this.#flags, port: String(this.#port) });
    const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, flags], {
      cwd: ROOT,
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    this.#child = child;
    if (child.stdout === null || child.stderr === null) throw new Error('its streams are pipes');
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (this.#lastWords.push(line) > LINES_KEPT) this.#lastWords.shift();
    });
    if (this.#clockOffsetMs !== 0) child.send({ clockOffsetMs: this.#clockOffsetMs });
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /^qim ready at (\S+)$/.exec(line)?.[1];
      if (url === undefined) continue;
      this.#port = Number(new URL(url).port);
      child.stdout.resume();
      return true;
    }
    return false;
  }
}

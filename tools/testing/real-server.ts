/** The real server, on its embedded store unless told otherwise, in this process; restarted on the same port and folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, type RunningServer, type ServerIo, serverIo, startServer } from '@qim/server';

export interface RealServer {
  readonly url: string;
  readonly data: string;
  /** What it said on standard error: warnings and worse. */
  readonly errors: string[];
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it and removes its folder. */
  end(): Promise<void>;
}

/** `more` in place of what the real world gives, such as another page; `flags` as on the command line. */
export async function startRealServer(more: Partial<ServerIo> = {}, flags: Readonly<Record<string, string>> = {}): Promise<RealServer> {
  const data = await mkdtemp(join(tmpdir(), 'qim-e2e-'));
  const errors: string[] = [];
  let running: RunningServer | undefined;
  let port = '0';
  const start = async (): Promise<void> => {
    const config = loadConfig({ flags: { dev: 'true', port, data, logLevel: 'warn', ...flags }, environment: {} });
    running = await startServer(config, { ...serverIo({ out: () => {}, err: (line) => errors.push(line) }), ...more });
    port = String(running.port);
  };
  const stop = async (): Promise<void> => {
    await running?.stop();
    running = undefined;
  };
  await start();
  return {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    data,
    errors,
    start,
    stop,
    async end() {
      await stop();
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** As the page does it. */
export async function devToken(url: string, user: string, device?: string): Promise<string> {
  const body = JSON.stringify({ user, device });
  const answer = await fetch(new URL('/dev/login', url), { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  if (!answer.ok) throw new Error(`no token: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { token: string }).token;
}

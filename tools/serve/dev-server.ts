/** A real `qim serve --dev` in a process of its own, on a free port and a temporary folder. It needs what `npm run build` makes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface DevServer {
  /** Without a slash at its end. */
  readonly url: string;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

const QIM = fileURLToPath(new URL('../../packages/cli/bin/qim.js', import.meta.url));
const READY = /^qim ready at (http:\/\/\S+?)\/?$/;

/** @throws when it ends before it is ready */
export async function startDevServer(): Promise<DevServer> {
  const data = await mkdtemp(join(tmpdir(), 'qim-dev-'));
  const server = spawn(process.execPath, [QIM, 'serve', '--dev', '--port', '0', '--data', data, '--log-level', 'error'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = async (): Promise<void> => {
    if (server.exitCode === null) {
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
    }
    await rm(data, { recursive: true, force: true });
  };
  for await (const line of createInterface({ input: server.stdout })) {
    const [, url] = READY.exec(line) ?? [];
    if (url !== undefined) return { url, stop };
  }
  await stop();
  throw new Error('qim serve ended before it was ready: has it been built?');
}

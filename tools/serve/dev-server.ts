/** A real `qim serve --dev` in a process of its own, on a free port and a temporary folder. It needs what `npm run build` makes. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startQimProcess } from '../testing/qim-process.js';

export interface DevServer {
  /** Without a slash at its end. */
  readonly url: string;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** @rejects when it ends before it is ready */
export async function startDevServer(): Promise<DevServer> {
  const data = await mkdtemp(join(tmpdir(), 'qim-dev-'));
  const remove = () => rm(data, { recursive: true, force: true });
  try {
    const server = await startQimProcess(data, 0);
    const stop = async (): Promise<void> => {
      await server.kill();
      await remove();
    };
    return { url: server.url, stop };
  } catch (error) {
    await remove();
    throw error;
  }
}

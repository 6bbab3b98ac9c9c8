/**
 * The real server as `qim serve` runs it, of what was built, but for one thing: its parent may set its clock off. Its one
 * argument is a JSON object of settings. `{clockOffsetMs}` over IPC moves the process's clock and, on Redis, the one that its
 * scripts read.
 */
import { loadConfig, openStore, serverIo, startServer } from '@qim/server';

let offsetMs = 0;
process.on('message', (message: unknown) => {
  if (typeof message === 'object' && message !== null && 'clockOffsetMs' in message) offsetMs = Number(message.clockOffsetMs);
});
// Without its parent nobody would stop it.
process.on('disconnect', () => process.exit(1));

const flags = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>;

const io = serverIo({ out: (line) => process.stdout.write(`${line}\n`), err: (line) => process.stderr.write(`${line}\n`) });
const clockOffsetMs = { clockOffsetMs: () => offsetMs };
const server = await startServer(loadConfig({ flags, environment: {} }), {
  ...io,
  now: () => io.now() + offsetMs,
  openStore: (place, options) => openStore(place, { ...options, ...clockOffsetMs }),
});
process.on('SIGTERM', () => {
  void server.stop().then(() => process.exit(0));
});

/** The `qim` command as a process: what `program.ts` runs, with this process's arguments, streams and signals. */
import { environment, serverIo } from '@qim/server';
import type { CliIo } from './command.js';
import { runCli } from './program.js';

const io: CliIo = {
  ...serverIo({
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
  }),
  environment: environment(),
  draw: process.stderr.isTTY ? (line) => void process.stderr.write(`\r\x1b[K${line}`) : undefined,
  onStopSignal(listener) {
    process.on('SIGTERM', listener);
    process.on('SIGINT', listener);
    return () => {
      process.off('SIGTERM', listener);
      process.off('SIGINT', listener);
    };
  },
};

// Exits by itself rather than when nothing is left to do: 'stopping at once' means at once.
process.exit(await runCli(process.argv.slice(2), io));

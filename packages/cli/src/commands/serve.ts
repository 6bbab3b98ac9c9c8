/** `qim serve`: the server, until it is told to stop. */
import { STOP_SIGNAL_REPEAT_MS } from '@qim/proto';
import { loadConfig, type RunningServer, SETTING_NAMES, startServer } from '@qim/server';
import { type CliIo, type Command, EXIT_DONE, EXIT_FAILED } from '../command.js';

export const serve: Command = {
  name: 'serve',
  summary: 'run the server until SIGTERM or SIGINT: once stops it gracefully, twice at once',
  settings: SETTING_NAMES,
  options: [],

  async run({ settings }, io) {
    const config = loadConfig({ flags: settings, environment: io.environment });
    const signals = watchStopSignals(io);
    try {
      // A signal during the start waits for its end: what was half opened is closed by the ordinary stop.
      const server = await startServer(config, io);
      await signals.first;
      return await stop(server, signals.second, io);
    } finally {
      signals.end();
    }
  },
};

async function stop(server: RunningServer, second: Promise<void>, io: CliIo): Promise<number> {
  const impatient = second.then(() => {
    io.err('qim: stopping at once');
    return EXIT_FAILED;
  });
  return Promise.race([server.stop().then(() => EXIT_DONE), impatient]);
}

interface StopSignals {
  readonly first: Promise<void>;
  /** Later than the first one by STOP_SIGNAL_REPEAT_MS; what comes sooner is the same keystroke, handed on by npm. */
  readonly second: Promise<void>;
  end(): void;
}

function watchStopSignals(io: CliIo): StopSignals {
  const { promise: first, resolve: resolveFirst } = deferred();
  const { promise: second, resolve: resolveSecond } = deferred();
  let firstAtMs: number | undefined;
  const end = io.onStopSignal(() => {
    if (firstAtMs === undefined) {
      firstAtMs = io.now();
      resolveFirst();
    } else if (io.now() - firstAtMs >= STOP_SIGNAL_REPEAT_MS) {
      resolveSecond();
    }
  });
  return { first, second, end };
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

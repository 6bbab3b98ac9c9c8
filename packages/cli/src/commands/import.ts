/** `qim import`: an archive into an empty store (docs/archive.md). */
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { openArchiveSink, readSettings, STORE_SETTINGS } from '@qim/server';
import { importArchive } from '@qim/store/archive';
import { type Command, EXIT_DONE, EXIT_FAILED, required, UsageError } from '../command.js';
import { reported } from './archive-report.js';

export const importCommand: Command = {
  name: 'import',
  summary: 'make a store of an archive: an empty one, which no server has',
  settings: STORE_SETTINGS,
  options: [{ name: 'file', value: 'FILE', doc: 'the archive, as qim export wrote it' }],

  async run(args, io) {
    const place = readSettings(STORE_SETTINGS, { flags: args.settings, environment: io.environment });
    const file = required(args, 'file');
    if (!existsSync(file)) throw new UsageError(`there is no ${file}`);
    const { size } = await stat(file);
    const sink = await openArchiveSink(place);
    try {
      const state = await reported('imported', io, (signal, report) =>
        importArchive({
          sink,
          open: () => createReadStream(file),
          now: io.now,
          signal,
          progress: ({ pass, bytes, counts }) => report.progress(pass, bytes / size, counts),
        }),
      );
      if (state !== undefined) return EXIT_DONE;
      io.err('qim: ended before its end; the same command goes on, and no server opens the store until it is done');
      return EXIT_FAILED;
    } finally {
      await sink.close();
    }
  },
};

/** `qim export`: a whole store into one file (docs/archive.md). */
import { createReadStream, existsSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { openArchiveSource, readSettings, STORE_SETTINGS } from '@qim/server';
import { type ArchiveSource, type ArchiveState, type ExportedPart, exportStore, newArchiveId, readExportedPart } from '@qim/store/archive';
import { type Arguments, type CliIo, type Command, EXIT_DONE, EXIT_FAILED, required, UsageError } from '../command.js';
import { reported } from './archive-report.js';

export const exportCommand: Command = {
  name: 'export',
  summary: 'write a whole store, which no server has, into one file',
  settings: STORE_SETTINGS,
  options: [
    { name: 'file', value: 'FILE', doc: 'the archive; it must not be there yet' },
    { name: 'resume', value: undefined, doc: 'go on with FILE.part of an export that was ended' },
  ],

  async run(args, io) {
    const place = readSettings(STORE_SETTINGS, { flags: args.settings, environment: io.environment });
    const file = required(args, 'file');
    const part = `${file}.part`;
    checkFiles(args, file, part);
    const source = await openArchiveSource(place);
    try {
      const after = args.options.resume === true ? await readExportedPart(createReadStream(part)) : undefined;
      const state = await exportTo(part, source, after, io);
      if (state === undefined) {
        io.err('qim: ended before its end; the same command with --resume goes on');
        return EXIT_FAILED;
      }
      await rename(part, file);
      return EXIT_DONE;
    } finally {
      await source.close();
    }
  },
};

/** @throws UsageError */
function checkFiles(args: Arguments, file: string, part: string): void {
  if (existsSync(file)) throw new UsageError(`${file} is there already`);
  const resumes = args.options.resume === true;
  if (resumes && !existsSync(part)) throw new UsageError(`there is no ${part} to go on with`);
  if (!resumes && existsSync(part)) throw new UsageError(`${part} is there already: go on with it by --resume, or remove it`);
}

/** The part is for its owner alone. What it has behind `after` is cut off. Undefined: a signal ended it. */
async function exportTo(
  part: string,
  source: ArchiveSource,
  after: ExportedPart | undefined,
  io: CliIo,
): Promise<ArchiveState | undefined> {
  const handle = await open(part, after === undefined ? 'wx' : 'r+', 0o600);
  try {
    let at = after?.endsAt ?? 0;
    await handle.truncate(at);
    const write = async (bytes: Buffer): Promise<void> => {
      for (let from = 0; from < bytes.length; ) from += (await handle.write(bytes, from, bytes.length - from, at + from)).bytesWritten;
      at += bytes.length;
    };
    const state = await reported('exported', io, (signal, report) =>
      exportStore({
        source,
        write,
        after,
        id: newArchiveId(),
        now: io.now,
        signal,
        progress: ({ section, done, counts }) => report.progress(section, done, counts),
      }),
    );
    await handle.sync();
    return state;
  } finally {
    await handle.close();
  }
}

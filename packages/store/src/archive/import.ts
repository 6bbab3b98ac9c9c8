/** An archive into an empty store, in one go or from where an earlier one ended. */
import { ArchiveError } from './errors.js';
import type { LineCounts } from './line.js';
import { readArchive } from './reader.js';
import type { ArchiveSink, ImportNote } from './sink.js';
import type { ArchiveState } from './writer.js';

export interface ImportOptions {
  readonly sink: ArchiveSink;
  /** The archive from its beginning; called twice. */
  readonly open: () => AsyncIterable<Uint8Array>;
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly progress: (at: ImportProgress) => void;
}

export interface ImportProgress {
  /** The archive is read as a whole before anything of it is written. */
  readonly pass: 'check' | 'import';
  /** Bytes of the archive that this pass has behind it. */
  readonly bytes: number;
  readonly counts: LineCounts;
}

/**
 * Undefined: the signal ended it; the same call goes on.
 *
 * @throws ArchiveError ArchiveDamaged, ArchiveUnsupported: nothing was written; StoreNotEmpty
 */
export async function importArchive({ sink, open, now, signal, progress }: ImportOptions): Promise<ArchiveState | undefined> {
  const checked = await checkArchive(open(), signal, (bytes, counts) => progress({ pass: 'check', bytes, counts }));
  if (checked === undefined) return undefined;
  const begun = await begin(sink, checked, now);
  for await (const found of readArchive(open())) {
    if (signal.aborted) return undefined;
    if (found.part !== 'chunk') continue;
    const { chunk } = found;
    if (chunk.chunks <= begun.chunks) continue;
    await sink.apply(chunk.lines, { ...begun, chunks: chunk.chunks });
    progress({ pass: 'import', bytes: chunk.endsAt, counts: chunk.counts });
  }
  await sink.end();
  return checked;
}

interface Checked extends ArchiveState {
  readonly archiveId: string;
}

async function begin(sink: ArchiveSink, { archiveId, sha256 }: Checked, now: () => number): Promise<ImportNote> {
  const before = await sink.note();
  if (before !== undefined) {
    if (before.archiveId === archiveId && before.sha256 === sha256) return before;
    throw new ArchiveError('StoreNotEmpty', 'the store holds the first part of another archive');
  }
  if (!(await sink.isEmpty())) throw new ArchiveError('StoreNotEmpty', 'the store is not empty: an archive goes only into an empty one');
  const note = { archiveId, sha256, chunks: 0, startedAtMs: now() };
  await sink.begin(note);
  return note;
}

/** Undefined: the signal ended it. @throws ArchiveError ArchiveDamaged, ArchiveUnsupported */
async function checkArchive(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  progress: (bytes: number, counts: LineCounts) => void,
): Promise<Checked | undefined> {
  let archiveId = '';
  for await (const found of readArchive(bytes)) {
    if (signal.aborted) return undefined;
    if (found.part === 'header') archiveId = found.header.id;
    else if (found.part === 'chunk') progress(found.chunk.endsAt, found.chunk.counts);
    else return { archiveId, ...found.state };
  }
  return undefined;
}

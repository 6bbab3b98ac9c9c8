/** How far an export that did not come to its end has got. */
import { ArchiveError } from './errors.js';
import type { ExportedPart } from './export.js';
import { noCounts } from './line.js';
import { readArchive } from './reader.js';

/**
 * Up to the last chunk that an export can go on from; what follows it, whole or not, is passed over.
 *
 * @throws ArchiveError ArchiveUnsupported, or ArchiveDamaged when not even the header is there
 */
export async function readExportedPart(bytes: AsyncIterable<Uint8Array>): Promise<ExportedPart> {
  let part: ExportedPart | undefined;
  try {
    for await (const found of readArchive(bytes)) {
      if (found.part === 'header') {
        const { header, sha256, endsAt } = found;
        part = { header, chunks: 0, sha256, counts: noCounts(), resume: undefined, endsAt };
      } else if (found.part === 'chunk' && part !== undefined && found.chunk.resume !== undefined) {
        const { chunks, sha256, counts, resume, endsAt } = found.chunk;
        part = { header: part.header, chunks, sha256, counts, resume, endsAt };
      }
    }
  } catch (error) {
    if (part === undefined || !(error instanceof ArchiveError)) throw error;
  }
  if (part === undefined) throw new ArchiveError('ArchiveDamaged', 'not even the header is there');
  return part;
}

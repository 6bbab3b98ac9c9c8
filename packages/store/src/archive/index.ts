/** Archives of whole stores: what `qim export` and `qim import` run (docs/archive.md). */
export { ArchiveError, type ArchiveErrorCode } from './errors.js';
export { type ExportedPart, type ExportProgress, exportStore } from './export.js';
export { ARCHIVE_VERSION, newArchiveId } from './header.js';
export { type ImportProgress, importArchive } from './import.js';
export type { LineCounts } from './line.js';
export { readExportedPart } from './part.js';
export type { ArchiveSink } from './sink.js';
export type { ArchiveSource } from './source.js';
export type { ArchiveState } from './writer.js';

/** The first line of an archive. */
import { uuidv7 } from 'uuidv7';
import { ArchiveError } from './errors.js';

/** Raised when a line changes its form or its meaning. */
export const ARCHIVE_VERSION = 1;

export interface ArchiveHeader {
  /** UUIDv7. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
  /** Of the store when the export began (ArchiveSource). */
  readonly pulse: string;
}

export const newArchiveId = uuidv7;

export function formatHeader({ id, createdAtMs, pulse }: ArchiveHeader): string {
  return `${JSON.stringify({ kind: 'qim-archive', version: ARCHIVE_VERSION, id, createdAtMs, pulse })}\n`;
}

/** @throws ArchiveError ArchiveUnsupported */
export function headerFrom(fields: Readonly<Record<string, unknown>>): ArchiveHeader {
  const { kind, version, id, createdAtMs, pulse } = fields;
  if (kind !== 'qim-archive') throw new ArchiveError('ArchiveUnsupported', 'this is no archive of qim', 1);
  if (version !== ARCHIVE_VERSION) {
    throw new ArchiveError(
      'ArchiveUnsupported',
      `this qim reads archives of version ${ARCHIVE_VERSION}; this one has ${String(version)}`,
      1,
    );
  }
  if (typeof id !== 'string' || typeof createdAtMs !== 'number' || typeof pulse !== 'string') {
    throw new ArchiveError('ArchiveDamaged', 'a header with a field missing', 1);
  }
  return { id, createdAtMs, pulse };
}

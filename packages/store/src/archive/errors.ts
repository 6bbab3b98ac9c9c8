/** Why an archive was not made, not read or not taken in. The message is for the operator and names the place. */
export type ArchiveErrorCode =
  /** The file is not what was written: it was changed, or cut short. `line`: of the file, from 1. */
  | 'ArchiveDamaged'
  /** A newer qim wrote it, or it is no archive. */
  | 'ArchiveUnsupported'
  /** The store holds something that has no place in an archive: it must be repaired first. */
  | 'NotArchivable'
  /** A server has the store, or wrote to it meanwhile. */
  | 'StoreInUse'
  /** An archive goes only into a store that holds nothing, or the first part of this archive. */
  | 'StoreNotEmpty';

export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
  readonly code: ArchiveErrorCode;
  /** Of the file, from 1; undefined: it is not about a line. */
  readonly line: number | undefined;

  constructor(code: ArchiveErrorCode, message: string, line?: number, options?: ErrorOptions) {
    super(line === undefined ? message : `line ${line}: ${message}`, options);
    this.code = code;
    this.line = line;
  }
}

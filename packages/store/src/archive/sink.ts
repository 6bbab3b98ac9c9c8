/**
 * Where an import writes. Implementations: `../redis/archive-sink`, `../embedded/archive-sink`. While the note stands no
 * server opens the store: it holds the first part of something. Every method may throw `StoreUnavailable`.
 */
import type { StoredFacts } from '../message/facts.js';
import type { ArchiveLine } from './line.js';

/** How far an import has come, kept in the store itself. */
export interface ImportNote {
  /** Of the archive's header. */
  readonly archiveId: string;
  /** Of the whole archive. */
  readonly sha256: string;
  /** Chunks that are in the store. */
  readonly chunks: number;
  /** Unix milliseconds; the epoch that all conversations come into is at least this. */
  readonly startedAtMs: number;
}

export interface ArchiveSink {
  /** Nothing is there but what opening a store makes. */
  isEmpty(): Promise<boolean>;
  /** Undefined: no import is under way. @throws ArchiveError StoreNotEmpty when the note cannot be read */
  note(): Promise<ImportNote | undefined>;
  begin(note: ImportNote): Promise<void>;
  /** Writes the lines of a chunk, which may be there already, in part or as a whole; then, or in the same step, the note. */
  apply(lines: readonly ArchiveLine[], note: ImportNote): Promise<void>;
  /** The import is done: servers may open the store. */
  end(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Devices begin anew, and sequences go on: what the archive holds is all that there is. Who restores an older state has
 * sequences left out by `beginNewEpochs` besides.
 */
export function inImportedEpoch(facts: StoredFacts, startedAtMs: number): StoredFacts {
  return { ...facts, epoch: Math.max(facts.epoch + 1, startedAtMs) };
}

export function formatNote(note: ImportNote): string {
  return JSON.stringify(note);
}

/** Undefined: no such text. */
export function parseNote(text: string): ImportNote | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { archiveId, sha256, chunks, startedAtMs }: Readonly<Record<string, unknown>> = { ...value };
    if (typeof archiveId !== 'string' || typeof sha256 !== 'string') return undefined;
    if (typeof chunks !== 'number' || typeof startedAtMs !== 'number') return undefined;
    return { archiveId, sha256, chunks, startedAtMs };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A whole store into an archive: conversations, users, and the rest; in one go, or from where an earlier one ended. */
import { FSCK_REST_RECORDS } from '@qim/proto';
import { encodeQuarantined } from '../verify/quarantine.js';
import { conversationLines, userLines } from './collect.js';
import { ArchiveError } from './errors.js';
import type { ArchiveHeader } from './header.js';
import type { ArchiveLine, LineCounts } from './line.js';
import type { ArchiveSource } from './source.js';
import { type ArchiveState, ArchiveWriter, type WriteBytes } from './writer.js';

/** What a part of an archive that is there already says of how to go on. */
export interface ExportedPart extends ArchiveState {
  readonly header: ArchiveHeader;
  /** Undefined: from the beginning. */
  readonly resume: string | undefined;
  /** Bytes that stay; the rest is written again. */
  readonly endsAt: number;
}

export interface ExportOptions {
  readonly source: ArchiveSource;
  readonly write: WriteBytes;
  /** To go on; undefined: a new archive. */
  readonly after: ExportedPart | undefined;
  /** UUIDv7 of a new archive. */
  readonly id: string;
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly progress: (at: ExportProgress) => void;
}

export interface ExportProgress {
  readonly section: Section;
  /** 0..1 of the section. */
  readonly done: number;
  readonly counts: LineCounts;
}

type Section = 'conversations' | 'users' | 'rest';

/**
 * Undefined: the signal ended it, and what is written can be gone on from.
 *
 * @throws ArchiveError NotArchivable; StoreInUse when the store was written to meanwhile, or since the first part was made
 */
export async function exportStore(options: ExportOptions): Promise<ArchiveState | undefined> {
  const { source, write, after, id, now, signal } = options;
  const pulse = await source.pulse();
  if (after !== undefined && after.header.pulse !== pulse) {
    throw new ArchiveError('StoreInUse', 'the store was written to, or began anew, since the first part was exported: begin again');
  }
  const writer =
    after === undefined ? await ArchiveWriter.begin(write, { id, createdAtMs: now(), pulse }) : ArchiveWriter.goOn(write, after);
  const [section, cursor] = placeOf(after?.resume);
  const run = new Run(options, writer);
  if (section === 'conversations' && !(await run.conversations(cursor))) return undefined;
  if (section !== 'rest' && !(await run.users(section === 'users' ? cursor : undefined))) return undefined;
  for await (const lines of source.others()) {
    if (signal.aborted) return undefined;
    for (const line of lines) await writer.add(line);
    run.told('rest', 0);
  }
  if ((await source.pulse()) !== pulse)
    throw new ArchiveError('StoreInUse', 'the store was written to while it was read: stop its servers');
  return writer.end();
}

/** A resume point is the section and, after a colon, the scanner's cursor. */
function placeOf(resume: string | undefined): [Section, string | undefined] {
  const [, section, cursor] = /^(conversations|users|rest):(.*)$/s.exec(resume ?? 'conversations:') ?? [];
  if (section === undefined) throw new ArchiveError('ArchiveDamaged', 'where the first part ended cannot be read: begin again');
  return [section as Section, cursor === '' ? undefined : cursor];
}

class Run {
  readonly #options: ExportOptions;
  readonly #writer: ArchiveWriter;
  #sinceRest = 0;

  constructor(options: ExportOptions, writer: ArchiveWriter) {
    this.#options = options;
    this.#writer = writer;
  }

  /** False: the signal ended it. */
  async conversations(from: string | undefined): Promise<boolean> {
    const { scanner } = this.#options.source;
    for await (const { found, done, next } of scanner.conversations(EVERYTHING, from)) {
      for (const place of found) if (!(await this.#add(conversationLines(scanner.conversation(place))))) return false;
      if (next !== undefined) await this.#writer.mayGoOnFrom(`conversations:${next}`);
      this.told('conversations', done);
    }
    await this.#asides();
    await this.#writer.mayGoOnFrom('users:');
    return true;
  }

  /** What repairs put aside; of conversations, and too little to be looked for with each. */
  async #asides(): Promise<void> {
    for await (const { found } of this.#options.source.scanner.quarantine(EVERYTHING)) {
      for (const item of found) {
        const { tenantId, conversationId, id } = item;
        await this.#writer.add({ kind: 'conversation', tenantId, conversationId, facts: undefined });
        await this.#writer.add({ kind: 'aside', id, bytes: encodeQuarantined(item) });
      }
    }
  }

  async users(from: string | undefined): Promise<boolean> {
    const { source } = this.#options;
    for await (const { found, done, next } of source.scanner.users(EVERYTHING, from)) {
      for (const place of found) if (!(await this.#add(userLines(source, source.scanner.user(place))))) return false;
      if (next !== undefined) await this.#writer.mayGoOnFrom(`users:${next}`);
      this.told('users', done);
    }
    await this.#writer.mayGoOnFrom('rest:');
    return true;
  }

  told(section: Section, done: number): void {
    this.#options.progress({ section, done, counts: this.#writer.counts });
  }

  async #add(lines: AsyncIterable<ArchiveLine>): Promise<boolean> {
    for await (const line of lines) {
      await this.#writer.add(line);
      this.#sinceRest += 1;
      if (this.#options.signal.aborted) return false;
    }
    if (this.#sinceRest < FSCK_REST_RECORDS) return true;
    this.#sinceRest = 0;
    await this.#options.source.scanner.rest();
    return true;
  }
}

const EVERYTHING = { tenantId: undefined, id: undefined } as const;

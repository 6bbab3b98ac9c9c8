/**
 * Lines into chunks. A chunk is read by itself: it begins with the conversation or user that its lines belong to, and ends
 * with a line that seals it and all before it (docs/archive.md).
 */
import { createHash } from 'node:crypto';
import { ARCHIVE_CHUNK_BYTES, ARCHIVE_CHUNK_BYTES_MIN, ARCHIVE_LINE_BYTES_MAX } from '@qim/proto';
import { ArchiveError } from './errors.js';
import { type ArchiveHeader, formatHeader } from './header.js';
import { type ArchiveLine, type ContextLine, isContinued, isConversationPart, isUserPart, type LineKind, noCounts } from './line.js';
import { formatLine } from './line-text.js';

/** How far an archive has come. */
export interface ArchiveState {
  /** Whole chunks. */
  readonly chunks: number;
  /** SHA-256, in hexadecimal, of everything up to the end of the last one. */
  readonly sha256: string;
  readonly counts: Readonly<Record<LineKind, number>>;
}

/** Resolves when the bytes are where they will stay. */
export type WriteBytes = (bytes: Buffer) => Promise<void>;

export class ArchiveWriter {
  readonly #write: WriteBytes;
  readonly #counts: Record<LineKind, number>;
  #chunks: number;
  #sha256: string;
  #lines: string[] = [];
  #bytes = 0;
  #context: ContextLine | undefined;

  private constructor(write: WriteBytes, { chunks, sha256, counts }: ArchiveState) {
    this.#write = write;
    this.#chunks = chunks;
    this.#sha256 = sha256;
    this.#counts = { ...counts };
  }

  static async begin(write: WriteBytes, header: ArchiveHeader): Promise<ArchiveWriter> {
    const line = formatHeader(header);
    await write(Buffer.from(line, 'utf8'));
    return new ArchiveWriter(write, { chunks: 0, sha256: sealed('', line), counts: noCounts() });
  }

  /** After the chunks that are there. */
  static goOn(write: WriteBytes, state: ArchiveState): ArchiveWriter {
    return new ArchiveWriter(write, state);
  }

  get counts(): Readonly<Record<LineKind, number>> {
    return this.#counts;
  }

  /** @throws ArchiveError NotArchivable when the line is too long */
  async add(line: ArchiveLine): Promise<void> {
    if (this.#bytes >= ARCHIVE_CHUNK_BYTES) await this.#cut(null);
    if (line.kind === 'conversation' || line.kind === 'user') this.#context = line;
    else if (!isConversationPart(line) && !isUserPart(line)) this.#context = undefined;
    else if (this.#lines.length === 0 && this.#context !== undefined) this.#append(continued(this.#context));
    this.#append(line);
    if (!isContinued(line)) this.#counts[line.kind] += 1;
  }

  #append(line: ArchiveLine): void {
    const text = `${formatLine(line)}\n`;
    const bytes = Buffer.byteLength(text);
    if (bytes > ARCHIVE_LINE_BYTES_MAX) {
      throw new ArchiveError('NotArchivable', `a ${line.kind} of ${bytes} bytes; a line has at most ${ARCHIVE_LINE_BYTES_MAX}`);
    }
    this.#lines.push(text);
    this.#bytes += bytes;
  }

  /** All up to here is there, and an export can go on from `resume`: the chunk ends, unless it is still small. */
  async mayGoOnFrom(resume: string): Promise<void> {
    if (this.#bytes >= ARCHIVE_CHUNK_BYTES_MIN) await this.#cut(resume);
  }

  /** Seals the archive. */
  async end(): Promise<ArchiveState> {
    if (this.#lines.length > 0) await this.#cut(null);
    const state = { chunks: this.#chunks, sha256: this.#sha256, counts: { ...this.#counts } };
    await this.#write(Buffer.from(`${JSON.stringify({ kind: 'end', ...state })}\n`, 'utf8'));
    return state;
  }

  async #cut(resume: string | null): Promise<void> {
    const text = this.#lines.join('');
    this.#sha256 = sealed(this.#sha256, text);
    this.#chunks += 1;
    const seal = { kind: 'chunk', chunk: this.#chunks, lines: this.#lines.length, sha256: this.#sha256, resume };
    this.#lines = [];
    this.#bytes = 0;
    await this.#write(Buffer.from(`${text}${JSON.stringify(seal)}\n`, 'utf8'));
  }
}

function continued(line: ContextLine): ContextLine {
  return line.kind === 'conversation' ? { ...line, facts: undefined } : { ...line, continued: true };
}

/** Of all before it, as hexadecimal, and of the text that follows. */
export function sealed(before: string, text: string | Uint8Array): string {
  return createHash('sha256').update(before, 'latin1').update(text).digest('hex');
}

/**
 * An archive read chunk by chunk. A chunk is handed out only when its seal is right, which covers everything before it as
 * well; so what was handed out is what was written, and a changed or missing line is told with its number.
 */
import { ARCHIVE_CHUNK_BYTES_MAX, ARCHIVE_LINE_BYTES_MAX } from '@qim/proto';
import { ArchiveError } from './errors.js';
import { type ArchiveHeader, headerFrom } from './header.js';
import { type ArchiveLine, isContinued, isConversationPart, isUserPart, noCounts } from './line.js';
import { parseLine } from './line-text.js';
import { linesOf, type TextLine } from './text-lines.js';
import { type ArchiveState, sealed } from './writer.js';

export interface ArchiveChunk extends ArchiveState {
  readonly lines: readonly ArchiveLine[];
  /** Where an export goes on after it; undefined: not from here. */
  readonly resume: string | undefined;
  /** Bytes of the file up to its end. */
  readonly endsAt: number;
}

export type ArchivePart =
  | { readonly part: 'header'; readonly header: ArchiveHeader; readonly sha256: string; readonly endsAt: number }
  | { readonly part: 'chunk'; readonly chunk: ArchiveChunk }
  | { readonly part: 'end'; readonly state: ArchiveState };

/** Header, chunks, end. @throws ArchiveError ArchiveDamaged, ArchiveUnsupported */
export async function* readArchive(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ArchivePart> {
  const lines = linesOf(bytes, ARCHIVE_LINE_BYTES_MAX);
  const first = (await lines.next()).value;
  if (first === undefined) throw new ArchiveError('ArchiveUnsupported', 'this is no archive of qim', 1);
  const header = headerFrom(fieldsIn(first));
  const reading = new ChunkReading(sealed('', first.bytes));
  yield { part: 'header', header, sha256: reading.state.sha256, endsAt: first.endsAt };
  let last = first.number;
  for await (const line of lines) {
    last = line.number;
    const chunk = reading.take(line);
    if (chunk === 'end') {
      const more = (await lines.next()).value;
      if (more !== undefined) throw damaged(more.number, 'something follows the end');
      yield { part: 'end', state: reading.state };
      return;
    }
    if (chunk !== undefined) yield { part: 'chunk', chunk };
  }
  throw damaged(last + 1, 'the archive ends before its end');
}

class ChunkReading {
  #chunks = 0;
  #sha256: string;
  readonly #counts = noCounts();
  #lines: ArchiveLine[] = [];
  #texts: Uint8Array[] = [];
  #bytes = 0;
  /** What the last `conversation` or `user` of this chunk was. */
  #owner: 'conversation' | 'user' | undefined;

  constructor(sha256: string) {
    this.#sha256 = sha256;
  }

  get state(): ArchiveState {
    return { chunks: this.#chunks, sha256: this.#sha256, counts: { ...this.#counts } };
  }

  /** Undefined: the chunk goes on. */
  take(line: TextLine): ArchiveChunk | 'end' | undefined {
    const fields = fieldsIn(line);
    if (fields.kind === 'chunk') return this.#seal(line, fields);
    if (fields.kind === 'end') return this.#end(line, fields);
    const parsed = parseLine(fields);
    if (parsed === undefined) throw damaged(line.number, 'no line of an archive');
    this.#checkContext(line, parsed);
    this.#bytes += line.bytes.length;
    if (this.#bytes > ARCHIVE_CHUNK_BYTES_MAX) throw damaged(line.number, 'a chunk without its end');
    this.#lines.push(parsed);
    this.#texts.push(line.bytes);
    return undefined;
  }

  /** A part has what it belongs to before it, in the same chunk. */
  #checkContext({ number }: TextLine, line: ArchiveLine): void {
    if (line.kind === 'conversation' || line.kind === 'user') this.#owner = line.kind;
    const owner = isConversationPart(line) ? 'conversation' : isUserPart(line) ? 'user' : this.#owner;
    if (owner !== this.#owner) throw damaged(number, `a ${line.kind} without its ${owner}`);
  }

  #seal(line: TextLine, { chunk, lines, sha256, resume }: Readonly<Record<string, unknown>>): ArchiveChunk {
    this.#sha256 = sealed(this.#sha256, Buffer.concat(this.#texts));
    this.#chunks += 1;
    const first = line.number - this.#lines.length;
    if (sha256 !== this.#sha256 || chunk !== this.#chunks || lines !== this.#lines.length) {
      throw damaged(line.number, `chunk ${this.#chunks}, from line ${first} on, is not what was written`);
    }
    const found = this.#lines;
    for (const each of found) if (!isContinued(each)) this.#counts[each.kind] += 1;
    this.#owner = undefined;
    this.#lines = [];
    this.#texts = [];
    this.#bytes = 0;
    return { ...this.state, lines: found, resume: typeof resume === 'string' ? resume : undefined, endsAt: line.endsAt };
  }

  #end({ number }: TextLine, { chunks, sha256, counts }: Readonly<Record<string, unknown>>): 'end' {
    const same = chunks === this.#chunks && sha256 === this.#sha256 && JSON.stringify(counts) === JSON.stringify(this.#counts);
    if (!same || this.#lines.length > 0) throw damaged(number, 'the end does not fit what is before it');
    return 'end';
  }
}

function fieldsIn({ bytes, number, whole }: TextLine): Readonly<Record<string, unknown>> {
  if (!whole) throw damaged(number, 'the archive ends within a line');
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (number === 1) throw new ArchiveError('ArchiveUnsupported', 'this is no archive of qim', 1);
  throw damaged(number, 'no JSON object');
}

function damaged(line: number, what: string): ArchiveError {
  return new ArchiveError('ArchiveDamaged', what, line);
}

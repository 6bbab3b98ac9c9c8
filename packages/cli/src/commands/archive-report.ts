/** What `qim export` and `qim import` say on their way: a bar on a terminal, plain lines elsewhere, all on standard error. */
import { FSCK_PROGRESS_BAR_MS, FSCK_PROGRESS_LINE_MS } from '@qim/proto';
import type { ArchiveState, LineCounts } from '@qim/store/archive';
import { bar, type CliIo } from '../command.js';

type Io = Pick<CliIo, 'out' | 'err' | 'draw' | 'monotonicNow'>;

/** `work` with its progress told, and ended by a stop signal; undefined: it was. */
export async function reported(
  what: string,
  io: CliIo,
  work: (signal: AbortSignal, report: ArchiveReport) => Promise<ArchiveState | undefined>,
): Promise<ArchiveState | undefined> {
  const stop = new AbortController();
  const end = io.onStopSignal(() => stop.abort());
  const report = new ArchiveReport(io);
  try {
    const state = await work(stop.signal, report);
    if (state !== undefined) report.end(what, state.counts);
    return state;
  } finally {
    report.close();
    end();
  }
}

class ArchiveReport {
  readonly #io: Io;
  readonly #startedAt: number;
  #toldAt: number;

  constructor(io: Io) {
    this.#io = io;
    this.#startedAt = io.monotonicNow();
    this.#toldAt = this.#startedAt;
  }

  /** `done`: 0..1. */
  progress(what: string, done: number, counts: LineCounts): void {
    const now = this.#io.monotonicNow();
    if (now - this.#toldAt < (this.#io.draw === undefined ? FSCK_PROGRESS_LINE_MS : FSCK_PROGRESS_BAR_MS)) return;
    this.#toldAt = now;
    const line = `${what}: ${Math.floor(done * 100)} %, ${counts.record} messages`;
    if (this.#io.draw === undefined) this.#io.err(line);
    else this.#io.draw(`${bar(done)} ${line}`);
  }

  /** The last line, on standard output. */
  end(what: string, counts: LineCounts): void {
    const seconds = Math.round((this.#io.monotonicNow() - this.#startedAt) / 100) / 10;
    this.close();
    this.#io.out(`${what}: ${counts.conversation} conversations, ${counts.user} users, ${counts.record} messages in ${seconds} s`);
  }

  /** Takes the drawn line away. */
  close(): void {
    this.#io.draw?.('');
  }
}

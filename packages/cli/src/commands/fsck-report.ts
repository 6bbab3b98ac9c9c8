/** What `qim fsck` says: findings and what was done on standard output, progress on standard error. */
import { FSCK_PROGRESS_BAR_MS, FSCK_PROGRESS_LINE_MS } from '@qim/proto';
import type {
  ConversationPlace,
  Finding,
  SkippedRange,
  VerifyCounts,
  VerifyOptions,
  VerifyProgress,
  VerifyReport,
} from '@qim/store/verify';
import { bar, type CliIo } from '../command.js';

export interface FsckReportOptions {
  readonly json: boolean;
  readonly repair: VerifyOptions['repair'];
  readonly io: Pick<CliIo, 'out' | 'err' | 'draw' | 'monotonicNow'>;
}

export class FsckReport implements VerifyReport {
  readonly #options: FsckReportOptions;
  readonly #startedAt: number;
  #toldAt: number;

  constructor(options: FsckReportOptions) {
    this.#options = options;
    this.#startedAt = options.io.monotonicNow();
    this.#toldAt = this.#startedAt;
  }

  begin(description: string): void {
    if (!this.#options.json) this.#options.io.err(`verifying the ${description}`);
  }

  found(finding: Finding): void {
    this.#say({ event: 'found', ...jsonOf(finding) }, `${finding.code}: ${placeOf(finding)}: ${finding.what}`);
  }

  mended(finding: Finding, did: string): void {
    const word = this.#options.repair === 'dry' ? 'would mend' : 'mended';
    this.#say(
      { event: word === 'mended' ? word : 'wouldMend', ...jsonOf(finding), did },
      `${word}: ${finding.code}: ${placeOf(finding)}: ${did}`,
    );
  }

  left(finding: Finding, why: string): void {
    this.#say({ event: 'left', ...jsonOf(finding), why }, `left: ${finding.code}: ${placeOf(finding)}: ${why}`);
  }

  skipped({ tenantId, conversationId }: ConversationPlace, { epoch, from, through }: SkippedRange): void {
    const what = 'another server took the writes; sequences that it may not know of were left out';
    this.#say(
      { event: 'skipped', tenantId, conversationId, epoch, from, through },
      `no finding: tenant ${tenantId}, ${conversationId}: ${what}: ${from} to ${through}, epoch ${epoch}`,
    );
  }

  progress(progress: VerifyProgress): void {
    const { io } = this.#options;
    const now = io.monotonicNow();
    if (now - this.#toldAt < (io.draw === undefined ? FSCK_PROGRESS_LINE_MS : FSCK_PROGRESS_BAR_MS)) return;
    this.#toldAt = now;
    const line = progressLine(progress);
    if (io.draw === undefined) io.err(line);
    else io.draw(`${bar(progress.done)} ${line}`);
  }

  end(counts: VerifyCounts, finished: boolean): void {
    const { repair, io } = this.#options;
    const seconds = Math.round((io.monotonicNow() - this.#startedAt) / 100) / 10;
    const done = repair === 'yes' ? `, ${counts.mended} mended, ${counts.left} left` : '';
    const read = `${counts.conversations} conversations, ${counts.users} users, ${counts.records} records and entries`;
    const text = `${finished ? '' : 'ended before its end: '}${read} in ${seconds} s: ${counts.findings} findings${done}`;
    this.#say({ event: 'summary', finished, ...counts, seconds }, text);
  }

  /** Takes the drawn line away. */
  close(): void {
    this.#options.io.draw?.('');
  }

  #say(object: Readonly<Record<string, unknown>>, text: string): void {
    const { io, json } = this.#options;
    io.draw?.('');
    io.out(json ? JSON.stringify(object) : text);
  }
}

/** Absent parts are null, so that every line has the same names. */
function jsonOf({ code, tenantId, conversationId, userId, conversationSeq, what }: Finding): Readonly<Record<string, unknown>> {
  return { code, tenantId, conversationId: conversationId ?? null, userId: userId ?? null, conversationSeq: conversationSeq ?? null, what };
}

function placeOf({ tenantId, conversationId, userId, conversationSeq }: Finding): string {
  const parts = [
    `tenant ${tenantId}`,
    ...(conversationId === undefined ? [] : [conversationId]),
    ...(conversationSeq === undefined ? [] : [`sequence ${conversationSeq}`]),
    ...(userId === undefined ? [] : [`user ${userId}`]),
  ];
  return parts.join(', ');
}

function progressLine({ pass, done, counts }: VerifyProgress): string {
  return `${Math.floor(done * 100)} % of the ${pass}: ${counts.records} records and entries, ${counts.findings} findings`;
}

/** Findings of one place, each once, and no more of them than memory is meant for. */
import { FSCK_FINDINGS_KEPT_MAX } from '@qim/proto';
import { type Finding, findingKey } from './finding.js';
import type { Problem } from './mender.js';

export interface Found {
  readonly finding: Finding;
  /** Undefined: it can be mended. */
  readonly unmended: string | undefined;
}

export type Findings = ReadonlyMap<string, Found>;

export class Collection {
  readonly found = new Map<string, Found>();

  /** The first FSCK_FINDINGS_KEPT_MAX of one place are kept; the others are found when these are mended. */
  add(problems: readonly Problem[]): void {
    for (const { finding, mend, unmended } of problems) {
      const key = findingKey(finding);
      if (this.found.has(key) || this.found.size >= FSCK_FINDINGS_KEPT_MAX) continue;
      this.found.set(key, { finding, unmended: mend === undefined ? (unmended ?? 'it is not known how') : undefined });
    }
  }
}

/**
 * Looks `times` times, as long as anything is found, and keeps what was found each time: beside a running server one look
 * may fall between two changes.
 */
export async function confirmed(times: number, look: () => Promise<Findings>): Promise<Findings> {
  let found = await look();
  for (let more = times - 1; more > 0 && found.size > 0; more -= 1) {
    const again = await look();
    found = new Map([...found].filter(([key]) => again.has(key)));
  }
  return found;
}

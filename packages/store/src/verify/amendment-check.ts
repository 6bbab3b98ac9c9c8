/** Amendments entries against the records: one for each amended record, each with a number of its own. */
import { AMENDMENT_NUMBER_MAX, type ConversationSeq } from '@qim/proto';
import { decodeHeader } from '../message/codec.js';
import type { StoredFacts } from '../message/facts.js';
import { findingAt, nameOf } from './context.js';
import type { DecodedRow } from './decode-rows.js';
import type { FindingCode } from './finding.js';
import type { ConversationChange, Problem } from './mender.js';
import type { ConversationScan, StoredAmendment } from './scanner.js';

/** Amended records of one page that have no entry. They get numbers from `nextNumber` on. */
export async function checkAmended(scan: ConversationScan, rows: readonly DecodedRow[], nextNumber: () => number): Promise<Problem[]> {
  const amended = rows.flatMap(({ content }) =>
    content.kind === 'whole' && content.record.revision > 0 ? [content.record.conversationSeq] : [],
  );
  if (amended.length === 0) return [];
  const numbers = await scan.amendmentsOf(amended);
  return amended.flatMap((sequence, i) => (numbers[i] === undefined ? [withoutNumber(scan, sequence, nextNumber())] : []));
}

/** An amended message that no entry names; it gets `number`. */
export function withoutNumber({ place }: ConversationScan, sequence: ConversationSeq, number: number): Problem {
  const finding = findingAt(place, 'amendmentMissing', 'it was amended, and no entry says so', { conversationSeq: sequence });
  const changes = [{ kind: 'amendment', sequence, number } as const];
  const facts = (f: StoredFacts): StoredFacts => ({ ...f, amendmentNumber: Math.max(f.amendmentNumber, number) });
  return { finding, mend: { on: 'conversation', did: `it got the number ${number}`, changes, facts } };
}

export class AmendmentCheck {
  /** The greatest number that was met; 0: none. */
  greatest = 0;
  readonly #scan: ConversationScan;
  #before = 0;

  constructor(scan: ConversationScan) {
    this.#scan = scan;
  }

  /** Entries in the order of their numbers, where a store keeps that order. `replaced`: records that get others in their place. */
  async take(entries: readonly StoredAmendment[], retainedFrom: number, replaced: ReadonlySet<number>): Promise<Problem[]> {
    const problems: Problem[] = [];
    const named = [...new Set(entries.flatMap(({ sequence }) => sequence ?? []))];
    const records = new Map((await this.#scan.records(named)).map((record, i) => [named[i], record]));
    const reacted = await this.#reacted(named, records);
    for (const entry of entries) {
      const code = this.#fault(entry, entry.sequence && records.get(entry.sequence), retainedFrom, reacted);
      if (code !== 'amendmentWrong') this.greatest = Math.max(this.greatest, entry.number ?? 0);
      this.#before = entry.number ?? this.#before;
      if (code === undefined || (entry.sequence !== undefined && replaced.has(entry.sequence))) continue;
      const what = code === 'amendmentWrong' ? `${nameOf(entry.slot)}: its number is none, or of another` : 'no amended record has it';
      const finding = findingAt(this.#scan.place, code, what, { conversationSeq: entry.sequence });
      const seen = [{ kind: 'slot', slot: entry.slot, value: entry.raw } as const];
      problems.push({ finding, mend: { on: 'conversation', did: 'the entry was removed', changes: [removalOf(entry, code)], seen } });
    }
    return problems;
  }

  /** Those whose record was never rewritten, and that have reactions: these are why they have an entry. */
  async #reacted(named: readonly ConversationSeq[], records: ReadonlyMap<number | undefined, Uint8Array | undefined>) {
    const unchanged = named.filter((sequence) => {
      const record = records.get(sequence);
      const header = record && decodeHeader(record);
      return typeof header === 'object' && header.revision === 0;
    });
    const have = unchanged.length === 0 ? [] : await this.#scan.haveReactions(unchanged);
    return new Set<number>(unchanged.filter((_, i) => have[i] === true));
  }

  #fault(
    entry: StoredAmendment,
    record: Uint8Array | undefined | 0,
    retainedFrom: number,
    reacted: ReadonlySet<number>,
  ): FindingCode | undefined {
    const { sequence, number, agrees } = entry;
    const isNumber = number !== undefined && number <= AMENDMENT_NUMBER_MAX && number !== this.#before;
    if (sequence === undefined || !isNumber || !agrees) return 'amendmentWrong';
    if (sequence < retainedFrom || !record) return 'amendmentLeftOver';
    const header = decodeHeader(record);
    // A record that cannot be read is found on its own.
    return typeof header !== 'string' && header.revision === 0 && !reacted.has(sequence) ? 'amendmentLeftOver' : undefined;
  }
}

/** What is left over goes as a whole; of what is wrong only that entry: another one may be right. */
function removalOf({ slot, sequence }: StoredAmendment, code: FindingCode): ConversationChange {
  return code === 'amendmentLeftOver' && sequence !== undefined ? { kind: 'dropAmendment', sequence } : { kind: 'remove', slot };
}

/** `facts` were read after the entries. */
export function checkAmendmentNumber(scan: ConversationScan, facts: StoredFacts, greatest: number): Problem[] {
  if (greatest <= facts.amendmentNumber) return [];
  const what = `an entry has the number ${greatest}, and the facts say ${facts.amendmentNumber}`;
  const mend = {
    on: 'conversation',
    did: 'the facts have the greatest number',
    changes: [],
    facts: (f: StoredFacts): StoredFacts => ({ ...f, amendmentNumber: Math.max(f.amendmentNumber, greatest) }),
  } as const;
  return [{ finding: findingAt(scan.place, 'amendmentWrong', what), mend }];
}

/**
 * Of a conversation from which retention has removed nothing; `facts` were read before the entries. Which record the
 * amendment was of is not known, so the number goes back, and devices begin anew.
 */
export function checkNewestAmendment(scan: ConversationScan, facts: StoredFacts, greatest: number): Problem[] {
  if (greatest >= facts.amendmentNumber) return [];
  const what = `the facts count ${facts.amendmentNumber} amendments, and the newest entry has the number ${greatest}`;
  const mend = {
    on: 'conversation',
    did: 'the facts have the greatest number',
    changes: [],
    facts: (f: StoredFacts): StoredFacts => ({ ...f, amendmentNumber: greatest }),
    resync: true,
  } as const;
  return [{ finding: findingAt(scan.place, 'amendmentMissing', what), mend }];
}

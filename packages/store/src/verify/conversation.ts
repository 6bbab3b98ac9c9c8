/**
 * One pass over one conversation: everything that is wrong with what is stored of it, in the order in which it is met.
 *
 * Facts are read before the records and again after them. What commits meanwhile lies past the first facts, and what
 * retention removes lies below the second ones; neither is judged.
 */
import type { MessageRecord } from '@qim/proto';
import type { StoredFacts } from '../message/facts.js';
import { AmendmentCheck, checkAmended, checkAmendmentNumber, checkNewestAmendment } from './amendment-check.js';
import { HistoryComparison } from './answers.js';
import { aside, findingAt, nameOf, type VerifyContext } from './context.js';
import { type DecodedRow, decodeRows } from './decode-rows.js';
import { checkDedup } from './dedup-check.js';
import { checkFacts, rebuildFacts } from './facts-check.js';
import type { ConversationPlace } from './finding.js';
import { checkListed, checkMembers } from './member-check.js';
import type { Problem } from './mender.js';
import { checkReactions } from './reaction-check.js';
import { RowJudge } from './row-judge.js';
import type { ConversationScan, FactsRead, OddItem, StoredMember } from './scanner.js';

/** Takes what was found, a page at a time and before the next page is read; `facts` are those that it was judged by. */
export type ProblemSink = (problems: readonly Problem[], facts: FactsRead) => Promise<void>;

export class ConversationPass {
  readonly #context: VerifyContext;
  readonly #place: ConversationPlace;
  readonly #scan: ConversationScan;
  readonly #sink: ProblemSink;
  #sound = true;
  #before: FactsRead | undefined;
  /** The last that was given to an amended message without one. */
  #amendmentNumber = 0;

  constructor(context: VerifyContext, place: ConversationPlace, sink: ProblemSink) {
    this.#context = context;
    this.#place = place;
    this.#scan = context.scanner.conversation(place);
    this.#sink = sink;
  }

  async run(): Promise<void> {
    const before = await this.#scan.facts();
    this.#before = before;
    const wrong = await this.#scan.wrongKeys();
    // A key of another type hides what stood there: the rest is looked at when it is out of the way.
    if (wrong.length > 0) return this.#tell(wrong.map((item) => this.#odd(item)));
    if (before.facts === 'unsupportedVersion') {
      const finding = findingAt(this.#place, 'unsupportedVersion', 'its facts were written by a newer qim');
      return this.#tell([{ finding, mend: undefined, unmended: 'a newer qim can read it' }]);
    }
    const members = await this.#members();
    const facts = typeof before.facts === 'object' ? before.facts : undefined;
    const judge = new RowJudge({ context: this.#context, place: this.#place, facts, indexGone: !(await this.#scan.hasIndex()) });
    const history = new HistoryComparison(this.#context, this.#place, members);
    if (!(await this.#rows(judge, facts, history))) return;
    await this.#rest(judge, before, facts, members);
    // What is damaged is answered as damaged: only of a sound conversation is the answer worth a finding.
    if (this.#sound && facts !== undefined) await history.end();
    if (this.#sound && history.problem !== undefined) await this.#tell([history.problem]);
  }

  async #tell(problems: readonly Problem[]): Promise<void> {
    if (problems.length === 0 || this.#before === undefined) return;
    this.#sound = false;
    await this.#sink(problems, this.#before);
  }

  async #members(): Promise<StoredMember[]> {
    const members = new Map<string, StoredMember>();
    for await (const page of this.#scan.members()) {
      for (const member of page) members.set(member.slot.field?.toString('latin1') ?? member.slot.key, member);
      await this.#context.took(page.length);
    }
    return [...members.values()];
  }

  /** False: something must be out of the way before the rest can be judged. */
  async #rows(judge: RowJudge, facts: StoredFacts | undefined, history: HistoryComparison): Promise<boolean> {
    this.#amendmentNumber = facts?.amendmentNumber ?? 0;
    for await (const page of this.#scan.pages()) {
      await this.#tell(page.odd.map((item) => this.#odd(item)));
      if (page.odd.some(({ kind }) => kind === 'wrongType')) return false;
      const stored = facts === undefined ? page.rows : await this.#settledRows(page.rows, facts);
      const rows = await decodeRows(this.#scan, stored);
      await this.#tell(rows.flatMap((row) => judge.take(row)));
      await this.#tell(await checkAmended(this.#scan, rows, () => this.#nextNumber()));
      if (facts !== undefined && this.#sound) await history.take(wholeRecords(rows));
      await this.#context.took(page.rows.length);
      if (stored.length < page.rows.length) break;
    }
    await this.#tell(judge.end());
    return true;
  }

  #nextNumber(): number {
    this.#amendmentNumber += 1;
    return this.#amendmentNumber;
  }

  /** Without what was committed since the facts were read. */
  async #settledRows<Row extends { readonly sequence: number }>(rows: readonly Row[], facts: StoredFacts): Promise<readonly Row[]> {
    const last = rows[rows.length - 1];
    if (last === undefined || last.sequence <= facts.lastSequence) return rows;
    const now = (await this.#scan.facts()).facts;
    const movedOn = typeof now === 'object' && now.lastSequence > facts.lastSequence;
    return movedOn ? rows.filter(({ sequence }) => sequence <= facts.lastSequence) : rows;
  }

  async #rest(judge: RowJudge, before: FactsRead, facts: StoredFacts | undefined, members: readonly StoredMember[]): Promise<void> {
    const amendments = new AmendmentCheck(this.#scan);
    for await (const page of this.#scan.amendments()) {
      await this.#tell(await amendments.take(page, facts?.retainedFrom ?? 0, judge.replaced));
      await this.#context.took(page.length);
    }
    const surroundings = { retainedFrom: facts?.retainedFrom ?? 0, replaced: judge.replaced, nextNumber: () => this.#nextNumber() };
    for await (const page of this.#scan.reactions()) {
      await this.#tell(await checkReactions(this.#context, this.#scan, page, surroundings));
      await this.#context.took(page.length);
    }
    for await (const page of this.#scan.dedup()) {
      await this.#tell(await checkDedup(this.#scan, page, judge.replaced, () => this.#factsNow()));
      await this.#context.took(page.length);
    }
    const after = await this.#factsNow();
    if (facts === undefined || after === undefined) {
      const remains = { digest: judge.digest, members, amendmentNumber: amendments.greatest };
      const rebuilt = rebuildFacts(this.#context, this.#place, before, remains);
      await this.#tell(rebuilt === undefined ? [] : [rebuilt]);
      return;
    }
    await this.#tell(checkFacts(this.#place, facts, after, judge.digest));
    await this.#tell(checkAmendmentNumber(this.#scan, after, amendments.greatest));
    await this.#tell(await checkMembers(this.#context, this.#scan, after, members));
    await this.#tell(await checkListed(this.#context, this.#scan, after, members));
    // What is wrong with single entries is found there, and is why the newest one may be missing.
    if (this.#sound && after.retainedFrom === 1) await this.#tell(checkNewestAmendment(this.#scan, facts, amendments.greatest));
  }

  async #factsNow(): Promise<StoredFacts | undefined> {
    const { facts } = await this.#scan.facts();
    return typeof facts === 'object' ? facts : undefined;
  }

  #odd({ slot, kind, bytes }: OddItem): Problem {
    const code = kind === 'wrongType' ? 'wrongType' : slot.table === 'index' ? 'indexMemberInvalid' : LEFT_OVER[slot.table];
    const what =
      kind === 'wrongType'
        ? `the key of ${NAMES[slot.table] ?? slot.table} is of another type`
        : `its name ${nameOf(slot)} is no sequence of the conversation`;
    const finding = findingAt(this.#place, code ?? 'recordLeftOver', what);
    const changes = [...aside(this.#context, finding, NAMES[slot.table] ?? slot.table, bytes), { kind: 'remove', slot } as const];
    return { finding, mend: { on: 'conversation', did: bytes === undefined ? 'it was removed' : 'it was put aside', changes } };
  }
}

const LEFT_OVER: Partial<Record<OddItem['slot']['table'], 'recordLeftOver' | 'bodyLeftOver'>> = {
  record: 'recordLeftOver',
  body: 'bodyLeftOver',
};

const NAMES: Partial<Record<OddItem['slot']['table'], string>> = {
  key: 'the facts',
  index: 'the index',
  record: 'records',
  body: 'bodies',
  member: 'the members',
  amendment: 'the amendments',
  reaction: 'the reactions',
  dedup: 'de-duplication entries',
};

function wholeRecords(rows: readonly DecodedRow[]): MessageRecord[] {
  return rows.flatMap(({ content }) => (content.kind === 'whole' ? [content.record] : []));
}

/**
 * Judges the rows of one conversation in ascending order: which records are there, which are lost, and what is left over.
 *
 * Three things vouch for a record: the index, the record after it (by its prevSequence), and the facts (for the newest).
 * A record that is vouched for and not whole gets a Deleted one in its place; what nothing vouches for is left over. A
 * whole record is never given up. What cannot be decided before the next whole record is met waits for it.
 *
 * Everything is judged as it will be when what was found before it is mended, so that one fault is one finding.
 */
import { type ConversationSeq, FSCK_FINDINGS_KEPT_MAX, FSCK_UNDECIDED_MAX, type MessageRecord, SEQ_ZERO } from '@qim/proto';
import { encodeRecord } from '../message/codec.js';
import type { StoredFacts } from '../message/facts.js';
import { aside, findingAt, type VerifyContext } from './context.js';
import type { DecodedRow } from './decode-rows.js';
import type { ConversationPlace, Finding, FindingCode } from './finding.js';
import type { ConversationChange, Problem, SeenValue } from './mender.js';
import { placeholderOf } from './placeholder.js';
import { RecordDigest } from './record-digest.js';

/** A row without a whole record. */
interface Undecided {
  readonly sequence: ConversationSeq;
  /** Undefined: nothing is stored under it, and a record names it. */
  readonly row: DecodedRow | undefined;
}

export interface JudgeInput {
  readonly context: VerifyContext;
  readonly place: ConversationPlace;
  /** Undefined: there are none that can be read; then the first whole record is where the conversation begins. */
  readonly facts: StoredFacts | undefined;
  /** The conversation has no index at all: that is one finding, not one for each record. */
  readonly indexGone: boolean;
}

export class RowJudge {
  readonly digest = new RecordDigest();
  /** Records that get others in their place; the first FSCK_FINDINGS_KEPT_MAX. */
  readonly replaced = new Set<number>();
  readonly #input: JudgeInput;
  #undecided: Undecided[] = [];
  /** The record before the next one, as it will be. */
  #last: { readonly sequence: ConversationSeq; readonly committedAtMs: number } | undefined;

  constructor(input: JudgeInput) {
    this.#input = input;
  }

  take(row: DecodedRow): Problem[] {
    const { facts } = this.#input;
    const { content } = row;
    // Retention takes record and index member in one step: what still has both was not removed, and the facts are wrong.
    const removed = facts !== undefined && row.sequence < facts.retainedFrom && !(row.indexed && row.record !== undefined);
    if (removed) return [this.#leftOver(row, 'it lies before what retention left', this.#input.indexGone)];
    if (content.kind === 'whole') return [...this.#decide(content.record), ...this.#takeWhole(row, content.record, content.bodyApart)];
    if (content.kind === 'broken' && content.reason === 'unsupportedVersion' && !this.#input.context.newerIsDamage) {
      return [...this.#decide(undefined), ...this.#takeNewer(row)];
    }
    this.#undecided.push({ sequence: row.sequence, row });
    return this.#undecided.length > FSCK_UNDECIDED_MAX ? this.#decide(undefined) : [];
  }

  /** No more rows. */
  end(): Problem[] {
    const { facts } = this.#input;
    const problems = this.#decide(undefined);
    // Facts alone speak for a conversation of which nothing is left: it must not look as if nothing was ever said.
    const nothing = this.#last === undefined && facts !== undefined && facts.lastSequence >= facts.retainedFrom;
    return nothing ? [...problems, this.#replace({ sequence: facts.lastSequence, row: undefined }, undefined)] : problems;
  }

  /** `next`: the whole record that follows; undefined: none is known. */
  #decide(next: MessageRecord | undefined): Problem[] {
    const waiting = this.#undecided;
    this.#undecided = [];
    const prev = next?.prevSequence ?? SEQ_ZERO;
    const named = prev > this.#floor() && !waiting.some(({ sequence }) => sequence === prev);
    const lost: Undecided[] = named ? [{ sequence: prev, row: undefined }] : [];
    const inOrder = [...waiting, ...lost].sort((a, b) => a.sequence - b.sequence);
    return inOrder.map((item) => (this.#isVouched(item, next) ? this.#replace(item, next) : this.#giveUp(item)));
  }

  /** What the record after it cannot name as lost: what is there, and what retention removed. */
  #floor(): number {
    if (this.#last !== undefined) return this.#last.sequence;
    const { facts } = this.#input;
    return facts === undefined ? Number.POSITIVE_INFINITY : facts.retainedFrom - 1;
  }

  #isVouched({ sequence, row }: Undecided, next: MessageRecord | undefined): boolean {
    const head = this.#input.facts?.lastSequence;
    if (row === undefined || sequence === next?.prevSequence) return true;
    if (next === undefined) return row.indexed ? head === undefined || sequence <= head : sequence === head;
    return row.indexed && (row.record !== undefined || sequence < next.prevSequence);
  }

  #takeWhole(row: DecodedRow, record: MessageRecord, bodyApart: boolean): Problem[] {
    const problems: Problem[] = [];
    const fixed = this.#linked(record);
    if (fixed.prevSequence !== record.prevSequence) problems.push(this.#relink(row, record, fixed));
    if (fixed.committedAtMs !== record.committedAtMs) problems.push(this.#retime(row, record, fixed));
    if (!row.indexed) problems.push(this.#index(row));
    else if (row.score !== 0) problems.push(this.#rescore(row));
    if (row.hasBody && !bodyApart) problems.push(this.#dropBody(row, undefined));
    this.#last = { sequence: fixed.conversationSeq, committedAtMs: fixed.committedAtMs };
    this.digest.take(fixed);
    return problems;
  }

  /** As the chain and the time before it want it; most are that already. */
  #linked(record: MessageRecord): MessageRecord {
    const last = this.#last;
    const begins = last === undefined && this.#floor() >= record.prevSequence;
    const prevSequence = begins ? record.prevSequence : (last?.sequence ?? SEQ_ZERO);
    const committedAtMs = Math.max(record.committedAtMs, last?.committedAtMs ?? 0);
    const right = prevSequence === record.prevSequence && committedAtMs === record.committedAtMs;
    return right ? record : { ...record, prevSequence, committedAtMs };
  }

  /** It stands as it is: whoever wrote it can read it. */
  #takeNewer(row: DecodedRow): Problem[] {
    const { place } = this.#input;
    this.#last = { sequence: row.sequence, committedAtMs: this.#last?.committedAtMs ?? 0 };
    this.digest.takeUnknown(row.sequence);
    const finding = findingAt(place, 'unsupportedVersion', 'its record was written by a newer qim', { conversationSeq: row.sequence });
    return [{ finding, mend: undefined, unmended: 'a newer qim can read it; --newer-is-damage puts it aside' }];
  }

  #problem(code: FindingCode, row: DecodedRow, what: string, did: string, changes: readonly ConversationChange[]): Problem {
    return { finding: this.#finding(code, row.sequence, what), mend: { on: 'conversation', did, changes, seen: [asStored(row)] } };
  }

  #finding(code: FindingCode, conversationSeq: ConversationSeq, what: string): Finding {
    return findingAt(this.#input.place, code, what, { conversationSeq });
  }

  #index(row: DecodedRow): Problem {
    const changes = [{ kind: 'index', sequence: row.sequence } as const];
    if (this.#input.indexGone) {
      const finding = findingAt(this.#input.place, 'indexMissing', 'there are records, and no index');
      return { finding, mend: { on: 'conversation', did: 'the index was made from the records', changes, seen: [asStored(row)] } };
    }
    return this.#problem('indexMemberMissing', row, 'the index does not have it', 'it was put into the index', changes);
  }

  #rescore(row: DecodedRow): Problem {
    const changes = [{ kind: 'index', sequence: row.sequence } as const];
    return this.#problem('indexMemberInvalid', row, `its index member has the score ${row.score}`, 'the score was made 0', changes);
  }

  #relink(row: DecodedRow, record: MessageRecord, fixed: MessageRecord): Problem {
    const what = `it names ${record.prevSequence} as the record before it, which is ${fixed.prevSequence}`;
    return this.#problem('chainBroken', row, what, 'it was linked to the record before it', rewritten(fixed));
  }

  #retime(row: DecodedRow, record: MessageRecord, fixed: MessageRecord): Problem {
    const what = `it was committed at ${record.committedAtMs}, the record before it at ${fixed.committedAtMs}`;
    return this.#problem('commitTimeBack', row, what, 'it got the time of the record before it', rewritten(fixed));
  }

  #dropBody(row: DecodedRow, body: Uint8Array | undefined): Problem {
    const finding = this.#finding('bodyLeftOver', row.sequence, 'a body is kept apart for it, and it has none apart');
    const changes = [
      ...aside(this.#input.context, finding, 'a body', body),
      { kind: 'dropBody', sequence: row.sequence } satisfies ConversationChange,
    ];
    return { finding, mend: { on: 'conversation', did: 'the body was removed', changes, seen: [asStored(row)] } };
  }

  /** Nothing vouches for it. */
  #giveUp({ row }: Undecided): Problem {
    if (row === undefined) throw new Error('what has no row is vouched for');
    if (row.record !== undefined) return this.#leftOver(row, 'nothing vouches for it, and it cannot be read', true);
    const body = row.content.kind === 'whole' ? undefined : row.content.body;
    if (!row.indexed) return this.#dropBody(row, body);
    return this.#problem('indexMemberExtra', row, 'the index names it, and no record ever had it', 'it was taken out of the index', [
      { kind: 'unindex', sequence: row.sequence },
      ...(row.hasBody ? [{ kind: 'dropBody', sequence: row.sequence } satisfies ConversationChange] : []),
    ]);
  }

  /** `keep`: its bytes are put aside. What retention has removed is never kept. */
  #leftOver(row: DecodedRow, why: string, keep: boolean): Problem {
    const { sequence } = row;
    const finding = this.#finding('recordLeftOver', sequence, why);
    const changes: ConversationChange[] = [
      ...(keep ? this.#bytesAside(finding, row) : []),
      { kind: 'unindex', sequence },
      { kind: 'dropRecord', sequence },
      { kind: 'dropBody', sequence },
      { kind: 'dropAmendment', sequence },
    ];
    return { finding, mend: { on: 'conversation', did: keep ? 'it was put aside' : 'it was removed', changes, seen: [asStored(row)] } };
  }

  #bytesAside(finding: Finding, row: DecodedRow): ConversationChange[] {
    const { context } = this.#input;
    const body = row.content.kind === 'whole' ? undefined : row.content.body;
    return [...aside(context, finding, 'a record', row.record), ...aside(context, finding, 'a body', body)];
  }

  /** The facts know the newest one's; of others it is that of the record before, or after it: times never go back. */
  #timeOf(sequence: ConversationSeq, next: MessageRecord | undefined): number {
    const { facts } = this.#input;
    if (facts !== undefined && (sequence === facts.lastSequence || (this.#last ?? next) === undefined)) return facts.lastCommittedAtMs;
    return this.#last?.committedAtMs ?? next?.committedAtMs ?? 0;
  }

  /** A Deleted record takes its place, and is the record before the next one from here on. */
  #replace(item: Undecided, next: MessageRecord | undefined): Problem {
    const { context, place, facts } = this.#input;
    const { sequence, row } = item;
    const broken = row?.content.kind === 'broken' ? row.content : undefined;
    const finding = this.#finding(codeOf(item), sequence, whatOf(item));
    const record = placeholderOf(context, {
      place,
      sequence,
      prevSequence: this.#last?.sequence ?? SEQ_ZERO,
      committedAtMs: this.#timeOf(sequence, next),
      wasControl: facts !== undefined && sequence > facts.previewSequence,
      known: broken?.known,
    });
    const timed = { ...record, committedAtMs: Math.max(record.committedAtMs, this.#last?.committedAtMs ?? 0) };
    this.#last = { sequence, committedAtMs: timed.committedAtMs };
    this.digest.take(timed);
    if (this.replaced.size < FSCK_FINDINGS_KEPT_MAX) this.replaced.add(sequence);
    const changes: ConversationChange[] = [
      ...(row === undefined ? [] : this.#bytesAside(finding, row)),
      ...rewritten(timed),
      { kind: 'index', sequence },
      { kind: 'dropAmendment', sequence },
    ];
    const seen = [row === undefined ? ({ kind: 'record', sequence, record: undefined } as const) : asStored(row)];
    return { finding, mend: { on: 'conversation', did: 'a Deleted record took its place', changes, seen, resync: true } };
  }
}

function asStored({ sequence, record }: DecodedRow): SeenValue {
  return { kind: 'record', sequence, record };
}

function rewritten(record: MessageRecord): ConversationChange[] {
  return [{ kind: 'record', sequence: record.conversationSeq, ...encodeRecord(record) }];
}

function codeOf({ row }: Undecided): FindingCode {
  if (row?.content.kind !== 'broken') return 'recordMissing';
  switch (row.content.reason) {
    case 'recordMismatch':
    case 'bodyMissing':
    case 'bodyUnreadable':
    case 'unsupportedVersion':
      return row.content.reason;
    default:
      return 'recordUnreadable';
  }
}

function whatOf({ row }: Undecided): string {
  if (row === undefined) return 'the record after it, or the facts, name it, and nothing is there';
  if (row.content.kind !== 'broken') return row.indexed ? 'the index names it, and there is no record' : 'there is no record';
  switch (row.content.reason) {
    case 'recordMismatch':
      return 'the record of another tenant, conversation or sequence stands there';
    case 'bodyMissing':
      return 'its body is kept apart, and is not there';
    case 'bodyUnreadable':
      return 'its body is damaged, or belongs to another record or revision';
    case 'unsupportedVersion':
      return 'its record has the version of a newer qim';
    default:
      return 'its bytes are damaged';
  }
}

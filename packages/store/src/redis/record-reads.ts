/** Reading records for a member: whole, the ones that were asked for, linked to each other, or damage. */
import { type ConversationSeq, type CorruptReason, type MessageRecord, type Reactions, SEQ_ZERO } from '@qim/proto';
import { corrupt } from '../errors.js';
import { sequenceFromBytes } from '../message/bytes.js';
import { checkIdentity, decodeHeader, type RecordHeader } from '../message/codec.js';
import type { StoredFacts } from '../message/facts.js';
import type { ReactionsOf, ReplyPreviews } from '../message/message-store.js';
import type { PageBudget } from '../message/page-budget.js';
import { decodeReactions } from '../message/reactions.js';
import { previewFrom, repliedTo, replyPreviews } from '../message/reply-previews.js';
import type { RecordBytes } from '../message/summaries.js';
import type { RedisContext } from './context.js';
import { fetchAhead } from './history-budget.js';
import type { ConversationKeys, ConversationPlace } from './keys.js';
import { readAtomically, wholeRecord } from './messages.js';
import { bucketRead, reactionsCommand, reactionsFrom } from './reads.js';

type Whole = MessageRecord | CorruptReason | undefined;

interface FilledPage {
  readonly records: readonly MessageRecord[];
  readonly reactions: ReactionsOf;
}

export class RecordReads {
  readonly keys: ConversationKeys;
  readonly #context: RedisContext;
  readonly #place: ConversationPlace;

  constructor(context: RedisContext, place: ConversationPlace) {
    this.#context = context;
    this.#place = place;
    this.keys = context.keys.conversation(place.tenantId, place.conversationId);
  }

  damage(reason: CorruptReason, sequence?: ConversationSeq): Error {
    return corrupt(this.#place.tenantId, this.#place.conversationId, reason, sequence);
  }

  /** @throws CorruptRecord | UnsupportedVersion when it is a reason */
  sound<T>(value: T | CorruptReason, sequence?: ConversationSeq): Exclude<T, string> {
    if (typeof value === 'string') throw this.damage(value as CorruptReason, sequence);
    return value as Exclude<T, string>;
  }

  sequences(members: readonly Buffer[] | CorruptReason): ConversationSeq[] {
    return this.sound(members).map((member) => this.sound(sequenceFromBytes(member) ?? 'indexMemberInvalid'));
  }

  /** The head; 0: none. The newest member is what the facts say, or the index has lost its end. */
  checkEnd(facts: StoredFacts, newest: { readonly member: Buffer; readonly score: number } | undefined): ConversationSeq {
    const head = newest === undefined ? SEQ_ZERO : newest.score === 0 && sequenceFromBytes(newest.member);
    if (head === false || head === undefined) throw this.damage('indexMemberInvalid');
    if (head < facts.lastSequence) throw this.damage(newest === undefined ? 'indexMissing' : 'indexBehindFacts', facts.lastSequence);
    return head;
  }

  /** In their order. Cost: 1. */
  async bytes(sequences: readonly ConversationSeq[]): Promise<RecordBytes[]> {
    const read = bucketRead((bucket) => this.keys.records(bucket), sequences);
    return read.valuesFrom(await this.#context.connection.pipeline(read.commands));
  }

  /** Records, and what of reactions is beside them, each in the order of the sequences. Cost: 1. */
  async messageBytes(
    sequences: readonly ConversationSeq[],
  ): Promise<{ readonly records: RecordBytes[]; readonly reactions: RecordBytes[] }> {
    if (sequences.length === 0) return { records: [], reactions: [] };
    const read = bucketRead((bucket) => this.keys.records(bucket), sequences);
    const [reactions, ...records] = await this.#context.connection.pipeline([reactionsCommand(this.keys, sequences), ...read.commands]);
    return { records: read.valuesFrom(records), reactions: reactionsFrom(reactions, sequences) };
  }

  header(sequence: ConversationSeq, bytes: RecordBytes): RecordHeader {
    const header = typeof bytes === 'object' ? decodeHeader(bytes) : (bytes ?? 'recordMissing');
    if (typeof header === 'string') throw this.damage(header, sequence);
    const { tenantId, conversationId } = this.#place;
    if (!checkIdentity(header, tenantId, conversationId, sequence)) throw this.damage('recordMismatch', sequence);
    return header;
  }

  /** Records that follow each other; the first one's predecessor lies at or below the floor. */
  checkForward(sequences: readonly ConversationSeq[], headers: readonly RecordHeader[], floor: ConversationSeq): void {
    for (const [i, header] of headers.entries()) {
      const before = sequences[i - 1];
      const linked = before === undefined ? header.prevSequence <= floor : header.prevSequence === before;
      if (!linked) throw this.damage('chainBroken', sequences[i]);
    }
  }

  /**
   * The records with their bodies, as far as one page can hold them. What does not fit together is read again in one
   * atomic read. Cost: 1 when bodies are apart.
   */
  async whole(sequences: readonly ConversationSeq[], headers: readonly RecordHeader[], bytes: readonly RecordBytes[]): Promise<Whole[]> {
    const count = fetchAhead(headers);
    const apart = sequences.slice(0, count).filter((_, i) => headers[i]?.bodyApart);
    const read = bucketRead((bucket) => this.keys.bodies(bucket), apart);
    const found = read.valuesFrom(await this.#context.connection.pipeline(read.commands));
    const bodies = new Map(apart.map((seq, i) => [seq, found[i]]));
    const records = sequences.slice(0, count).map((seq, i) => wholeRecord(this.#place, seq, bytes[i], bodies.get(seq)));
    await this.#readDoubtful(sequences, records);
    return records;
  }

  /** Replaces those whose body did not belong to them by what one atomic read says. */
  async #readDoubtful(sequences: readonly ConversationSeq[], records: Whole[]): Promise<void> {
    const places = records.flatMap((record, i) => (record === 'bodyMissing' || record === 'bodyUnreadable' ? [i] : []));
    if (places.length === 0) return;
    const doubtful = places.map((i) => sequences[i] ?? SEQ_ZERO);
    const again = await readAtomically(this.#context, this.keys, doubtful);
    for (const [j, i] of places.entries()) {
      records[i] = wholeRecord(this.#place, doubtful[j] ?? SEQ_ZERO, again[j]?.record, again[j]?.body);
    }
  }

  /** What these reply to, as far as it lies past the floor. Cost: none without replies, else 1. */
  async replyPreviews(records: readonly MessageRecord[], floor: ConversationSeq): Promise<ReplyPreviews> {
    const named = repliedTo(records, floor);
    const bytes = named.length === 0 ? [] : await this.bytes(named);
    const previews = named.map((seq, i) => {
      const found = bytes[i];
      return [seq, typeof found === 'string' ? undefined : previewFrom(this.#place, seq, found)] as const;
    });
    return replyPreviews(records, new Map(previews));
  }

  /** The first of them, as many as the budget takes; what comes after is not judged. */
  fill(
    budget: PageBudget,
    sequences: readonly ConversationSeq[],
    records: readonly Whole[],
    reactions: readonly RecordBytes[],
  ): FilledPage {
    const page = { records: [] as MessageRecord[], reactions: new Map<ConversationSeq, Reactions>() };
    for (const [i, record] of records.entries()) {
      const whole = this.sound(record ?? 'recordMissing', sequences[i]);
      const held = this.sound(reactionsOf(whole, reactions[i]), sequences[i]);
      if (!budget.take(whole, held)) break;
      page.records.push(whole);
      if (held !== undefined) page.reactions.set(whole.conversationSeq, held);
    }
    return page;
  }
}

/** `bytes`: what is stored beside the record. */
export function reactionsOf(record: MessageRecord, bytes: RecordBytes): Reactions | CorruptReason | undefined {
  return typeof bytes === 'string' ? bytes : decodeReactions(record, bytes);
}

export function later(a: ConversationSeq, b: ConversationSeq): ConversationSeq {
  return a > b ? a : b;
}

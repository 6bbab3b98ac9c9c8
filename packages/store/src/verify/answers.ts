/** What the service answers, beside what the records say. Asked only of conversations that are sound in themselves. */
import {
  type ConversationSeq,
  EXACT_UNREAD_SCAN_LIMIT,
  HISTORY_PAGE_SIZE_MAX,
  isQimError,
  type MessageRecord,
  parseConversationSeq,
  SEQ_ZERO,
  type UserId,
} from '@qim/proto';
import { isDamage } from '../errors.js';
import type { StoredFacts } from '../message/facts.js';
import type { ConversationReading } from '../message/summary.js';
import { findingAt, type VerifyContext } from './context.js';
import { decodeRows } from './decode-rows.js';
import type { ConversationPlace } from './finding.js';
import type { Problem } from './mender.js';
import { type Recounted, recount } from './recount.js';
import type { ConversationScan, StoredMember } from './scanner.js';

const UNMENDED = 'nothing that is stored is wrong: please report it';

/** What the list answers for `userId`, counted from `floor`; undefined: the same as the recount. */
export async function compareList(
  scan: ConversationScan,
  facts: StoredFacts,
  userId: UserId,
  floor: ConversationSeq,
  reading: ConversationReading | undefined,
): Promise<Problem | undefined> {
  const records = await recordsFor(scan, facts, floor);
  if (records === undefined) return undefined;
  const expected = recount(records, floor, userId);
  const answered = reading === undefined ? 'nothing' : answerOf(reading);
  const wanted = JSON.stringify(expected);
  if (answered === wanted) return undefined;
  const what = `counted from ${floor}, the list answers ${answered}, and the records say ${wanted}`;
  return { finding: findingAt(scan.place, 'answerDiffers', what, { userId }), mend: undefined, unmended: UNMENDED };
}

function answerOf(reading: ConversationReading): string {
  if (reading.kind === 'damaged') return `that it is damaged (${reading.error.detail.reason})`;
  const { latestConversationSeq, lastActivityId, lastMessageId, unreadCount, unreadExact, mentionCount } = reading.summary;
  const answered: Recounted = {
    latestConversationSeq,
    lastActivityId: lastActivityId ?? null,
    lastMessageId: lastMessageId ?? null,
    unreadCount,
    unreadExact,
    mentionCount: mentionCount ?? null,
  };
  return JSON.stringify(answered);
}

/** The window past the floor, or the head alone; undefined: not all of it is sound, which is a finding of its own. */
async function recordsFor(scan: ConversationScan, facts: StoredFacts, floor: ConversationSeq): Promise<MessageRecord[] | undefined> {
  const head = facts.lastSequence;
  if (head === SEQ_ZERO) return [];
  const wide = head - floor > EXACT_UNREAD_SCAN_LIMIT || floor >= head;
  const rows = await scan.rows(wide ? head : parseConversationSeq(floor + 1), head);
  const records = (await decodeRows(scan, rows)).map(({ content }) => (content.kind === 'whole' ? content.record : undefined));
  return records.every((record) => record !== undefined) ? records : undefined;
}

/** Reads history as a member does, page by page beside the records. What differs is told at the end. */
export class HistoryComparison {
  /** The first page that differed; undefined: none. */
  problem: Problem | undefined;
  readonly #context: VerifyContext;
  readonly #place: ConversationPlace;
  /** The member who sees most. */
  readonly #reader: StoredMember | undefined;
  /** Records that no page has shown yet. */
  #expected: string[] = [];
  #after: ConversationSeq = SEQ_ZERO;

  constructor(context: VerifyContext, place: ConversationPlace, members: readonly StoredMember[]) {
    this.#context = context;
    this.#place = place;
    this.#reader = members.reduce<StoredMember | undefined>((best, one) => (seesFrom(one) < seesFrom(best) ? one : best), undefined);
  }

  async take(records: readonly MessageRecord[]): Promise<void> {
    if (this.#reader === undefined || this.problem !== undefined) return;
    const from = seesFrom(this.#reader);
    for (const record of records) if (record.conversationSeq >= from) this.#expected.push(shown(record));
    while (this.problem === undefined && this.#expected.length >= HISTORY_PAGE_SIZE_MAX) this.problem = await this.#comparePage();
  }

  /** No more records. */
  async end(): Promise<void> {
    while (this.problem === undefined && this.#expected.length > 0) this.problem = await this.#comparePage();
  }

  async #comparePage(): Promise<Problem | undefined> {
    const userId = this.#reader?.userId;
    if (userId === undefined) return undefined;
    const query = { ...this.#place, userId, clearedSeq: SEQ_ZERO, position: { after: this.#after }, limit: HISTORY_PAGE_SIZE_MAX };
    let answered: readonly MessageRecord[];
    try {
      answered = (await this.#context.messages.readHistory(query)).records;
    } catch (error) {
      if (isDamage(error)) return this.#differs(userId, `that it is damaged (${error.detail.reason})`, error.detail.conversationSeq);
      // The user has left since the members were read.
      if (isQimError(error) && error.code === 'NotMember') return this.#differs(userId, 'that the user is not a member', SEQ_ZERO);
      throw error;
    }
    // A page may end early, and what is newer than the records is not looked at.
    const wanted = this.#expected.splice(0, Math.max(1, answered.length));
    const wrong = wanted.findIndex((one, i) => one !== (answered[i] && shown(answered[i])));
    const last = answered[wanted.length - 1];
    if (wrong < 0 && last !== undefined) {
      this.#after = last.conversationSeq;
      return undefined;
    }
    const got = answered[wrong];
    return this.#differs(
      userId,
      got === undefined ? 'no more' : shown(got),
      parseConversationSeq(Number.parseInt(wanted[wrong] ?? '0', 10)),
    );
  }

  #differs(userId: UserId, answered: string, conversationSeq: ConversationSeq): Problem {
    const finding = findingAt(this.#place, 'answerDiffers', `history answers ${answered}`, { userId, conversationSeq });
    return { finding, mend: undefined, unmended: UNMENDED };
  }
}

function seesFrom(member: StoredMember | undefined): number {
  if (member?.userId === undefined || typeof member.entry === 'string') return Number.POSITIVE_INFINITY;
  return member.entry.visibleFrom;
}

function shown({ conversationSeq, prevSequence, messageId, activityId, status, revision }: MessageRecord): string {
  return `${conversationSeq} after ${prevSequence}, ${messageId} ${activityId}, status ${status}, revision ${revision}`;
}

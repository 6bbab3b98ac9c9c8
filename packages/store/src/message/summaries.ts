/**
 * The rule of `conversationSummaries` without its I/O, for every backend that reads stored bytes.
 *
 * A backend reads the first round, asks `planReading` which records to read, reads them, and asks `finishReading` for
 * the answer. 'again' asks for both rounds of this one conversation once more, then with `confirmed`: what looked like
 * damage may have been a change between two commands. Nothing here is ever answered as a smaller count: a record that
 * was needed is whole, is the one that was asked for, and is linked to the one before it, or the reading is damaged.
 */
import {
  type ConversationSeq,
  type CorruptReason,
  EXACT_UNREAD_SCAN_LIMIT,
  MessageType,
  SEQ_ZERO,
  type TenantId,
  type UserId,
} from '@qim/proto';
import { corrupt } from '../errors.js';
import { IdBytes } from './bytes.js';
import { Chain, chainFloor } from './chain.js';
import { previewOf, RecordHeader } from './codec.js';
import type { StoredFacts } from './facts.js';
import { type EncodedUser, encodeUser } from './fingerprint.js';
import type { ConversationReading, ConversationState, CountEvidence, MemberEntry, Preview } from './summary.js';
import { judge } from './unread.js';

/** The sequence that a history member stands for; undefined: its bytes are none. */
export type IndexMember = ConversationSeq | undefined;

/** What was read for one conversation in the first round, in the order of the fields. A reason stands for a bad read. */
export interface FirstRound {
  /** Undefined: absent. */
  readonly facts: StoredFacts | CorruptReason | undefined;
  /** The greatest history member; undefined: none. Its score is 0 where an index has no scores. */
  readonly newest: { readonly sequence: IndexMember; readonly score: number } | CorruptReason | undefined;
  /** History members past the watermark, ascending, the first EXACT_UNREAD_SCAN_LIMIT of them. */
  readonly window: readonly IndexMember[] | CorruptReason;
  /** Undefined: not a member. */
  readonly member: MemberEntry | CorruptReason | undefined;
}

/** For all conversations of one call. */
export interface ReadingScope {
  readonly tenantId: TenantId;
  readonly user: EncodedUser;
  /** Loaded with one record after the other. */
  readonly header: RecordHeader;
  /** Set to one conversation after the other. */
  readonly conversation: IdBytes;
}

/** What the second round reads, and what `finishReading` needs to know of the first. */
export interface ReadingPlan {
  readonly kind: 'read';
  readonly state: ConversationState;
  /** At most EXACT_UNREAD_SCAN_LIMIT + 2: the exact window ascending, then the head and the preview where they are others. */
  readonly sequences: readonly ConversationSeq[];
  readonly windowLength: number;
  readonly head: ConversationSeq;
  readonly facts: StoredFacts;
  readonly member: MemberEntry | undefined;
}

/** Nothing to read: no message yet, or damage that the first round shows. */
export interface AnsweredPlan {
  readonly kind: 'answered';
  readonly reading: ConversationReading;
}

/** By sequence, parallel to `ReadingPlan.sequences`. Undefined: there is none. A reason: it could not be read. */
export type RecordBytes = Uint8Array | CorruptReason | undefined;

/** Loads the header with the record at an index of `ReadingPlan.sequences`; or what is wrong with it. */
export type ReadRecord = (index: number, header: RecordHeader) => CorruptReason | undefined;

export function recordsIn(records: readonly RecordBytes[]): ReadRecord {
  return (index, header) => {
    const bytes = records[index];
    if (bytes === undefined) return 'recordMissing';
    return typeof bytes === 'string' ? bytes : header.load(bytes);
  };
}

export function readingScope(tenantId: TenantId, userId: UserId): ReadingScope {
  return { tenantId, user: encodeUser(userId), header: new RecordHeader(), conversation: new IdBytes() };
}

export function planReading(scope: ReadingScope, state: ConversationState, first: FirstRound): ReadingPlan | AnsweredPlan {
  const damaged = (reason: CorruptReason, seq = SEQ_ZERO): AnsweredPlan => ({
    kind: 'answered',
    reading: damagedReading(scope, state, first, reason, seq),
  });
  const { facts, newest, window, member } = first;
  if (facts === undefined) return damaged('factsMissing');
  if (typeof facts === 'string') return damaged(facts);
  if (typeof newest === 'string') return damaged(newest);
  if (typeof window === 'string') return damaged(window);
  if (typeof member === 'string') return damaged(member);
  if (newest === undefined) {
    if (facts.lastSequence > 0) return damaged('indexMissing', facts.lastSequence);
    return { kind: 'answered', reading: emptyReading(state, facts, member) };
  }
  const head = newest.score === 0 ? newest.sequence : undefined;
  if (head === undefined) return damaged('indexMemberInvalid');
  if (head < facts.lastSequence) return damaged('indexBehindFacts', facts.lastSequence);
  const members = membersUpTo(window, state.watermark, head);
  if (typeof members === 'string') return damaged(members);

  const exact = head > state.watermark && head - state.watermark <= EXACT_UNREAD_SCAN_LIMIT;
  if (exact && members.at(-1) !== head) return damaged('indexOutOfOrder', head);
  const windowLength = exact ? members.length : 0;
  const sequences = withPreview(exact ? members : [head], facts.previewSequence);
  return { kind: 'read', state, sequences, windowLength, head, facts, member };
}

/** In most conversations it is the last of them. */
function withPreview(sequences: readonly ConversationSeq[], preview: ConversationSeq): readonly ConversationSeq[] {
  if (preview === SEQ_ZERO || sequences.at(-1) === preview || sequences.includes(preview)) return sequences;
  return [...sequences, preview];
}

/**
 * Members up to the head that was read; later ones belong to the next answer. All that were read must be members,
 * strictly ascending, and past the watermark.
 */
function membersUpTo(
  window: readonly IndexMember[],
  watermark: ConversationSeq,
  head: ConversationSeq,
): readonly ConversationSeq[] | CorruptReason {
  const members: ConversationSeq[] = [];
  let last = watermark;
  for (const sequence of window) {
    if (sequence === undefined) return 'indexMemberInvalid';
    if (sequence <= last) return 'indexOutOfOrder';
    last = sequence;
    if (sequence <= head) members.push(sequence);
  }
  return members;
}

interface Damage {
  readonly reason: CorruptReason;
  readonly sequence: ConversationSeq;
}

interface Head {
  readonly lastMessageId: RecordHeader['messageId'];
  readonly lastActivityId: RecordHeader['activityId'];
  readonly type: MessageType;
}

interface Counted {
  readonly counted: number;
  readonly mentions: number;
  readonly newestShown: ConversationSeq;
  readonly evidence: CountEvidence;
}

/**
 * The reading from the records of the second round. `confirmed`: this is the redo; otherwise damage, and facts that lag
 * behind a Control head, are answered 'again'.
 */
export function finishReading(scope: ReadingScope, plan: ReadingPlan, read: ReadRecord, confirmed: boolean): ConversationReading | 'again' {
  const { state, facts, member } = plan;
  const load = recordLoader(scope, plan, read);
  const counted = countWindow(scope, plan, load);
  const head = 'reason' in counted ? counted : loadHead(scope, plan, load);
  if ('reason' in counted || 'reason' in head) {
    const damage = 'reason' in head ? head : (counted as Damage);
    if (!confirmed) return 'again';
    return damagedReading(scope, state, { facts, member }, damage.reason, damage.sequence);
  }
  if (head.type === MessageType.Control && plan.head > facts.lastSequence && !confirmed) return 'again';
  const preview = readPreview(scope, plan, load, head, counted.newestShown);
  if (preview !== undefined && 'reason' in preview && !confirmed) return 'again';

  return soundReading(scope, plan, counted, head, preview);
}

type LoadRecord = (index: number) => Damage | undefined;

/** Loads the scope's header with the record at an index of the plan, whole and the one that was asked for. */
function recordLoader(scope: ReadingScope, plan: ReadingPlan, read: ReadRecord): LoadRecord {
  const { header, tenantId } = scope;
  const conversation = scope.conversation.set(plan.state.conversationId);
  return (index) => {
    const sequence = plan.sequences[index] ?? SEQ_ZERO;
    const reason = read(index, header);
    if (reason !== undefined) return { reason, sequence };
    const asked = header.sequence === sequence && header.tenantId === tenantId && header.conversationIs(conversation);
    return asked ? undefined : { reason: 'recordMismatch', sequence };
  };
}

/** Counts the exact window and checks its chain, in one pass. */
function countWindow(scope: ReadingScope, plan: ReadingPlan, load: LoadRecord): Counted | Damage {
  const { header, user } = scope;
  const chain = new Chain(chainFloor(plan.state.watermark, plan.facts.retainedFrom));
  let [counted, mentions, own, control, recalled, deleted] = [0, 0, 0, 0, 0, 0];
  let newestShown = SEQ_ZERO;
  for (let i = 0; i < plan.windowLength; i += 1) {
    const damage = load(i);
    if (damage !== undefined) return damage;
    if (!chain.follows(header.sequence, header.prevSequence)) return { reason: 'chainBroken', sequence: header.sequence };
    const verdict = judge(header.type, header.status, header.senderIs(user.utf8));
    if (verdict === 'control') {
      control += 1;
      continue;
    }
    newestShown = header.sequence;
    if (verdict === 'own') own += 1;
    else if (verdict === 'recalled') recalled += 1;
    else if (verdict === 'deleted') deleted += 1;
    else {
      counted += 1;
      if (header.mentions(user.fingerprint)) mentions += 1;
    }
  }
  const evidence = { scanned: plan.windowLength, own, control, recalled, deleted, chainUnbroken: plan.windowLength > 0 };
  return { counted, mentions, newestShown, evidence };
}

/** Leaves the head in the scope's header. In the window the head is the last record; else it is the only one before the preview. */
function loadHead(scope: ReadingScope, plan: ReadingPlan, load: LoadRecord): Head | Damage {
  const { header } = scope;
  return (
    load(Math.max(plan.windowLength - 1, 0)) ?? {
      lastMessageId: header.messageId,
      lastActivityId: header.activityId,
      type: header.type,
    }
  );
}

/**
 * The newest record that is not Control. The scope's header holds the head. Facts that lag behind the head cannot name
 * a record between the two: after the redo the newest that was read stands, and the next answer may have a newer one.
 */
function readPreview(
  scope: ReadingScope,
  plan: ReadingPlan,
  load: LoadRecord,
  head: Head,
  newestShown: ConversationSeq,
): Preview | Damage | undefined {
  const { header } = scope;
  const { facts } = plan;
  const lagging = plan.head > facts.lastSequence;
  const headShown = head.type === MessageType.Control ? newestShown : plan.head;
  const wrongPointer: Damage = { reason: 'recordMismatch', sequence: facts.previewSequence };
  // What the records show to be newer than the pointer proves it wrong.
  if (!lagging && headShown > 0 && headShown !== facts.previewSequence) return wrongPointer;
  if (head.type !== MessageType.Control) return orDamage(previewOf(header), plan.head);
  const sequence = newestShown > facts.previewSequence ? newestShown : facts.previewSequence;
  if (sequence === SEQ_ZERO) return undefined;
  const damage = load(plan.sequences.indexOf(sequence));
  if (damage !== undefined) return damage;
  return header.type === MessageType.Control ? wrongPointer : orDamage(previewOf(header), sequence);
}

function orDamage(preview: Preview | CorruptReason, sequence: ConversationSeq): Preview | Damage {
  return typeof preview === 'string' ? { reason: preview, sequence } : preview;
}

function soundReading(
  scope: ReadingScope,
  plan: ReadingPlan,
  counted: Counted,
  head: Head,
  preview: Preview | Damage | undefined,
): ConversationReading {
  const { state, facts, member } = plan;
  const { conversationId, watermark } = state;
  const distance = plan.head - watermark;
  const exact = distance >= 0 && distance <= EXACT_UNREAD_SCAN_LIMIT;
  const damage = preview !== undefined && 'reason' in preview ? preview : undefined;
  return {
    kind: 'sound',
    summary: {
      conversationId,
      latestConversationSeq: plan.head,
      lastActivityId: head.lastActivityId,
      lastMessageId: head.lastMessageId,
      unreadCount: distance > EXACT_UNREAD_SCAN_LIMIT ? EXACT_UNREAD_SCAN_LIMIT : counted.counted,
      unreadExact: exact,
      mentionCount: exact ? counted.mentions : undefined,
    },
    listing: {
      kind: facts.kind,
      title: facts.title,
      settings: facts.settings,
      pair: facts.pair,
      epoch: facts.epoch,
      amendmentNumber: facts.amendmentNumber,
      preview: preview !== undefined && 'reason' in preview ? undefined : preview,
      previewDamage: damage && corrupt(scope.tenantId, conversationId, damage.reason, damage.sequence),
      member,
      watermarkAhead: distance < 0,
    },
    evidence: counted.evidence,
  };
}

/** No message yet. A watermark is past this head too: then nothing is claimed to be exact. */
function emptyReading(state: ConversationState, facts: StoredFacts, member: MemberEntry | undefined): ConversationReading {
  const ahead = state.watermark > 0;
  return {
    kind: 'sound',
    summary: {
      conversationId: state.conversationId,
      latestConversationSeq: SEQ_ZERO,
      lastActivityId: undefined,
      lastMessageId: undefined,
      unreadCount: 0,
      unreadExact: !ahead,
      mentionCount: ahead ? undefined : 0,
    },
    listing: {
      ...shownFacts(facts),
      amendmentNumber: facts.amendmentNumber,
      preview: undefined,
      previewDamage: undefined,
      member,
      watermarkAhead: ahead,
    },
    evidence: { scanned: 0, own: 0, control: 0, recalled: 0, deleted: 0, chainUnbroken: false },
  };
}

function damagedReading(
  scope: ReadingScope,
  state: ConversationState,
  known: Pick<FirstRound, 'facts' | 'member'>,
  reason: CorruptReason,
  sequence: ConversationSeq,
): ConversationReading {
  const { facts, member } = known;
  return {
    kind: 'damaged',
    conversationId: state.conversationId,
    error: corrupt(scope.tenantId, state.conversationId, reason, sequence),
    listing: facts === undefined || typeof facts === 'string' ? undefined : shownFacts(facts),
    member: typeof member === 'string' ? undefined : member,
    memberKnown: typeof member !== 'string',
  };
}

function shownFacts({ kind, title, settings, pair, epoch }: StoredFacts) {
  return { kind, title, settings, pair, epoch };
}

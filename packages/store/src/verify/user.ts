/**
 * One user's own keys against memberships and heads: views, the order of the list, read marks. What they lack is found
 * with the conversation; what stands there is judged here. Then the list is asked what it answers.
 */
import { type ConversationSeq, parseConversationSeq, SEQ_ZERO } from '@qim/proto';
import { parseViewEntry, type ViewEntry, ViewFlag, ViewState } from '../directory/view-entry.js';
import { Malformed } from '../message/bytes.js';
import { parseDecimal } from '../message/decimal.js';
import type { StoredFacts } from '../message/facts.js';
import type { MemberEntry } from '../message/summary.js';
import { compareList } from './answers.js';
import { findingAt, nameOf, type VerifyContext } from './context.js';
import type { ConversationPlace, FindingCode, UserPlace } from './finding.js';
import { isOnItsWay, viewFor, viewIn } from './member-check.js';
import type { Problem, UserChange } from './mender.js';
import type { OddUserItem, UserEntry } from './scanner.js';

/** What is known of the conversation that an entry is of. */
interface Known {
  readonly facts: StoredFacts;
  readonly member: MemberEntry | undefined;
}

/** Everything that is wrong with one entry. `entry` was read before the facts are. */
export async function checkEntry(context: VerifyContext, user: UserPlace, entry: UserEntry): Promise<Problem[]> {
  const place = { tenantId: user.tenantId, conversationId: entry.conversationId };
  const { facts, member } = await context.scanner.membership(place, user.userId);
  // Damage of the conversation itself is found with it.
  if (typeof facts.facts === 'string' || typeof member === 'string') return [];
  const judge = new EntryJudge(user, entry);
  if (facts.facts === undefined) return member === undefined ? judge.ofNothing() : [];
  const known = { facts: facts.facts, member };
  const problems = [...judge.ofView(known), ...judge.ofList(known), ...judge.ofReadMark(known), ...judge.ofPin(known)];
  const late = problems.some(({ finding }) => LATE.has(finding.code));
  if (!late || !(await isOnItsWay(context.scanner.conversation(place), known.facts))) return problems;
  return problems.filter(({ finding }) => !LATE.has(finding.code));
}

/** What the outbox brings, and may not have brought yet. */
const LATE: ReadonlySet<FindingCode> = new Set(['viewLeftOver', 'viewWrong', 'listEntryLeftOver', 'pinLeftOver', 'orderBehind']);

class EntryJudge {
  readonly #user: UserPlace;
  readonly #entry: UserEntry;

  constructor(user: UserPlace, entry: UserEntry) {
    this.#user = user;
    this.#entry = entry;
  }

  #problem(code: FindingCode, what: string, did: string, ...changes: readonly UserChange[]): Problem {
    const { conversationId, guard } = this.#entry;
    const { tenantId, userId } = this.#user;
    return {
      finding: findingAt({ tenantId, conversationId }, code, what, { userId }),
      mend: { on: 'user', did, user: this.#user, conversationId, guard, changes },
    };
  }

  /** There is no such conversation. */
  ofNothing(): Problem[] {
    const { view, listed, readMark, pin } = this.#entry;
    const what = 'there is no such conversation';
    return [
      ...(view === undefined || viewIn(this.#entry)?.state === ViewState.Tombstone
        ? []
        : [this.#problem('viewLeftOver', what, 'it was removed', { kind: 'dropView' })]),
      ...(listed === undefined ? [] : [this.#problem('listEntryLeftOver', what, 'it was removed', { kind: 'unlist' })]),
      ...(pin === undefined ? [] : [this.#problem('pinLeftOver', what, 'it was removed', { kind: 'unpin' })]),
      ...(readMark === undefined ? [] : [this.#problem('readMarkLeftOver', what, 'it was removed', { kind: 'dropReadMark' })]),
    ];
  }

  ofView({ facts, member }: Known): Problem[] {
    const text = this.#entry.view;
    if (text === undefined) return [];
    const view = parseViewEntry(text);
    if (typeof view === 'string') return [this.#unreadableView(member, text)];
    if (view.state === ViewState.Tombstone) return [];
    if (member === undefined) {
      return [this.#problem('viewLeftOver', 'the user is not a member', 'it was removed', { kind: 'dropView' })];
    }
    const { joinedSeq, visibleFrom } = member;
    const memberSeq = parseConversationSeq(Math.max(view.memberSeq, joinedSeq));
    const right = { ...view, joinedSeq, visibleFrom, memberSeq };
    const bounded = withinHead(right, facts.lastSequence);
    const ahead = PLACES.filter((name) => view[name] > facts.lastSequence);
    const change: UserChange = { kind: 'view', entry: bounded };
    const problems: Problem[] = [];
    if (ahead.length > 0) {
      const what = `${ahead.map((name) => `${name} ${view[name]}`).join(', ')}, and the newest record is ${facts.lastSequence}`;
      problems.push(this.#problem('viewAhead', what, 'it was brought back to the newest record', change));
    }
    if (view.joinedSeq !== right.joinedSeq || view.visibleFrom !== right.visibleFrom) {
      const what = `joined at ${view.joinedSeq}, sees from ${view.visibleFrom}; as a member ${right.joinedSeq} and ${right.visibleFrom}`;
      problems.push(this.#problem('viewWrong', what, 'it was made that of the member entry', change));
    }
    return problems;
  }

  #unreadableView(member: MemberEntry | undefined, text: string): Problem {
    const what = `it says ${JSON.stringify(text)}`;
    if (member === undefined) {
      return this.#problem('viewUnreadable', what, 'it was removed: the user is not a member', { kind: 'dropView' }, { kind: 'unlist' });
    }
    const did = 'it was made anew from the member entry; what the user had cleared is seen again';
    return this.#problem('viewUnreadable', what, did, { kind: 'view', entry: viewFor(member, undefined) });
  }

  ofList({ facts, member }: Known): Problem[] {
    const { listed, view: text } = this.#entry;
    if (listed === undefined) return [];
    const view = viewIn(this.#entry);
    if (member === undefined) return [this.#problem('listEntryLeftOver', 'the user is not a member', 'it was removed', { kind: 'unlist' })];
    const activityAtMs = facts.lastCommittedAtMs;
    if (listed.at === undefined) {
      const what = 'its time is none, or it stands under another';
      return [this.#problem('listEntryWrong', what, 'it has the time of the newest record', { kind: 'listed', activityAtMs })];
    }
    const hidden = view !== undefined && (view.flags & ViewFlag.Hidden) !== 0;
    if (text === undefined || hidden || listed.at >= activityAtMs) return [];
    const what = `it is listed at ${listed.at}, and the newest record is of ${activityAtMs}`;
    return [this.#problem('orderBehind', what, 'it has the time of the newest record', { kind: 'listed', activityAtMs })];
  }

  ofReadMark({ facts }: Known): Problem[] {
    const text = this.#entry.readMark;
    if (text === undefined) return [];
    const readSeq = markFrom(text);
    const head = facts.lastSequence;
    if (readSeq === undefined) {
      const what = `it says ${JSON.stringify(text)}`;
      return [this.#problem('readMarkUnreadable', what, 'it was removed: what was read shows as unread again', { kind: 'dropReadMark' })];
    }
    if (readSeq <= head) return [];
    const what = `it is ${readSeq}, and the newest record is ${head}`;
    return [this.#problem('readMarkAhead', what, 'it was brought back to the newest record', { kind: 'readMark', readSeq: head })];
  }

  ofPin({ member }: Known): Problem[] {
    const { pin } = this.#entry;
    if (pin === undefined) return [];
    if (member === undefined) return [this.#problem('pinLeftOver', 'the user is not a member', 'it was removed', { kind: 'unpin' })];
    const view = viewIn(this.#entry);
    const hidden = view !== undefined && (view.flags & ViewFlag.Hidden) !== 0;
    if (pin.at !== undefined && !hidden) return [];
    const what = hidden ? 'the conversation is hidden' : 'its time is none';
    return [this.#problem('pinWrong', what, 'it was removed', { kind: 'unpin' })];
  }
}

const PLACES = ['joinedSeq', 'clearedSeq', 'hiddenSeq', 'memberSeq'] as const;

function withinHead(view: ViewEntry, head: ConversationSeq): ViewEntry {
  const least = (seq: ConversationSeq): ConversationSeq => (seq < head ? seq : head);
  return { ...view, clearedSeq: least(view.clearedSeq), hiddenSeq: least(view.hiddenSeq), memberSeq: least(view.memberSeq) };
}

function markFrom(text: string): ConversationSeq | undefined {
  try {
    return parseConversationSeq(parseDecimal(text));
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

/** Names under a user's keys that are none, keys of another type, and doubled entries of the order. */
export function oddEntry(user: UserPlace, { slot, kind, conversationId }: OddUserItem): Problem {
  const code: FindingCode = kind === 'wrongType' ? 'wrongType' : (ODD_CODES[slot.table] ?? 'listEntryWrong');
  const what = kind === 'wrongType' ? `the key of the ${slot.table} entries is of another type` : `${nameOf(slot)}: ${ODD_WHAT[kind]}`;
  const finding = { code, ...user, conversationId, conversationSeq: undefined, what };
  const changes = [{ kind: 'remove', slot } as const];
  if (slot.table === 'suspended') return { finding, mend: undefined, unmended: SUSPENSIONS_UNKNOWN };
  return { finding, mend: { on: 'user', did: 'it was removed', user, conversationId, guard: undefined, changes } };
}

const SUSPENSIONS_UNKNOWN = 'who was suspended is not known: the user is refused until the key is removed by hand';

const ODD_CODES: Partial<Record<OddUserItem['slot']['table'], FindingCode>> = {
  view: 'viewLeftOver',
  list: 'listEntryWrong',
  readMark: 'readMarkLeftOver',
  pin: 'pinLeftOver',
  profile: 'profileUnreadable',
  blocks: 'blockLeftOver',
};
const ODD_WHAT = {
  name: 'its name is no conversation, or no user',
  unreadable: 'it is no such value',
  doubled: 'the conversation stands in the order more than once',
} as const;

/** Asks the list for these entries, and compares. What the user is no member of is not asked for. */
export async function compareEntries(context: VerifyContext, user: UserPlace, entries: readonly UserEntry[]): Promise<Problem[]> {
  const { tenantId, userId } = user;
  const asked: {
    readonly place: ConversationPlace;
    readonly facts: StoredFacts;
    readonly floor: ConversationSeq;
    readonly guard: string;
  }[] = [];
  for (const entry of entries) {
    const place = { tenantId, conversationId: entry.conversationId };
    const { facts, member } = await context.scanner.membership(place, userId);
    if (typeof facts.facts !== 'object' || typeof member !== 'object') continue;
    asked.push({ place, facts: facts.facts, floor: floorOf(member, entry), guard: facts.guard });
  }
  const states = asked.map(({ place, floor }) => ({ conversationId: place.conversationId, watermark: floor }));
  const readings = await context.messages.readConversations(tenantId, userId, states);
  const problems: Problem[] = [];
  for (const [i, { place, facts, floor, guard }] of asked.entries()) {
    const scan = context.scanner.conversation(place);
    const problem = await compareList(scan, facts, userId, floor, readings[i]);
    // What has changed since was counted at another moment.
    if (problem !== undefined && (await scan.facts()).guard === guard) problems.push(problem);
  }
  return problems;
}

/** Where the session service starts to count (its unreadFloor, told once more). */
function floorOf(member: MemberEntry, entry: UserEntry): ConversationSeq {
  const view = viewIn(entry);
  const read = (entry.readMark === undefined ? undefined : markFrom(entry.readMark)) ?? SEQ_ZERO;
  return parseConversationSeq(Math.max(read, member.joinedSeq - 1, view?.clearedSeq ?? 0));
}

/**
 * Member entries against the facts, and each member's own list against the membership.
 *
 * Lists follow the history by way of the outbox, so what they lack is only wrong when nothing of the conversation waits
 * there any more.
 */
import {
  ConversationKind,
  type ConversationSeq,
  FSCK_DELIVERY_SLACK_MS,
  FSCK_USERS_AT_ONCE,
  parseConversationSeq,
  Role,
  SEQ_ZERO,
  type UserId,
} from '@qim/proto';
import { parseViewEntry, type ViewEntry, ViewFlag, ViewState } from '../directory/view-entry.js';
import type { StoredFacts } from '../message/facts.js';
import type { MemberEntry } from '../message/summary.js';
import { aside, findingAt, nameOf, type VerifyContext } from './context.js';
import type { ConversationPlace } from './finding.js';
import type { Problem, UserChange } from './mender.js';
import type { ConversationScan, StoredMember, UserEntry } from './scanner.js';

/** `facts` were read after the members. */
export async function checkMembers(
  context: VerifyContext,
  scan: ConversationScan,
  facts: StoredFacts,
  members: readonly StoredMember[],
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const member of members) {
    const { userId, entry } = member;
    if (userId === undefined || typeof entry === 'string') problems.push(await unreadable(context, scan.place, facts, member));
    else if (isStranger(facts, userId)) problems.push(stranger(context, scan.place, member, userId));
    else if (entry.joinedSeq > facts.lastSequence) problems.push(ahead(scan.place, facts.lastSequence, member, userId, entry));
  }
  const known = new Set(members.map(({ userId }) => userId));
  return [...problems, ...facts.pair.filter((userId) => !known.has(userId)).map((userId) => absent(scan.place, userId))];
}

/** A direct conversation is one of the two that its facts name, for ever. */
function isStranger({ kind, pair }: StoredFacts, userId: UserId): boolean {
  return kind === ConversationKind.Direct && !pair.includes(userId);
}

function stranger(context: VerifyContext, place: ConversationPlace, { slot, raw }: StoredMember, userId: UserId): Problem {
  const finding = findingAt(place, 'memberLeftOver', 'the facts of the direct conversation name others', { userId });
  const changes = [...aside(context, finding, 'a member entry', raw), { kind: 'remove', slot } as const];
  return { finding, mend: { on: 'conversation', did: 'it was put aside', changes, seen: [{ kind: 'slot', slot, value: raw }] } };
}

function absent(place: ConversationPlace, userId: UserId): Problem {
  const finding = findingAt(place, 'memberMissing', 'the facts of the direct conversation name this user', { userId });
  const changes = [{ kind: 'member', userId, entry: { role: Role.Member, joinedSeq: SEQ_ONE, visibleFrom: SEQ_ONE } } as const];
  return { finding, mend: { on: 'conversation', did: 'the user is a member again', changes } };
}

const SEQ_ONE = parseConversationSeq(1);

async function unreadable(context: VerifyContext, place: ConversationPlace, facts: StoredFacts, member: StoredMember): Promise<Problem> {
  const { userId, slot, raw } = member;
  const what = userId === undefined ? `its name ${nameOf(slot)} is no user id` : 'it cannot be understood';
  const finding = findingAt(place, 'memberUnreadable', what, { userId });
  const kept = aside(context, finding, 'a member entry', raw);
  const seen = [{ kind: 'slot', slot, value: raw } as const];
  if (userId === undefined) {
    return { finding, mend: { on: 'conversation', did: 'it was put aside', changes: [...kept, { kind: 'remove', slot }], seen } };
  }
  const [own] = await context.scanner.entriesOf(place, [userId]);
  const entry = entryFor(userId, facts, viewIn(own));
  const did = `it was made anew: a member since ${entry.joinedSeq}, who sees what begins at ${entry.visibleFrom}`;
  return { finding, mend: { on: 'conversation', did, changes: [...kept, { kind: 'member', userId, entry }], seen } };
}

/**
 * The pair of a direct conversation is known; of a group the user's own list knows since when. Where nothing knows, the
 * user sees what comes from now on. A role is not known from anywhere: the least one.
 */
function entryFor(userId: UserId, facts: StoredFacts, view: ViewEntry | undefined): MemberEntry {
  if (facts.pair.includes(userId)) return { role: Role.Member, joinedSeq: SEQ_ONE, visibleFrom: SEQ_ONE };
  const head = parseConversationSeq(Math.max(1, facts.lastSequence));
  const usable = view !== undefined && view.state === ViewState.Listed && view.visibleFrom >= 1 && view.visibleFrom <= view.joinedSeq;
  if (usable && view.joinedSeq <= head) return { role: Role.Member, joinedSeq: view.joinedSeq, visibleFrom: view.visibleFrom };
  return { role: Role.Member, joinedSeq: head, visibleFrom: head };
}

function ahead(place: ConversationPlace, head: ConversationSeq, { slot, raw }: StoredMember, userId: UserId, entry: MemberEntry): Problem {
  const joinedSeq = parseConversationSeq(Math.max(1, head));
  const visibleFrom = parseConversationSeq(Math.min(entry.visibleFrom, joinedSeq));
  const what = `joined at ${entry.joinedSeq}, and the newest record is ${head}`;
  const changes = [{ kind: 'member', userId, entry: { ...entry, joinedSeq, visibleFrom } } as const];
  return {
    finding: findingAt(place, 'memberAhead', what, { userId }),
    mend: { on: 'conversation', did: `joined at ${joinedSeq} now`, changes, seen: [{ kind: 'slot', slot, value: raw }] },
  };
}

/** Something of the conversation may still be on its way to the lists. */
export async function isOnItsWay(scan: ConversationScan, facts: StoredFacts): Promise<boolean> {
  const since = await scan.waitingSince();
  return since !== undefined && facts.lastCommittedAtMs + FSCK_DELIVERY_SLACK_MS >= since;
}

/** What members lack in their own lists. `users` undefined: all members. */
export async function checkListed(
  context: VerifyContext,
  scan: ConversationScan,
  facts: StoredFacts,
  members: readonly StoredMember[],
): Promise<Problem[]> {
  const known = members.flatMap(({ userId, entry }) => (userId === undefined || typeof entry === 'string' ? [] : [{ userId, entry }]));
  const problems: Problem[] = [];
  for (let from = 0; from < known.length; from += FSCK_USERS_AT_ONCE) {
    const some = known.slice(from, from + FSCK_USERS_AT_ONCE);
    const entries = await context.scanner.entriesOf(
      scan.place,
      some.map(({ userId }) => userId),
    );
    for (const [i, { userId, entry }] of some.entries()) {
      const own = entries[i];
      const problem = own && missingFrom(scan.place, facts, userId, entry, own);
      if (problem !== undefined) problems.push(problem);
    }
  }
  return problems.length > 0 && (await isOnItsWay(scan, facts)) ? [] : problems;
}

function missingFrom(
  place: ConversationPlace,
  facts: StoredFacts,
  userId: UserId,
  member: MemberEntry,
  own: UserEntry,
): Problem | undefined {
  const view = viewIn(own);
  const activityAtMs = facts.lastCommittedAtMs;
  const say = (code: 'viewMissing' | 'listEntryMissing', what: string, changes: readonly UserChange[]): Problem => ({
    finding: findingAt(place, code, what, { userId }),
    mend: {
      on: 'user',
      did: 'it was put into the list',
      user: { tenantId: place.tenantId, userId },
      conversationId: place.conversationId,
      // A key of another type holds no entry that could have changed.
      guard: own.wrongKeys.length > 0 ? undefined : own.guard,
      changes: [...own.wrongKeys.map((slot): UserChange => ({ kind: 'remove', slot })), ...changes],
    },
  });
  if (own.view === undefined || view?.state === ViewState.Tombstone) {
    const what = own.view === undefined ? 'a member has no view entry' : 'a member has left by the view entry';
    return say('viewMissing', what, [
      { kind: 'view', entry: viewFor(member, view) },
      { kind: 'listed', activityAtMs },
    ]);
  }
  // What a user hides is in no order; what cannot be read is found with the user.
  if (own.listed !== undefined || view === undefined || (view.flags & ViewFlag.Hidden) !== 0) return undefined;
  return say('listEntryMissing', 'a member has a view entry, and no place in the list', [{ kind: 'listed', activityAtMs }]);
}

/** What the user cleared and chose before holds. */
export function viewFor(member: MemberEntry, before: ViewEntry | undefined): ViewEntry {
  const { joinedSeq, visibleFrom } = member;
  return {
    joinedSeq,
    visibleFrom,
    clearedSeq: before?.clearedSeq ?? SEQ_ZERO,
    hiddenSeq: before?.hiddenSeq ?? SEQ_ZERO,
    memberSeq: joinedSeq,
    flags: (before?.flags ?? 0) & ~ViewFlag.Hidden,
    state: ViewState.Listed,
  };
}

/** Undefined: none, or none that can be understood. */
export function viewIn(own: UserEntry | undefined): ViewEntry | undefined {
  const parsed = own?.view === undefined ? undefined : parseViewEntry(own.view);
  return typeof parsed === 'object' ? parsed : undefined;
}

/** Facts against the records, and facts made anew from records and members. */
import {
  ConversationKind,
  type ConversationSeq,
  type ConversationSettings,
  HistoryVisibility,
  isQimError,
  parseConversationSeq,
  Role,
  SEQ_MAX,
  SEQ_ZERO,
  SEQUENCE_JUMP_MAX,
  SEQUENCES_SKIPPED_AFTER_LOSS,
  type UserId,
} from '@qim/proto';
import { Malformed } from '../message/bytes.js';
import { parseJson, settingsFromValue, userIds } from '../message/control-json.js';
import { parseDecimal } from '../message/decimal.js';
import { FACT_FIELDS, type FactField, type StoredFacts } from '../message/facts.js';
import { aside, findingAt, type VerifyContext } from './context.js';
import type { ConversationPlace, FindingCode } from './finding.js';
import type { Problem } from './mender.js';
import type { RecordDigest } from './record-digest.js';
import type { FactsRead, StoredMember } from './scanner.js';

/** `before` was read before the records, `after` after them; both can be read. */
export function checkFacts(place: ConversationPlace, before: StoredFacts, after: StoredFacts, digest: RecordDigest): Problem[] {
  const problems: Problem[] = [];
  const say = (code: FindingCode, what: string, did: string, facts: (facts: StoredFacts) => StoredFacts, resync = false): void => {
    const at = { conversationSeq: digest.newest === 0 ? undefined : digest.newest };
    problems.push({ finding: findingAt(place, code, what, at), mend: { on: 'conversation', did, changes: [], facts, resync } });
  };
  const { newest, committedAtMs } = digest;
  const lastSequence = newest;
  if (newest < before.lastSequence) {
    // What lies between may have been given to a message that is lost: it is never given again.
    say(
      'headWrong',
      `the facts name ${before.lastSequence} as the newest, and the newest record is ${newest}`,
      'the facts name the newest record',
      (facts) => ({ ...facts, lastSequence, reservedThrough: clearOf(facts, newest) }),
      true,
    );
  } else if (newest > after.lastSequence) {
    const what = `the facts name ${after.lastSequence} as the newest, and there is a record ${newest}`;
    say('headWrong', what, 'the facts name the newest record', (facts) => ({ ...facts, lastSequence }));
  }
  const shown = digest.newestShown;
  if (!digest.shownUnknown && shown !== before.previewSequence) {
    const what = `the facts name ${before.previewSequence} as what lists show, and that is ${shown}`;
    say('previewWrong', what, 'the facts name what lists show', (facts) => ({ ...facts, previewSequence: shown }));
  }
  const { first, firstPrev = SEQ_ZERO } = digest;
  if (first !== undefined && first < before.retainedFrom) {
    const retainedFrom = parseConversationSeq(firstPrev + 1);
    const what = `the facts say that what is before ${before.retainedFrom} was removed, and there is a record ${first}`;
    say('retainedFromWrong', what, 'the facts name where the records begin', (facts) => ({ ...facts, retainedFrom }));
  }
  const sameHead = digest.newestKnown && newest === before.lastSequence;
  if (committedAtMs > after.lastCommittedAtMs || (sameHead && committedAtMs !== before.lastCommittedAtMs)) {
    const what = `the newest record was committed at ${committedAtMs}, the facts say ${before.lastCommittedAtMs}`;
    say('commitTimeWrong', what, 'the facts have its time', (facts) => ({ ...facts, lastCommittedAtMs: committedAtMs }));
  }
  return problems;
}

/** Past what may have been given. A number that no conversation reaches was given to nobody. */
function clearOf({ lastSequence, reservedThrough }: StoredFacts, newest: ConversationSeq): ConversationSeq {
  const given = lastSequence - newest <= SEQUENCE_JUMP_MAX ? lastSequence : newest + SEQUENCES_SKIPPED_AFTER_LOSS;
  return parseConversationSeq(Math.max(reservedThrough, given));
}

export interface Remains {
  readonly digest: RecordDigest;
  readonly members: readonly StoredMember[];
  /** The greatest number among the amendments entries; 0: none. */
  readonly amendmentNumber: number;
}

/** Of facts that are missing or cannot be understood; undefined: they are sound, or a newer qim's. */
export function rebuildFacts(context: VerifyContext, place: ConversationPlace, read: FactsRead, remains: Remains): Problem | undefined {
  if (typeof read.facts === 'object' || read.facts === 'unsupportedVersion') return undefined;
  const missing = read.facts === undefined;
  // What else is left is found on its own, and goes.
  if (missing && remains.digest.newest === SEQ_ZERO && remains.members.length === 0) return undefined;
  const what = missing ? 'there are no facts' : 'the facts cannot be understood';
  const finding = findingAt(place, missing ? 'factsMissing' : 'factsUnreadable', what);
  if (remains.digest.newest === SEQ_ZERO) {
    // Without a record there is nothing that facts could be made of.
    return { finding, mend: undefined, unmended: 'no record of it is left to make facts from' };
  }
  const facts = factsFrom(read.texts, remains, context.now());
  const changes = [...aside(context, finding, 'facts', read.raw), { kind: 'facts', facts } as const];
  return {
    finding,
    mend: { on: 'conversation', did: `the facts were made from the records: ${described(facts, read, remains)}`, changes },
  };
}

/** What can still be read of single fields stands; the rest comes from records and members. */
function factsFrom(texts: FactsRead['texts'], { digest, members, amendmentNumber }: Remains, nowMs: number): StoredFacts {
  const field = <T>(name: FactField, parse: (text: string) => T): T | undefined => {
    const text = texts?.[FACT_FIELDS.indexOf(name)];
    return text === undefined ? undefined : orUndefined(() => parse(text));
  };
  const number = (name: FactField): number => field(name, parseDecimal) ?? 0;
  const known = knownMembers(members);
  const pair = field('pair', (text) => userIds(parseJson(text)));
  const kind = field('kind', kindFrom) ?? (looksLikeGroup(digest, members) ? ConversationKind.Group : ConversationKind.Direct);
  const direct = kind === ConversationKind.Direct;
  const begins = digest.firstPrev === undefined ? 1 : digest.firstPrev + 1;
  return {
    kind,
    title: field('title', (text) => text) ?? (direct ? '' : (digest.title ?? '')),
    settings: field('settings', (text) => settingsFromValue(parseJson(text))) ?? digest.settings ?? DEFAULT_SETTINGS,
    pair: direct ? (pair?.length === 1 || pair?.length === 2 ? pair : known) : [],
    lastSequence: digest.newest,
    // Sequences past the newest may have been given; the skip keeps new messages clear of them.
    reservedThrough: parseConversationSeq(
      Math.min(SEQ_MAX, Math.max(number('reservedThrough'), number('lastSequence'), digest.newest + SEQUENCES_SKIPPED_AFTER_LOSS)),
    ),
    lastCommittedAtMs: Math.max(number('lastCommittedAt'), digest.committedAtMs),
    retainedFrom: parseConversationSeq(begins),
    previewSequence: digest.newestShown,
    amendmentNumber: Math.max(number('amendmentNumber'), amendmentNumber),
    // The old one is not known, and is far below a time in milliseconds: it counted from 1.
    epoch: Math.max(number('epoch') + 1, nowMs),
  };
}

/** What CreateGroup gives to a group that asks for nothing else. */
const DEFAULT_SETTINGS: ConversationSettings = { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false };

function described(facts: StoredFacts, read: FactsRead, { digest }: Remains): string {
  const kind = facts.kind === ConversationKind.Direct ? 'a direct conversation' : `a group titled ${JSON.stringify(facts.title)}`;
  const settings =
    digest.settings === undefined && read.texts === undefined ? ', with the default settings, because no record tells others' : '';
  return `${kind}${settings}`;
}

function kindFrom(text: string): ConversationKind {
  if (text === String(ConversationKind.Direct)) return ConversationKind.Direct;
  if (text === String(ConversationKind.Group)) return ConversationKind.Group;
  throw new Malformed('no known kind');
}

/** A direct conversation has its one or two members from the start, none with a role, and no Control record of the server. */
function looksLikeGroup(digest: RecordDigest, members: readonly StoredMember[]): boolean {
  const later = members.some(({ entry }) => typeof entry === 'object' && (entry.role !== Role.Member || entry.joinedSeq > 1));
  const known = knownMembers(members);
  return digest.groupControls > 0 || later || known.length < 1 || known.length > 2;
}

function knownMembers(members: readonly StoredMember[]): readonly UserId[] {
  return members.flatMap(({ userId }) => (userId === undefined ? [] : [userId])).sort();
}

function orUndefined<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof Malformed || isQimError(error)) return undefined;
    throw error;
  }
}

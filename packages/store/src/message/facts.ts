/**
 * The facts of a conversation and the entry of a member, as they are stored.
 *
 * Facts are one hash of text fields, all of them always present: kind (1 direct, 2 group), title, settings (JSON
 * {"historyVisibility":1,"onlyAdminsPost":false}, with "readReceipts":true where they are on), pair (JSON list of user ids, [] for a group), and decimal numbers. A
 * member entry is the text `role joinedSeq visibleFrom`.
 */
import {
  ConversationKind,
  type ConversationSeq,
  type ConversationSettings,
  type CorruptReason,
  HistoryVisibility,
  isQimError,
  parseUserId,
  Role,
  SEQ_ZERO,
  type UserId,
} from '@qim/proto';
import { Malformed } from './bytes.js';
import { parseJson, settingsFromValue, settingsValue, userIds } from './control-json.js';
import { parseDecimal, parseDecimals } from './decimal.js';
import type { ConversationFacts } from './message-store.js';
import type { MemberEntry } from './summary.js';

/** The facts that leave the store, and those that are its own. */
export interface StoredFacts extends ConversationFacts {
  /** No sequence up to here is given any more; raised by the take-over step and by tests. Never part of the head check. */
  readonly reservedThrough: ConversationSeq;
  /** The newest record that is not Control; 0: none. */
  readonly previewSequence: ConversationSeq;
}

/** The hash fields, in the order of `parseFacts`. */
export const FACT_FIELDS = [
  'kind',
  'title',
  'settings',
  'pair',
  'lastSequence',
  'reservedThrough',
  'lastCommittedAt',
  'retainedFrom',
  'previewSequence',
  'amendmentNumber',
  'epoch',
] as const;
export type FactField = (typeof FACT_FIELDS)[number];

const SEQ_ONE = 1 as ConversationSeq;

/** Of a conversation without a record. */
export function initialFacts(kind: ConversationKind, title: string, settings: ConversationSettings, pair: readonly UserId[]): StoredFacts {
  return {
    kind,
    title,
    settings,
    pair,
    lastSequence: SEQ_ZERO,
    reservedThrough: SEQ_ZERO,
    lastCommittedAtMs: 0,
    retainedFrom: SEQ_ONE,
    previewSequence: SEQ_ZERO,
    amendmentNumber: 0,
    epoch: 1,
  };
}

export function formatFacts(facts: StoredFacts): Record<FactField, string> {
  return {
    kind: String(facts.kind),
    title: facts.title,
    settings: formatSettings(facts.settings),
    pair: JSON.stringify(facts.pair),
    lastSequence: String(facts.lastSequence),
    reservedThrough: String(facts.reservedThrough),
    lastCommittedAt: String(facts.lastCommittedAtMs),
    retainedFrom: String(facts.retainedFrom),
    previewSequence: String(facts.previewSequence),
    amendmentNumber: String(facts.amendmentNumber),
    epoch: String(facts.epoch),
  };
}

/** The field `settings`. */
export function formatSettings(settings: ConversationSettings): string {
  const usual = settings.readReceipts === true ? undefined : USUAL_TEXTS[textPlace(settings)];
  return usual ?? JSON.stringify(settingsValue(settings));
}

/** `values` in the order of FACT_FIELDS, absent ones undefined or null. Undefined: none is there, no such conversation. */
export function parseFacts(values: readonly (string | null | undefined)[]): StoredFacts | CorruptReason | undefined {
  if (values.every((value) => value === undefined || value === null)) return undefined;
  const [kind, title, settings, pair, ...numbers] = values;
  try {
    return factsFromValues({
      kind: parseDecimal(present(kind)),
      title: present(title),
      settings: present(settings),
      pair: present(pair),
      numbers: NUMBER_FIELDS.map((_, i) => parseDecimal(present(numbers[i]))),
    });
  } catch (error) {
    if (error instanceof Malformed) return 'factsUnreadable';
    throw error;
  }
}

const NUMBER_FIELDS = FACT_FIELDS.slice(4);

/** The fields with their numbers read: `numbers` are those after `pair`. */
export interface FactValues {
  readonly kind: number;
  readonly title: string;
  readonly settings: string;
  readonly pair: string;
  readonly numbers: readonly number[];
}

export function factsFromValues({ kind, title, settings, pair, numbers }: FactValues): StoredFacts | 'factsUnreadable' {
  if (kind !== ConversationKind.Direct && kind !== ConversationKind.Group) return 'factsUnreadable';
  try {
    const facts: StoredFacts = {
      kind,
      title,
      settings: settingsFrom(settings),
      pair: pairFrom(pair),
      lastSequence: (numbers[0] ?? 0) as ConversationSeq,
      reservedThrough: (numbers[1] ?? 0) as ConversationSeq,
      lastCommittedAtMs: numbers[2] ?? 0,
      retainedFrom: (numbers[3] ?? 0) as ConversationSeq,
      previewSequence: (numbers[4] ?? 0) as ConversationSeq,
      amendmentNumber: numbers[5] ?? 0,
      epoch: numbers[6] ?? 0,
    };
    return factsAgree(facts) ? facts : 'factsUnreadable';
  } catch (error) {
    if (error instanceof Malformed || isQimError(error)) return 'factsUnreadable';
    throw error;
  }
}

/** Of a group. */
const NO_PAIR = '[]';
const PAIR_START = '["';
const PAIR_BETWEEN = '","';
const PAIR_END = '"]';

/** @throws Malformed | QimError */
function pairFrom(text: string): readonly UserId[] {
  if (text === NO_PAIR) return [];
  // Two ids without anything escaped: what nearly all direct conversations have needs no parser.
  const between = text.indexOf(PAIR_BETWEEN, PAIR_START.length);
  const end = text.length - PAIR_END.length;
  const after = between + PAIR_BETWEEN.length;
  const plain = between > 0 && text.startsWith(PAIR_START) && text.endsWith(PAIR_END) && after <= end && !text.includes('\\');
  if (!plain || text.indexOf('"', PAIR_START.length) !== between || text.indexOf('"', after) !== end) return userIds(parseJson(text));
  return [parseUserId(text.slice(PAIR_START.length, between)), parseUserId(text.slice(after, end))];
}

/** @throws Malformed */
function settingsFrom(text: string): ConversationSettings {
  return USUAL_SETTINGS.get(text) ?? settingsFromValue(parseJson(text));
}

const USUAL = [HistoryVisibility.FromJoining, HistoryVisibility.All].flatMap((historyVisibility) =>
  [false, true].map((onlyAdminsPost) => settingsValue({ historyVisibility, onlyAdminsPost })),
);
/** By their text, and the other way round: what nearly all conversations have need not be parsed or written again. */
const USUAL_SETTINGS: ReadonlyMap<string, ConversationSettings> = new Map(USUAL.map((settings) => [JSON.stringify(settings), settings]));
const USUAL_TEXTS: string[] = [];
for (const settings of USUAL) USUAL_TEXTS[textPlace(settings)] = JSON.stringify(settings);

function textPlace({ historyVisibility, onlyAdminsPost }: ConversationSettings): number {
  return 2 * historyVisibility + (onlyAdminsPost ? 1 : 0);
}

function factsAgree(facts: StoredFacts): boolean {
  const { kind, pair } = facts;
  const pairFits = kind === ConversationKind.Direct ? pair.length === 1 || pair.length === 2 : pair.length === 0;
  return pairFits && facts.retainedFrom >= 1 && facts.epoch >= 1;
}

function present(value: string | null | undefined): string {
  if (value === undefined || value === null) throw new Malformed('a field is missing');
  return value;
}

export function formatMember(entry: MemberEntry): string {
  return `${entry.role} ${entry.joinedSeq} ${entry.visibleFrom}`;
}

export function parseMember(text: string): MemberEntry | 'memberUnreadable' {
  try {
    const [role, joinedSeq, visibleFrom] = parseDecimals(text, 3);
    if (role !== Role.Member && role !== Role.Admin && role !== Role.Owner) return 'memberUnreadable';
    if (!joinedSeq || !visibleFrom || visibleFrom > joinedSeq) return 'memberUnreadable';
    return { role, joinedSeq: joinedSeq as ConversationSeq, visibleFrom: visibleFrom as ConversationSeq };
  } catch (error) {
    if (error instanceof Malformed) return 'memberUnreadable';
    throw error;
  }
}

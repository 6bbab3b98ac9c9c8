/** Every conversation and every user of an embedded store, in steps from one to the next: nothing is kept in memory. */
import { LIST_PAGE_SIZE_MAX } from '@qim/proto';
import type { ConversationPlace, UserPlace } from '../verify/finding.js';
import type { Walk, WalkFilter } from '../verify/scanner.js';
import type { Environment, Snapshot } from './environment.js';
import { ConversationKeys, Table } from './keys.js';
import {
  type ConversationTable,
  conversationFrom,
  dedupIn,
  underConversation,
  underUser,
  userFrom,
  wholeTable,
} from './maintenance-keys.js';

const PARTS: readonly ConversationTable[] = [
  Table.Index,
  Table.Record,
  Table.Body,
  Table.Member,
  Table.Amendment,
  Table.AmendmentOf,
  Table.Reaction,
];
const CONVERSATION_TABLES = [Table.Facts, ...PARTS, Table.Dedup] as const;
const USER_TABLES = [
  Table.View,
  Table.ListedAt,
  Table.List,
  Table.ReadMark,
  Table.Pin,
  Table.Block,
  Table.Suspended,
  Table.Profile,
] as const;

export async function* walkConversations(
  environment: Environment,
  filter: WalkFilter,
  begin?: string,
): AsyncGenerator<Walk<ConversationPlace>> {
  const at = keyOf(begin);
  const total = environment.read((snapshot) => snapshot.count(wholeTable(Table.Facts)));
  let walked = 0;
  for (const [i, table] of CONVERSATION_TABLES.entries()) {
    if (isBehind(CONVERSATION_TABLES, i, at)) continue;
    // What stands in an earlier table was met there.
    const isNew = (snapshot: Snapshot, place: ConversationPlace): boolean =>
      !CONVERSATION_TABLES.slice(0, i).some((earlier) => holds(snapshot, earlier, place));
    const steps = (snapshot: Snapshot, from: Buffer) => conversationFrom(snapshot, table, from);
    const wanted = ({ tenantId, conversationId }: ConversationPlace): boolean => isWanted(filter, tenantId, conversationId);
    for (const found of pages(environment, startIn(table, at), steps, (snapshot, place) => wanted(place) && isNew(snapshot, place))) {
      walked += found.walked;
      yield { found: found.places, done: Math.min(1, walked / Math.max(1, total)), next: found.next?.toString('latin1') };
    }
  }
}

export async function* walkUsers(environment: Environment, filter: WalkFilter, begin?: string): AsyncGenerator<Walk<UserPlace>> {
  const at = keyOf(begin);
  for (const [i, table] of USER_TABLES.entries()) {
    if (isBehind(USER_TABLES, i, at)) continue;
    const isNew = (snapshot: Snapshot, user: UserPlace): boolean =>
      // A profile is the last, and nothing comes after it.
      !USER_TABLES.slice(0, i).some((earlier) => earlier !== Table.Profile && snapshot.keys(underUser(earlier, user), 1).length > 0);
    const steps = (snapshot: Snapshot, from: Buffer) => userFrom(snapshot, table, from);
    const wanted = ({ tenantId, userId }: UserPlace): boolean => isWanted(filter, tenantId, userId);
    for (const found of pages(environment, startIn(table, at), steps, (snapshot, user) => wanted(user) && isNew(snapshot, user))) {
      yield { found: found.places, done: i / USER_TABLES.length, next: found.next?.toString('latin1') };
    }
  }
}

/** Where a walk goes on is told as the key that comes next. */
function keyOf(begin: string | undefined): Buffer | undefined {
  return begin === undefined ? undefined : Buffer.from(begin, 'latin1');
}

/** The walk was past this table. */
function isBehind(tables: readonly string[], i: number, at: Buffer | undefined): boolean {
  return at !== undefined && i < tables.indexOf(String.fromCharCode(at[0] ?? 0));
}

function startIn(table: string, at: Buffer | undefined): Buffer {
  const { start } = wholeTable(table);
  return at !== undefined && at[0] === start[0] ? at : start;
}

function isWanted({ tenantId, id }: WalkFilter, tenant: number, name: string): boolean {
  return (tenantId === undefined || tenantId === tenant) && (id === undefined || id === name);
}

function holds(snapshot: Snapshot, table: (typeof CONVERSATION_TABLES)[number], place: ConversationPlace): boolean {
  if (table === Table.Facts) return snapshot.get(new ConversationKeys(place.tenantId, place.conversationId).facts) !== undefined;
  if (table !== Table.Dedup) return snapshot.keys(underConversation(table, place), 1).length > 0;
  return weeksOf(snapshot).some((week) => snapshot.keys(dedupIn(week, place), 1).length > 0);
}

/** Weeks of which there are de-duplication entries; a handful. */
export function weeksOf(snapshot: Snapshot): number[] {
  const weeks: number[] = [];
  const { start, end } = wholeTable(Table.Dedup);
  for (let from = start; ; ) {
    const [key] = snapshot.keys({ start: from, end }, 1);
    if (key === undefined || key.length < start.length + 8) return weeks;
    const week = Number(key.readBigUInt64BE(start.length));
    if (!Number.isSafeInteger(week)) return weeks;
    weeks.push(week);
    from = Buffer.concat([start, Buffer.alloc(8)]);
    from.writeBigUInt64BE(BigInt(week) + 1n, start.length);
  }
}

interface Page<T> {
  readonly places: readonly T[];
  readonly walked: number;
  /** Undefined: this was the last one. */
  readonly next: Buffer | undefined;
}

/** A page comes after LIST_PAGE_SIZE_MAX steps, whatever they met. */
function* pages<T>(
  environment: Environment,
  start: Buffer,
  step: (snapshot: Snapshot, from: Buffer) => { readonly place: T | undefined; readonly next: Buffer } | undefined,
  wanted: (snapshot: Snapshot, place: T) => boolean,
): Generator<Page<T>> {
  for (let from: Buffer | undefined = start; from !== undefined; ) {
    const at: Buffer = from;
    const page: Page<T> = environment.read((snapshot) => {
      const places: T[] = [];
      let next: Buffer | undefined = at;
      let walked = 0;
      while (walked < LIST_PAGE_SIZE_MAX && next !== undefined) {
        const taken = step(snapshot, next);
        next = taken?.next;
        if (taken === undefined) break;
        walked += 1;
        if (taken.place !== undefined && wanted(snapshot, taken.place)) places.push(taken.place);
      }
      return { places, walked, next };
    });
    from = page.next;
    yield page;
  }
}

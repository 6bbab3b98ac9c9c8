/** The raw reads of one user's entries in an embedded store. */
import { BLOCKED_USERS_MAX, type ConversationId, LIST_PAGE_SIZE_MAX } from '@qim/proto';
import { parseProfile } from '../users/stored.js';
import type { UserPlace } from '../verify/finding.js';
import type { OddUserItem, UserEntry, UserPage, UserScan } from '../verify/scanner.js';
import type { Environment, Snapshot } from './environment.js';
import { conversationIdFrom, everythingUnder, justAfter, type KeyRange, NUMBER_BYTES, Table, UserKeys, userIdFrom } from './keys.js';
import { restOf, type UserTable, underUser } from './maintenance-keys.js';
import { slotOf } from './maintenance-scan.js';
import { counterFrom, textFrom } from './values.js';

/** In this order: an entry is met in the first table that has it. */
const TABLES = [Table.View, Table.ListedAt, Table.ReadMark, Table.Pin] as const;
const SLOT_TABLES = { [Table.View]: 'view', [Table.ListedAt]: 'list', [Table.ReadMark]: 'readMark', [Table.Pin]: 'pin' } as const;

export class EmbeddedUserScan implements UserScan {
  readonly place: UserPlace;
  readonly #environment: Environment;
  readonly #keys: UserKeys;

  constructor(environment: Environment, place: UserPlace) {
    this.#environment = environment;
    this.place = place;
    this.#keys = new UserKeys(place.tenantId, place.userId);
  }

  async *pages(): AsyncGenerator<UserPage> {
    for (const table of TABLES) {
      for (const { keys, range } of this.#keysIn(table))
        yield this.#environment.read((snapshot) => this.#page(snapshot, table, keys, range));
    }
    for (const { keys, range } of this.#keysIn(Table.List)) {
      const odd = this.#environment.read((snapshot) => keys.flatMap((key) => this.#doubled(snapshot, key, range)));
      if (odd.length > 0) yield { entries: [], odd };
    }
    const odd = this.#environment.read((snapshot) => this.#oddOfUser(snapshot));
    if (odd.length > 0) yield { entries: [], odd };
  }

  /** A profile that is none, and blocked names that are no users. */
  #oddOfUser(snapshot: Snapshot): OddUserItem[] {
    const { profile, blockPrefix } = this.#keys;
    const value = snapshot.get(profile);
    const unreadable = value !== undefined && parseProfile(textFrom(value)) === undefined;
    const names = snapshot.keys(everythingUnder(blockPrefix), BLOCKED_USERS_MAX);
    return [
      ...(unreadable ? [{ slot: slotOf('profile', profile), kind: 'unreadable', conversationId: undefined } as const] : []),
      ...names
        .filter((key) => userIdFrom(key.subarray(blockPrefix.length)) === undefined)
        .map((key) => ({ slot: slotOf('blocks', key), kind: 'name', conversationId: undefined }) as const),
    ];
  }

  async entry(conversationId: ConversationId): Promise<UserEntry> {
    return this.#environment.read((snapshot) => readEntry(snapshot, this.#keys, conversationId));
  }

  #page(snapshot: Snapshot, table: (typeof TABLES)[number], keys: readonly Buffer[], range: KeyRange): UserPage {
    const entries: UserEntry[] = [];
    const odd: OddUserItem[] = [];
    for (const key of keys) {
      const conversationId = conversationIdFrom(restOf(key, range));
      if (conversationId === undefined) {
        odd.push({ slot: slotOf(SLOT_TABLES[table], key), kind: 'name', conversationId });
        continue;
      }
      const own = readEntry(snapshot, this.#keys, conversationId);
      if (!isMetBefore(table, own)) entries.push(own);
    }
    return { entries, odd };
  }

  /** An entry of the order that is not the one under which the conversation is known to stand. */
  #doubled(snapshot: Snapshot, key: Buffer, range: KeyRange): OddUserItem[] {
    const rest = restOf(key, range);
    const conversationId = conversationIdFrom(rest.subarray(NUMBER_BYTES));
    const slot = slotOf('list', key);
    if (conversationId === undefined) return [{ slot, kind: 'name', conversationId }];
    const listedAt = snapshot.get(this.#keys.listedAt(conversationId));
    const same = listedAt !== undefined && Buffer.compare(listedAt, rest.subarray(0, NUMBER_BYTES)) === 0;
    return same ? [] : [{ slot, kind: 'doubled', conversationId }];
  }

  *#keysIn(table: UserTable): Generator<{ readonly keys: readonly Buffer[]; readonly range: KeyRange }> {
    const range = underUser(table, this.place);
    for (let from: Buffer | undefined = range.start; from !== undefined; ) {
      const at: Buffer = from;
      const keys: Buffer[] = this.#environment.read((snapshot) => snapshot.keys({ start: at, end: range.end }, LIST_PAGE_SIZE_MAX));
      if (keys.length > 0) yield { keys, range };
      const last = keys[keys.length - 1];
      from = keys.length < LIST_PAGE_SIZE_MAX || last === undefined ? undefined : justAfter(last);
    }
  }
}

/** In an earlier one of TABLES. */
function isMetBefore(table: (typeof TABLES)[number], { view, listed, readMark }: UserEntry): boolean {
  const found = { [Table.View]: view, [Table.ListedAt]: listed, [Table.ReadMark]: readMark, [Table.Pin]: undefined };
  return TABLES.slice(0, TABLES.indexOf(table)).some((earlier) => found[earlier] !== undefined);
}

export function readEntry(snapshot: Snapshot, keys: UserKeys, conversationId: ConversationId): UserEntry {
  const view = snapshot.get(keys.view(conversationId));
  const listedAt = snapshot.get(keys.listedAt(conversationId));
  const mark = snapshot.get(keys.readMark(conversationId));
  const pin = snapshot.get(keys.pin(conversationId));
  return {
    conversationId,
    view: view && textFrom(view),
    listed: listedAt && { at: timeIn(snapshot, keys, conversationId, listedAt) },
    readMark: mark && textFrom(mark),
    pin: pin && { at: pin.length === NUMBER_BYTES && counterFrom(pin) > 0 ? counterFrom(pin) : undefined },
    wrongKeys: [],
    guard: JSON.stringify([view, listedAt, mark, pin].map((value) => value?.toString('hex') ?? null)),
  };
}

/** Undefined: no time, or the order does not have the conversation under it. */
function timeIn(snapshot: Snapshot, keys: UserKeys, conversationId: ConversationId, listedAt: Buffer): number | undefined {
  const at = counterFrom(listedAt);
  const stands = listedAt.length === NUMBER_BYTES && snapshot.get(keys.list(at, conversationId)) !== undefined;
  return stands ? at : undefined;
}

/**
 * Keys of the embedded store read backwards: from a key to what it is of, and from there to the next conversation or
 * user. What stands under a table may be no key of ours; then it is passed over. Also the one table that repairs add.
 */
import { isQimError, parseTenantId, TENANT_ID_MAX, type TenantId } from '@qim/proto';
import { keyPart } from '../key-part.js';
import type { ConversationPlace, UserPlace } from '../verify/finding.js';
import type { Snapshot } from './environment.js';
import { conversationIdFrom, everythingUnder, justAfter, type KeyRange, NUMBER_BYTES, Table, userIdFrom, weekPrefix } from './keys.js';

/** What repairs put aside: by conversation and id. */
export const QUARANTINE_TABLE = 'q';

/** Tables of a conversation whose keys go on after it. */
export type ConversationTable =
  | typeof Table.Index
  | typeof Table.Record
  | typeof Table.Body
  | typeof Table.Member
  | typeof Table.Amendment
  | typeof Table.AmendmentOf
  | typeof Table.Reaction
  | typeof QUARANTINE_TABLE;
export type UserTable =
  | typeof Table.View
  | typeof Table.List
  | typeof Table.ListedAt
  | typeof Table.ReadMark
  | typeof Table.Pin
  | typeof Table.Block
  | typeof Table.Suspended;

const COLON = 0x3a;

export function underConversation(table: ConversationTable, { tenantId, conversationId }: ConversationPlace): KeyRange {
  return everythingUnder(Buffer.from(`${table}:${tenantId}:${keyPart(conversationId)}:`, 'latin1'));
}

export function underUser(table: UserTable, { tenantId, userId }: UserPlace): KeyRange {
  return everythingUnder(Buffer.from(`${table}:${tenantId}:${keyPart(userId)}:`, 'latin1'));
}

/** The de-duplication entries of a conversation in one week. */
export function dedupIn(week: number, { tenantId, conversationId }: ConversationPlace): KeyRange {
  const ids = Buffer.from(`${tenantId}:${keyPart(conversationId)}:`, 'latin1');
  return everythingUnder(Buffer.concat([weekPrefix(Table.Dedup, week), ids]));
}

export function quarantineKey(place: ConversationPlace, id: string): Buffer {
  return Buffer.concat([underConversation(QUARANTINE_TABLE, place).start, Buffer.from(id, 'latin1')]);
}

export function wholeTable(table: string): KeyRange {
  return everythingUnder(Buffer.from(`${table}:`, 'latin1'));
}

/** The rest of a key after the prefix that its range starts with. */
export function restOf(key: Buffer, { start }: KeyRange): Buffer {
  return key.subarray(start.length);
}

interface Parts {
  readonly tenantId: TenantId;
  /** The second part, encoded. */
  readonly id: Buffer;
  /** Where the second part ends. */
  readonly end: number;
}

/** `tenant:id`, and what follows after one more colon, from `at` on. */
function partsOf(key: Buffer, at: number): Parts | undefined {
  const colon = key.indexOf(COLON, at);
  if (colon < 0) return undefined;
  const tenantId = tenantFrom(key.toString('latin1', at, colon));
  const next = key.indexOf(COLON, colon + 1);
  const end = next < 0 ? key.length : next;
  return tenantId === undefined ? undefined : { tenantId, id: key.subarray(colon + 1, end), end };
}

function tenantFrom(text: string): TenantId | undefined {
  if (!/^(0|[1-9]\d{0,9})$/.test(text) || Number(text) > TENANT_ID_MAX) return undefined;
  try {
    return parseTenantId(Number(text));
  } catch (error) {
    if (isQimError(error)) return undefined;
    throw error;
  }
}

/** A place of one table, and the key from which on others follow. */
interface Step<T> {
  readonly place: T | undefined;
  readonly next: Buffer;
}

/** The first conversation at or past `from`; undefined: there is none in this table. */
export function conversationFrom(snapshot: Snapshot, table: string, from: Buffer): Step<ConversationPlace> | undefined {
  return stepFrom(snapshot, table, from, table === Table.Dedup ? 2 + NUMBER_BYTES : 2, ({ tenantId, id }) => {
    const conversationId = conversationIdFrom(id);
    return conversationId && { tenantId, conversationId };
  });
}

export function userFrom(snapshot: Snapshot, table: UserTable | typeof Table.Profile, from: Buffer): Step<UserPlace> | undefined {
  return stepFrom(snapshot, table, from, 2, ({ tenantId, id }) => {
    const userId = userIdFrom(id);
    return userId && { tenantId, userId };
  });
}

function stepFrom<T>(
  snapshot: Snapshot,
  table: string,
  from: Buffer,
  at: number,
  placeOf: (parts: Parts) => T | undefined,
): Step<T> | undefined {
  const [key] = snapshot.keys({ start: from, end: wholeTable(table).end }, 1);
  if (key === undefined) return undefined;
  const parts = partsOf(key, at);
  const place = parts && placeOf(parts);
  // A key that ends with the id has no others behind it.
  const next = parts === undefined || parts.end === key.length ? justAfter(key) : everythingUnder(key.subarray(0, parts.end + 1)).end;
  return { place, next };
}

/**
 * Every LMDB key, and nothing about values (docs/storage.md, LMDB keys).
 *
 * A key is one letter for its table and parts that are joined by ':'. Ids are percent-encoded except `A-Z a-z 0-9 _ -`,
 * so that no id yields a ':' and no two lists of ids make one key. A number that must sort is the last part but one or
 * the last, as 8 bytes big-endian. The longest key, of a de-duplication entry, stays under 600 bytes (LMDB: 1 978).
 */
import {
  type ClientMessageId,
  type ConversationId,
  type ConversationSeq,
  isQimError,
  parseConversationId,
  parseTenantId,
  parseUserId,
  TENANT_ID_MAX,
  type TenantId,
  type UserId,
} from '@qim/proto';
import { keyPart } from '../key-part.js';

/** What lies under which letter. */
export const Table = {
  Format: 'm',
  Facts: 'f',
  Index: 'h',
  Record: 'r',
  Body: 'b',
  Member: 'u',
  /** By amendment number: which sequence. */
  Amendment: 'a',
  /** By sequence: which amendment number. */
  AmendmentOf: 'n',
  Reaction: 'e',
  Dedup: 'd',
  Outbox: 'o',
  Poison: 'p',
  /** A user's conversations by last activity. */
  List: 'c',
  /** By conversation: the time under which it stands in the list. */
  ListedAt: 'x',
  View: 'v',
  ReadMark: 'k',
  /** By week: whose tombstone may go. */
  Tombstone: 't',
  GroupRequest: 'g',
  /** By conversation: when the user pinned it. */
  Pin: 'i',
  Profile: 'w',
  /** By user: whom the user blocked. */
  Block: 'l',
  /** By device; none: the whole user. */
  Suspended: 's',
  /** Of a tenant, by number. */
  Report: 'y',
  /** Outbox entries that the webhook is still to be told of. */
  Hook: 'j',
  DeadHook: 'z',
  /** By device and endpoint: where a browser takes notifications. */
  WebPush: 'q',
} as const;
export type Table = (typeof Table)[keyof typeof Table];

/** A half-open range of keys. */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
}

/** The id behind the last part of a key; undefined when it is none. */
export function userIdFrom(part: Uint8Array): UserId | undefined {
  return decodePart(part, parseUserId);
}

export function conversationIdFrom(part: Uint8Array): ConversationId | undefined {
  return decodePart(part, parseConversationId);
}

function decodePart<T extends string>(part: Uint8Array, parse: (text: string) => T): T | undefined {
  const text = Buffer.from(part.buffer, part.byteOffset, part.length).toString('latin1');
  try {
    const id = parse(decodeURIComponent(text));
    return keyPart(id) === text ? id : undefined;
  } catch (error) {
    if (error instanceof URIError || isQimError(error)) return undefined;
    throw error;
  }
}

function key(table: Table, ...parts: readonly (string | number)[]): Buffer {
  return Buffer.from(`${table}:${parts.join(':')}`, 'latin1');
}

/** A table's letter and the colon. */
export const TABLE_BYTES = 2;

function prefix(table: Table, ...parts: readonly (string | number)[]): Buffer {
  return Buffer.from(`${table}:${parts.map((part) => `${part}:`).join('')}`, 'latin1');
}

/** 8 bytes big-endian at `at`. */
export function writeNumber(bytes: Buffer, at: number, value: number): void {
  bytes.writeUInt32BE(Math.floor(value / TWO_32), at);
  bytes.writeUInt32BE(value % TWO_32, at + 4);
}

const TWO_32 = 2 ** 32;
export const NUMBER_BYTES = 8;
const NUMBER_ROOM = '\0'.repeat(NUMBER_BYTES);

/** `table:ids:`, the number, and what stands after it. */
function numbered(table: Table, ids: string | number, value: number, after = ''): Buffer {
  const bytes = Buffer.from(`${table}:${ids}:${NUMBER_ROOM}${after}`, 'latin1');
  writeNumber(bytes, bytes.length - NUMBER_BYTES - after.length, value);
  return bytes;
}

function withNumber(start: Buffer, value: number): Buffer {
  const bytes = Buffer.allocUnsafe(start.length + NUMBER_BYTES);
  start.copy(bytes);
  writeNumber(bytes, start.length, value);
  return bytes;
}

/** All keys that begin with `start`, which ends in ':'. */
export function everythingUnder(start: Buffer): KeyRange {
  const end = Buffer.from(start);
  end[end.length - 1] = (end[end.length - 1] ?? 0) + 1;
  return { start, end };
}

/** The least key past `key`. A longer key that begins with it is past it, too. */
export function justAfter(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.alloc(1)]);
}

/** The keys of one conversation. */
export class ConversationKeys {
  readonly #ids: string;

  constructor(tenantId: TenantId, conversationId: ConversationId) {
    this.#ids = `${tenantId}:${keyPart(conversationId)}`;
  }

  get facts(): Buffer {
    return key(Table.Facts, this.#ids);
  }

  get indexPrefix(): Buffer {
    return prefix(Table.Index, this.#ids);
  }

  /** Of its own among those of all conversations. */
  get place(): string {
    return this.#ids;
  }

  /** `member` is usually the 8 bytes of a sequence; damage may leave anything. */
  indexMember(member: Uint8Array): Buffer {
    return Buffer.concat([this.indexPrefix, member]);
  }

  index(seq: ConversationSeq): Buffer {
    return numbered(Table.Index, this.#ids, seq);
  }

  record(seq: ConversationSeq): Buffer {
    return numbered(Table.Record, this.#ids, seq);
  }

  body(seq: ConversationSeq): Buffer {
    return numbered(Table.Body, this.#ids, seq);
  }

  get memberPrefix(): Buffer {
    return prefix(Table.Member, this.#ids);
  }

  member(userId: UserId): Buffer {
    return key(Table.Member, this.#ids, keyPart(userId));
  }

  get amendmentPrefix(): Buffer {
    return prefix(Table.Amendment, this.#ids);
  }

  amendment(number: number): Buffer {
    return numbered(Table.Amendment, this.#ids, number);
  }

  amendmentOf(seq: ConversationSeq): Buffer {
    return numbered(Table.AmendmentOf, this.#ids, seq);
  }

  /** Of the message with this sequence. */
  reactions(seq: ConversationSeq): Buffer {
    return numbered(Table.Reaction, this.#ids, seq);
  }

  dedup(week: number, sender: UserId, clientMessageId: ClientMessageId): Buffer {
    return inWeek(Table.Dedup, week, `${this.#ids}:${keyPart(sender)}:${keyPart(clientMessageId)}`);
  }
}

/** The keys of all facts past the one that `cursor` is the text of; undefined: from the first. */
export function factsAfter(cursor: string | undefined): KeyRange {
  const { start, end } = everythingUnder(prefix(Table.Facts));
  return { start: cursor === undefined ? start : justAfter(Buffer.from(cursor, 'latin1')), end };
}

/** The conversation whose facts lie under a key; undefined: it is no such key. */
export function placeOfFacts(factsKey: Buffer): { readonly tenantId: TenantId; readonly conversationId: ConversationId } | undefined {
  const [, tenant, conversation] = /^f:(\d+):([^:]+)$/.exec(factsKey.toString('latin1')) ?? [];
  const conversationId = conversation === undefined ? undefined : conversationIdFrom(Buffer.from(conversation, 'latin1'));
  const tenantId = Number(tenant);
  return conversationId === undefined || tenantId > TENANT_ID_MAX ? undefined : { tenantId: parseTenantId(tenantId), conversationId };
}

/** The keys of one user. */
export class UserKeys {
  readonly #ids: string;

  constructor(tenantId: TenantId, userId: UserId) {
    this.#ids = `${tenantId}:${keyPart(userId)}`;
  }

  get listPrefix(): Buffer {
    return prefix(Table.List, this.#ids);
  }

  get viewPrefix(): Buffer {
    return prefix(Table.View, this.#ids);
  }

  /** Sorts by time, then by conversation id. */
  list(activityAtMs: number, conversationId: ConversationId): Buffer {
    return numbered(Table.List, this.#ids, activityAtMs, keyPart(conversationId));
  }

  view(conversationId: ConversationId): Buffer {
    return key(Table.View, this.#ids, keyPart(conversationId));
  }

  listedAt(conversationId: ConversationId): Buffer {
    return key(Table.ListedAt, this.#ids, keyPart(conversationId));
  }

  get readMarkPrefix(): Buffer {
    return prefix(Table.ReadMark, this.#ids);
  }

  readMark(conversationId: ConversationId): Buffer {
    return key(Table.ReadMark, this.#ids, keyPart(conversationId));
  }

  get profile(): Buffer {
    return key(Table.Profile, this.#ids);
  }

  get blockPrefix(): Buffer {
    return prefix(Table.Block, this.#ids);
  }

  block(blocked: UserId): Buffer {
    return key(Table.Block, this.#ids, keyPart(blocked));
  }

  get suspendedPrefix(): Buffer {
    return prefix(Table.Suspended, this.#ids);
  }

  /** '' stands for the whole user. */
  suspended(device: string): Buffer {
    return key(Table.Suspended, this.#ids, keyPart(device));
  }

  get webPushPrefix(): Buffer {
    return prefix(Table.WebPush, this.#ids);
  }

  webPush(name: string): Buffer {
    return key(Table.WebPush, this.#ids, keyPart(name));
  }

  get pinPrefix(): Buffer {
    return prefix(Table.Pin, this.#ids);
  }

  pin(conversationId: ConversationId): Buffer {
    return key(Table.Pin, this.#ids, keyPart(conversationId));
  }

  tombstone(week: number, conversationId: ConversationId): Buffer {
    return inWeek(Table.Tombstone, week, `${this.#ids}:${keyPart(conversationId)}`);
  }

  groupRequest(week: number, clientRequestId: string): Buffer {
    return inWeek(Table.GroupRequest, week, `${this.#ids}:${keyPart(clientRequestId)}`);
  }
}

export function reportPrefix(tenantId: TenantId): Buffer {
  return prefix(Table.Report, tenantId);
}

export function reportKey(tenantId: TenantId, number: number): Buffer {
  return withNumber(reportPrefix(tenantId), number);
}

function inWeek(table: Table, week: number, parts: string): Buffer {
  const bytes = Buffer.from(`${table}:${NUMBER_ROOM}${parts}`, 'latin1');
  writeNumber(bytes, TABLE_BYTES, week);
  return bytes;
}

/** Of things that expire: they sort by week first, so that an expired week is a prefix. */
export function weekPrefix(table: Table, week: number): Buffer {
  return withNumber(prefix(table), week);
}

/** Puts the key of something that expires into another week, in place. */
export function setWeek(key: Buffer, week: number): void {
  writeNumber(key, TABLE_BYTES, week);
}

const WEEK_PREFIX_BYTES = weekPrefix(Table.Tombstone, 0).length;

/** The same user's and conversation's tombstone in another week. */
export function tombstoneIn(tombstone: Buffer, week: number): Buffer {
  return Buffer.concat([weekPrefix(Table.Tombstone, week), tombstone.subarray(WEEK_PREFIX_BYTES)]);
}

export function viewOfTombstone(tombstone: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${Table.View}:`, 'latin1'), tombstone.subarray(WEEK_PREFIX_BYTES)]);
}

type EntryTable = typeof Table.Outbox | typeof Table.Poison | typeof Table.Hook | typeof Table.DeadHook;

export function outboxPrefix(table: EntryTable, partition: number): Buffer {
  return prefix(table, partition);
}

export function outboxEntry(table: EntryTable, partition: number, entryNumber: number): Buffer {
  return numbered(table, partition, entryNumber);
}

/** The deployment: format and partitions. */
export const FORMAT_KEY = key(Table.Format, 'format');
/** How far an import has come; while it stands no server opens the store. */
export const IMPORT_KEY = key(Table.Format, 'import');
/** The number of the last outbox entry of a partition, 8 bytes. */
export const outboxCounter = (partition: number): Buffer => key(Table.Format, 'outbox', partition);
/** The token of a partition's last owner, 8 bytes. */
export const leaseCounter = (partition: number): Buffer => key(Table.Format, 'lease', partition);
/** The number of the newest entry that the queue of the webhook was ever given, 8 bytes. */
export const hookCounter = (partition: number): Buffer => key(Table.Format, 'hook', partition);

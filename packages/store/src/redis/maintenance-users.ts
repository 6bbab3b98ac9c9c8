/** The raw reads of one user's entries on Redis. */
import { type ConversationId, isQimError, LIST_PAGE_SIZE_MAX, parseConversationId, parseUserId } from '@qim/proto';
import { parseProfile } from '../users/stored.js';
import type { UserPlace } from '../verify/finding.js';
import type { OddUserItem, Slot, UserEntry, UserPage, UserScan } from '../verify/scanner.js';
import { type Command, isWrongType, type RedisConnection, type Reply } from './connection.js';
import { type UserKeys, userKeys } from './keys.js';
import { scanPairs } from './maintenance-scan.js';
import { asBuffer, asOptionalBuffer, asText } from './replies.js';

/** Commands of one entry. */
const ENTRY_COMMANDS = 4;

export class RedisUserScan implements UserScan {
  readonly place: UserPlace;
  readonly #connection: RedisConnection;
  readonly #keys: UserKeys;

  constructor(connection: RedisConnection, place: UserPlace) {
    this.#connection = connection;
    this.place = place;
    this.#keys = userKeys(place.tenantId, place.userId);
  }

  async *pages(): AsyncGenerator<UserPage> {
    const wrong = await this.#wrongKeys();
    if (wrong.length > 0) yield { entries: [], odd: wrong };
    const { view, conversations, read, pins } = this.#keys;
    yield* this.#namesIn('view', view, 'HSCAN', () => false);
    yield* this.#namesIn('list', conversations, 'ZSCAN', (own) => own.view !== undefined);
    yield* this.#namesIn('readMark', read, 'HSCAN', (own) => own.view !== undefined || own.listed !== undefined);
    const known = ({ view: entry, listed, readMark }: UserEntry) => entry !== undefined || listed !== undefined || readMark !== undefined;
    yield* this.#namesIn('pin', pins, 'ZSCAN', known);
    const odd = await this.#oddOfUser();
    if (odd.length > 0) yield { entries: [], odd };
  }

  /** `met`: the entry was met under an earlier key. */
  async *#namesIn(
    table: 'view' | 'list' | 'readMark' | 'pin',
    key: string,
    command: 'HSCAN' | 'ZSCAN',
    met: (own: UserEntry) => boolean,
  ): AsyncGenerator<UserPage> {
    for await (const pairs of scanPairs(this.#connection, command, key)) {
      const ids: ConversationId[] = [];
      const odd: OddUserItem[] = [];
      for (const [name] of pairs) {
        const conversationId = conversationIdFrom(name.toString('latin1'));
        if (conversationId !== undefined) ids.push(conversationId);
        else odd.push({ slot: { table, key, field: name }, kind: 'name', conversationId });
      }
      if (odd.length > 0) yield { entries: [], odd };
      for (let from = 0; from < ids.length; from += LIST_PAGE_SIZE_MAX) {
        const own = await readEntries(
          this.#connection,
          ids.slice(from, from + LIST_PAGE_SIZE_MAX).map((id) => [this.#keys, id]),
        );
        yield { entries: own.filter((entry) => !met(entry)), odd: [] };
      }
    }
  }

  async #wrongKeys(): Promise<OddUserItem[]> {
    const wanted = [
      ['view', this.#keys.view, 'hash'],
      ['list', this.#keys.conversations, 'zset'],
      ['readMark', this.#keys.read, 'hash'],
      ['pin', this.#keys.pins, 'zset'],
      ['profile', this.#keys.profile, 'string'],
      ['blocks', this.#keys.blocks, 'set'],
      ['suspended', this.#keys.suspended, 'set'],
      ['webPush', this.#keys.webPush, 'hash'],
    ] as const;
    const types = await this.#connection.pipeline(wanted.map(([, key]): Command => ['TYPE', key]));
    return wanted.flatMap(([table, key, type], i) => {
      const found = asText(types[i]);
      const slot = { table, key, field: undefined };
      return found === type || found === 'none' ? [] : [{ slot, kind: 'wrongType' as const, conversationId: undefined }];
    });
  }

  /** A profile that is none, and blocked names that are no users; of keys of the right type. */
  async #oddOfUser(): Promise<OddUserItem[]> {
    const { profile, blocks } = this.#keys;
    const [text, names] = await this.#connection.pipeline([
      ['GET', profile],
      ['SMEMBERS', blocks],
    ]);
    const odd: OddUserItem[] = [];
    const value = isWrongType(text) ? undefined : asOptionalBuffer(text);
    if (value !== undefined && parseProfile(value.toString()) === undefined) {
      odd.push({ slot: { table: 'profile', key: profile, field: undefined }, kind: 'unreadable', conversationId: undefined });
    }
    for (const name of Array.isArray(names) ? names : []) {
      const field = asBuffer(name as Reply);
      if (!isUserId(field.toString())) odd.push({ slot: { table: 'blocks', key: blocks, field }, kind: 'name', conversationId: undefined });
    }
    return odd;
  }

  async entry(conversationId: ConversationId): Promise<UserEntry> {
    const [own] = await readEntries(this.#connection, [[this.#keys, conversationId]]);
    if (own === undefined) throw new Error('one entry was asked for');
    return own;
  }
}

/** One entry for each pair, each of one moment. */
export async function readEntries(
  connection: RedisConnection,
  asked: readonly (readonly [keys: UserKeys, conversationId: ConversationId])[],
): Promise<UserEntry[]> {
  const commands = asked.flatMap(([{ view, conversations, read, pins }, id]): Command[] => [
    ['HGET', view, id],
    ['ZSCORE', conversations, id],
    ['HGET', read, id],
    ['ZSCORE', pins, id],
  ]);
  const replies = await connection.pipeline(commands);
  return asked.map(([keys, conversationId], i) =>
    entryFrom(keys, conversationId, replies.slice(i * ENTRY_COMMANDS, (i + 1) * ENTRY_COMMANDS)),
  );
}

function entryFrom(keys: UserKeys, conversationId: ConversationId, replies: readonly Reply[]): UserEntry {
  const slots: readonly Slot[] = [
    { table: 'view', key: keys.view, field: undefined },
    { table: 'list', key: keys.conversations, field: undefined },
    { table: 'readMark', key: keys.read, field: undefined },
    { table: 'pin', key: keys.pins, field: undefined },
  ];
  const [view, score, mark, pin] = replies.map((reply) => (isWrongType(reply) ? undefined : asOptionalBuffer(reply)));
  const timeOf = (value: Buffer | undefined) => {
    const at = value === undefined ? undefined : Number(value.toString());
    return at === undefined ? undefined : { at: Number.isSafeInteger(at) && at >= 0 ? at : undefined };
  };
  return {
    conversationId,
    view: view?.toString('utf8'),
    listed: timeOf(score),
    readMark: mark?.toString('utf8'),
    pin: timeOf(pin),
    wrongKeys: slots.filter((_, i) => isWrongType(replies[i])),
    guard: JSON.stringify([view, score, mark, pin].map((value) => value?.toString('latin1') ?? null)),
  };
}

function isUserId(text: string): boolean {
  try {
    parseUserId(text);
    return true;
  } catch (error) {
    if (isQimError(error)) return false;
    throw error;
  }
}

function conversationIdFrom(text: string): ConversationId | undefined {
  try {
    return parseConversationId(text);
  } catch (error) {
    if (isQimError(error)) return undefined;
    throw error;
  }
}

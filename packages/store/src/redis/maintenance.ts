/** A Redis opened for verification and repair: a connection of its own beside that of the store. */
import { STORE_COMMAND_TIMEOUT_MS, type UserId } from '@qim/proto';
import { MessageStoreError } from '../errors.js';
import type { ConversationPlace, UserPlace } from '../verify/finding.js';
import type { StoreMender } from '../verify/mender.js';
import { decodeQuarantined } from '../verify/quarantine.js';
import type { Quarantined, StoreScanner, UserEntry, Walk, WalkFilter } from '../verify/scanner.js';
import { parseAddress } from './address.js';
import { openConnection } from './connect.js';
import { DEPLOYMENT_KEY, KeySpace, userKeys } from './keys.js';
import { readFactsFrom } from './maintenance-facts.js';
import { QUARANTINE_PATTERN, quarantinePlace } from './maintenance-keys.js';
import { RedisMender } from './maintenance-mend.js';
import { RedisConversationScan, scanPairs } from './maintenance-scan.js';
import { RedisUserScan, readEntries } from './maintenance-users.js';
import { scanKeys, type WalkDeps, walkConversations, walkUsers } from './maintenance-walk.js';
import { factsCommand, memberCommand, memberFrom } from './reads.js';
import { asOptionalText } from './replies.js';

export interface RedisMaintenance {
  readonly scanner: StoreScanner;
  readonly mender: StoreMender;
  close(): Promise<void>;
}

/** @throws StoreUnavailable when there is no answer, or no qim store there: nothing is made */
export async function openRedisMaintenance(url: string, options: { readonly password?: string } = {}): Promise<RedisMaintenance> {
  const connection = await openConnection({
    address: parseAddress(url, options.password),
    name: 'qim-fsck',
    timeoutMs: STORE_COMMAND_TIMEOUT_MS,
  });
  try {
    const partitions = Number(asOptionalText(await connection.call('HGET', DEPLOYMENT_KEY, 'partitions')));
    if (!Number.isInteger(partitions) || partitions < 1) throw noStore();
    const keys = new KeySpace(partitions);
    const scanner = new RedisScanner({ connection, keys, strays: new Map() });
    return { scanner, mender: new RedisMender(connection, keys), close: () => connection.close() };
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

function noStore(): MessageStoreError<'StoreUnavailable'> {
  const text = 'there is no qim store on this Redis';
  return new MessageStoreError('StoreUnavailable', { what: text }, text);
}

export class RedisScanner implements StoreScanner {
  readonly #deps: WalkDeps;

  constructor(deps: WalkDeps) {
    this.#deps = deps;
  }

  conversations(filter: WalkFilter, from?: string): AsyncIterable<Walk<ConversationPlace>> {
    return walkConversations(this.#deps, filter, from);
  }

  users(filter: WalkFilter, from?: string): AsyncIterable<Walk<UserPlace>> {
    return walkUsers(this.#deps, filter, from);
  }

  conversation(place: ConversationPlace): RedisConversationScan {
    return new RedisConversationScan(this.#deps, place);
  }

  user(place: UserPlace): RedisUserScan {
    return new RedisUserScan(this.#deps.connection, place);
  }

  entriesOf({ tenantId, conversationId }: ConversationPlace, userIds: readonly UserId[]): Promise<readonly UserEntry[]> {
    return readEntries(
      this.#deps.connection,
      userIds.map((userId) => [userKeys(tenantId, userId), conversationId]),
    );
  }

  async membership(place: ConversationPlace, userId: UserId): ReturnType<StoreScanner['membership']> {
    const keys = this.#deps.keys.conversation(place.tenantId, place.conversationId);
    const [facts, member] = await this.#deps.connection.pipeline([factsCommand(keys), memberCommand(keys, userId)]);
    return { facts: readFactsFrom(facts), member: memberFrom(member) };
  }

  /** Nothing is held. */
  rest(): Promise<void> {
    return Promise.resolve();
  }

  async *quarantine(filter: WalkFilter): AsyncGenerator<Walk<Quarantined>> {
    for await (const { keys, done } of scanKeys(this.#deps.connection, QUARANTINE_PATTERN)) {
      for (const key of keys) {
        const place = quarantinePlace(key);
        if (place === undefined || (filter.tenantId !== undefined && filter.tenantId !== place.tenantId)) continue;
        if (filter.id !== undefined && filter.id !== place.conversationId) continue;
        for await (const pairs of scanPairs(this.#deps.connection, 'HSCAN', key)) {
          const found = pairs.map(([id, value]) => decodeQuarantined(place, id.toString('latin1'), value));
          yield { found: found.sort((a, b) => (a.id < b.id ? -1 : 1)), done };
        }
      }
    }
  }
}

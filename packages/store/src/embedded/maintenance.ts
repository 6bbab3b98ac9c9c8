/** An embedded store opened for verification and repair, beside the store itself and on the same environment. */
import { EMBEDDED_MAP_BYTES_DEFAULT, RECORD_BUCKET_SIZE, type UserId } from '@qim/proto';
import { parseMember } from '../message/facts.js';
import type { ConversationPlace, UserPlace } from '../verify/finding.js';
import type { StoreMender } from '../verify/mender.js';
import { decodeQuarantined } from '../verify/quarantine.js';
import type { Quarantined, StoreScanner, UserEntry, Walk, WalkFilter } from '../verify/scanner.js';
import type { Environment } from './environment.js';
import { enterFolder } from './folders.js';
import { ConversationKeys, justAfter, UserKeys } from './keys.js';
import { conversationFrom, QUARANTINE_TABLE, restOf, underConversation, wholeTable } from './maintenance-keys.js';
import { EmbeddedMender } from './maintenance-mend.js';
import { EmbeddedConversationScan, readFacts } from './maintenance-scan.js';
import { EmbeddedUserScan, readEntry } from './maintenance-users.js';
import { walkConversations, walkUsers } from './maintenance-walk.js';
import { textFrom } from './values.js';

export interface EmbeddedMaintenance {
  readonly scanner: StoreScanner;
  readonly mender: StoreMender;
  close(): Promise<void>;
}

export interface EmbeddedMaintenanceOptions {
  /** Nobody else in this process reads or writes the folder: mapped memory may be given back now and then. */
  readonly alone: boolean;
}

/** The folder is open as a store already, exclusively where it is to be mended. @throws StoreUnavailable */
export async function openEmbeddedMaintenance(folder: string, { alone }: EmbeddedMaintenanceOptions): Promise<EmbeddedMaintenance> {
  const { environment, leave } = await enterFolder(folder, false, EMBEDDED_MAP_BYTES_DEFAULT);
  return { scanner: new EmbeddedScanner(environment, alone), mender: new EmbeddedMender(environment), close: leave };
}

export class EmbeddedScanner implements StoreScanner {
  readonly #environment: Environment;
  readonly #alone: boolean;

  constructor(environment: Environment, alone: boolean) {
    this.#environment = environment;
    this.#alone = alone;
  }

  async rest(): Promise<void> {
    if (this.#alone) await this.#environment.remap();
  }

  conversations(filter: WalkFilter, from?: string): AsyncIterable<Walk<ConversationPlace>> {
    return walkConversations(this.#environment, filter, from);
  }

  users(filter: WalkFilter, from?: string): AsyncIterable<Walk<UserPlace>> {
    return walkUsers(this.#environment, filter, from);
  }

  conversation(place: ConversationPlace): EmbeddedConversationScan {
    return new EmbeddedConversationScan(this.#environment, place);
  }

  user(place: UserPlace): EmbeddedUserScan {
    return new EmbeddedUserScan(this.#environment, place);
  }

  async entriesOf({ tenantId, conversationId }: ConversationPlace, userIds: readonly UserId[]): Promise<readonly UserEntry[]> {
    return this.#environment.read((snapshot) =>
      userIds.map((userId) => readEntry(snapshot, new UserKeys(tenantId, userId), conversationId)),
    );
  }

  async membership(place: ConversationPlace, userId: UserId): ReturnType<StoreScanner['membership']> {
    const keys = new ConversationKeys(place.tenantId, place.conversationId);
    return this.#environment.read((snapshot) => {
      const value = snapshot.get(keys.member(userId));
      return { facts: readFacts(snapshot, keys), member: value && parseMember(textFrom(value)) };
    });
  }

  async *quarantine(filter: WalkFilter): AsyncGenerator<Walk<Quarantined>> {
    for (let from: Buffer | undefined = wholeTable(QUARANTINE_TABLE).start; from !== undefined; ) {
      const at: Buffer = from;
      const step = this.#environment.read((snapshot) => conversationFrom(snapshot, QUARANTINE_TABLE, at));
      from = step?.next;
      const place = step?.place;
      if (place === undefined || (filter.tenantId !== undefined && filter.tenantId !== place.tenantId)) continue;
      if (filter.id === undefined || filter.id === place.conversationId) yield* this.#asideIn(place);
    }
  }

  *#asideIn(place: ConversationPlace): Generator<Walk<Quarantined>> {
    const range = underConversation(QUARANTINE_TABLE, place);
    for (let from: Buffer | undefined = range.start; from !== undefined; ) {
      const at: Buffer = from;
      const entries = this.#environment.read((snapshot) => snapshot.entries({ start: at, end: range.end }, RECORD_BUCKET_SIZE));
      yield { found: entries.map(({ key, value }) => decodeQuarantined(place, restOf(key, range).toString('latin1'), value)), done: 0 };
      const last = entries[entries.length - 1];
      from = entries.length < RECORD_BUCKET_SIZE || last === undefined ? undefined : justAfter(last.key);
    }
  }
}

/** What an export reads of an embedded store. The folder is held: no server writes to it meanwhile. */
import {
  BLOCKED_USERS_MAX,
  DEDUP_WEEK_MS,
  EMBEDDED_MAP_BYTES_DEFAULT,
  FSCK_PAGE_KEYS,
  isQimError,
  parseTenantId,
  SUSPENDED_DEVICES_MAX,
} from '@qim/proto';
import { ArchiveError } from '../archive/errors.js';
import type { OtherLine, UserPart } from '../archive/line.js';
import type { ArchiveSource } from '../archive/source.js';
import type { UserPlace } from '../verify/finding.js';
import type { Environment, Snapshot } from './environment.js';
import { enterFolder } from './folders.js';
import { checkFormat } from './format.js';
import {
  conversationIdFrom,
  everythingUnder,
  justAfter,
  leaseCounter,
  NUMBER_BYTES,
  outboxCounter,
  Table,
  UserKeys,
  userIdFrom,
} from './keys.js';
import { EmbeddedScanner } from './maintenance.js';
import { wholeTable } from './maintenance-keys.js';
import { decodeOutboxValue } from './outbox-value.js';
import { counterFrom, textFrom } from './values.js';

/** @throws StoreUnavailable when a server has the folder, or it holds no store of this format */
export async function openEmbeddedArchiveSource(folder: string): Promise<ArchiveSource> {
  const { environment, leave } = await enterFolder(folder, true, EMBEDDED_MAP_BYTES_DEFAULT);
  try {
    const partitions = await checkFormat(environment);
    return new EmbeddedArchiveSource(environment, partitions, leave);
  } catch (error) {
    await leave();
    throw error;
  }
}

class EmbeddedArchiveSource implements ArchiveSource {
  readonly scanner: EmbeddedScanner;
  readonly close: () => Promise<void>;
  readonly #environment: Environment;
  readonly #partitions: readonly number[];

  constructor(environment: Environment, partitionCount: number, leave: () => Promise<void>) {
    this.#environment = environment;
    this.#partitions = Array.from({ length: partitionCount }, (_, i) => i);
    this.scanner = new EmbeddedScanner(environment, true);
    this.close = leave;
  }

  /** Every change to a conversation has an entry of the outbox, and every server takes a lease. */
  async pulse(): Promise<string> {
    return this.#environment.read((snapshot) =>
      this.#partitions
        .flatMap((partition) => [outboxCounter(partition), leaseCounter(partition)])
        .map((key) => counterFrom(snapshot.get(key)))
        .join(' '),
    );
  }

  async ofUser(place: UserPlace): Promise<readonly UserPart[]> {
    const keys = new UserKeys(place.tenantId, place.userId);
    return this.#environment.read((snapshot) => {
      const profile = snapshot.get(keys.profile);
      return [
        ...(profile === undefined ? [] : [{ kind: 'profile', text: textFrom(profile) } as const]),
        ...namesUnder(snapshot, keys.blockPrefix, BLOCKED_USERS_MAX).map((name): UserPart => {
          const userId = userIdFrom(name);
          if (userId === undefined) throw cannot('a name that is blocked');
          return { kind: 'blocked', userId };
        }),
        ...namesUnder(snapshot, keys.suspendedPrefix, SUSPENDED_DEVICES_MAX + 1).map(
          (name): UserPart => ({ kind: 'suspended', device: decodeURIComponent(name.toString('latin1')) }),
        ),
      ];
    });
  }

  async *others(): AsyncGenerator<readonly OtherLine[]> {
    for (const [table, parse] of [
      [Table.Tombstone, leftLine],
      [Table.GroupRequest, groupRequestLine],
    ] as const) {
      for (const page of this.#pages(table)) yield page.map(parse);
    }
    const counted = new Map<string, number>();
    for (const page of this.#pages(Table.Report)) yield page.map((entry) => reportLine(entry, counted));
    let newestMs = 0;
    for (const page of this.#pages(Table.Hook)) {
      yield page.flatMap(({ value }): OtherLine[] => {
        const decoded = decodeOutboxValue(value);
        if (decoded === undefined) return [];
        const { kind: of, atMs, ...entry } = decoded;
        newestMs = Math.max(newestMs, atMs);
        return [{ kind: 'untold', ...entry, of, committedAtMs: newestMs }];
      });
    }
    for (const page of this.#pages(Table.Outbox)) yield page.flatMap((entry) => undeliveredLine(entry));
  }

  *#pages(table: string): Generator<readonly Entry[]> {
    const { start, end } = wholeTable(table);
    for (let from: Buffer | undefined = start; from !== undefined; ) {
      const at: Buffer = from;
      const page: readonly Entry[] = this.#environment.read((snapshot) => snapshot.entries({ start: at, end }, FSCK_PAGE_KEYS));
      yield page;
      const last = page[page.length - 1];
      from = last === undefined || page.length < FSCK_PAGE_KEYS ? undefined : justAfter(last.key);
    }
  }
}

interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

function namesUnder(snapshot: Snapshot, prefix: Buffer, limit: number): Buffer[] {
  return snapshot.keys(everythingUnder(prefix), limit).map((key) => key.subarray(prefix.length));
}

/** After the letter, a colon and the week: `tenant:user:rest`. */
function weeklyKey({ key }: Entry) {
  const [tenant, user, rest = ''] = key
    .subarray(2 + NUMBER_BYTES)
    .toString('latin1')
    .split(':');
  const userId = user === undefined ? undefined : userIdFrom(Buffer.from(user, 'latin1'));
  if (userId === undefined) throw cannot('what is kept of a user by week');
  return { week: counterFrom(key.subarray(2, 2 + NUMBER_BYTES)), tenantId: tenantFrom(tenant), userId, rest };
}

function leftLine(entry: Entry): OtherLine {
  const { week, tenantId, userId, rest } = weeklyKey(entry);
  return { kind: 'left', tenantId, userId, conversationId: conversationFrom(rest), atMs: (week + 1) * DEDUP_WEEK_MS - 1 };
}

function groupRequestLine(entry: Entry): OtherLine {
  const { week, tenantId, userId, rest } = weeklyKey(entry);
  const conversationId = conversationFrom(textFrom(entry.value));
  return { kind: 'groupRequest', tenantId, userId, clientRequestId: decodeURIComponent(rest), week, conversationId };
}

/** `counted`: how many of each tenant came before. */
function reportLine({ key, value }: Entry, counted: Map<string, number>): OtherLine {
  const tenant = key.subarray(2, key.length - NUMBER_BYTES - 1).toString('latin1');
  const number = counted.get(tenant) ?? 0;
  counted.set(tenant, number + 1);
  return { kind: 'report', tenantId: tenantFrom(tenant), number, text: textFrom(value) };
}

/** One that cannot be understood would be set aside by whoever follows the outbox. */
function undeliveredLine({ value }: Entry): OtherLine[] {
  const decoded = decodeOutboxValue(value);
  if (decoded === undefined) return [];
  const { kind: of, tenantId, conversationId, conversationSeq } = decoded;
  return [{ kind: 'undelivered', tenantId, conversationId, of, conversationSeq }];
}

function tenantFrom(text: string | undefined) {
  try {
    return parseTenantId(Number(text));
  } catch (error) {
    if (isQimError(error)) throw cannot('the tenant of a key');
    throw error;
  }
}

function conversationFrom(text: string) {
  const conversationId = conversationIdFrom(Buffer.from(text, 'latin1'));
  if (conversationId === undefined) throw cannot('a conversation that a user left, or made');
  return conversationId;
}

function cannot(what: string): ArchiveError {
  return new ArchiveError('NotArchivable', `${what} cannot be read`);
}

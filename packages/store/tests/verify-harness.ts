/** Runs the verifier on a store of a test, with what it tells kept; and writes into a store as a fault would. */
import type { ConversationId, UserId } from '@qim/proto';
import { expect } from 'vitest';
import type { StoredFacts } from '../src/message/facts.js';
import type { OutboxLease } from '../src/outbox/outbox.js';
import { type Chat, Fixture, TENANT } from '../src/testing/conformance/fixture.js';
import type { Finding } from '../src/verify/finding.js';
import type { ConversationChange, UserChange } from '../src/verify/mender.js';
import type { VerifyCounts, VerifyOptions } from '../src/verify/options.js';
import type { Quarantined } from '../src/verify/scanner.js';
import { type Maintenance, verifyStore } from '../src/verify/verify.js';
import type { Opened, VerifiedBackend, VerifiedStore } from './verify-backends.js';

export interface Verified {
  readonly finished: boolean;
  readonly counts: VerifyCounts;
  readonly found: readonly Finding[];
  /** `code`, `code@sequence`, `code/user`: a user by the first word of the id. */
  readonly places: readonly string[];
  /** The same places, and what was done. */
  readonly mended: readonly (readonly [place: string, did: string])[];
  readonly left: readonly (readonly [place: string, why: string])[];
}

export const DEFAULTS: VerifyOptions = {
  tenantId: undefined,
  conversationId: undefined,
  userId: undefined,
  repair: 'no',
  newerIsDamage: false,
  rate: undefined,
  signal: new AbortController().signal,
  clock: { now: Date.now, monotonicNow: () => performance.now(), sleep: () => Promise.resolve() },
  report: { found: () => {}, mended: () => {}, left: () => {}, skipped: () => {}, progress: () => {} },
};

function placeOf({ code, conversationSeq, userId }: Finding): string {
  const at = conversationSeq === undefined ? '' : `@${conversationSeq}`;
  return `${code}${at}${userId === undefined ? '' : `/${userId.split(' ')[0]}`}`;
}

export async function verifyOn(maintenance: Maintenance, options: Partial<VerifyOptions> = {}): Promise<Verified> {
  const found: Finding[] = [];
  const mended: [string, string][] = [];
  const left: [string, string][] = [];
  const report = {
    found: (finding: Finding) => found.push(finding),
    mended: (finding: Finding, did: string) => mended.push([placeOf(finding), did]),
    left: (finding: Finding, why: string) => left.push([placeOf(finding), why]),
    skipped: () => {},
    progress: () => {},
  };
  const { counts, finished } = await verifyStore(maintenance, { ...DEFAULTS, report, ...options });
  return { finished, counts, found, places: found.map(placeOf), mended, left };
}

/** One store for all cases of a file; each has conversations and people of its own. */
export class Subject {
  readonly backend: VerifiedBackend;
  readonly fixture: Fixture;
  readonly alice: UserId;
  readonly bob: UserId;

  constructor(backend: VerifiedBackend, fixture = new Fixture(backend)) {
    this.backend = backend;
    this.fixture = fixture;
    this.alice = this.fixture.user('alice');
    this.bob = this.fixture.user('bob');
  }

  static async open(store: VerifiedStore): Promise<Subject> {
    return new Subject(await store.open());
  }

  async verify(options: Partial<VerifyOptions> = {}): Promise<Verified> {
    return this.with((maintenance) => verifyOn(maintenance, options));
  }

  /** Found, mended, gone; what was found. */
  async mends(scope: Partial<VerifyOptions>, found: readonly string[]): Promise<Verified> {
    expect((await this.verify(scope)).places).toEqual(found);
    const repaired = await this.verify({ ...scope, repair: 'yes' });
    expect(repaired.left).toEqual([]);
    expect((await this.verify(scope)).places).toEqual([]);
    return repaired;
  }

  async with<T>(use: (maintenance: Opened) => Promise<T>): Promise<T> {
    const maintenance = await this.backend.maintenance();
    try {
      return await use(maintenance);
    } finally {
      await maintenance.close();
    }
  }

  /** Everything that waited is delivered: from now on a list that lacks something is wrong. */
  async deliverAll(): Promise<void> {
    const { outbox } = this.backend.store;
    for (let partition = 0; partition < outbox.partitionCount; partition += 1) {
      const lease = await outbox.acquire(partition, 'test', 60_000);
      if (lease === undefined) throw new Error('nobody else delivers');
      await drain(outbox, lease);
      await outbox.release(lease);
    }
  }

  /** Puts a conversation into the lists of its members, as delivery does. */
  async list(chat: Chat, ...userIds: readonly UserId[]): Promise<void> {
    const { directory, messages } = this.backend.store;
    const members = await messages.readMembers(TENANT, chat.conversationId);
    const users = [...members].flatMap(([userId, { joinedSeq, visibleFrom }]) =>
      userIds.length === 0 || userIds.includes(userId) ? [{ userId, joinedSeq, visibleFrom }] : [],
    );
    const { conversationSeq, activityAtMs } = await this.activity(chat);
    await directory.join(TENANT, chat.conversationId, users, { conversationSeq, activityAtMs });
  }

  async activity(chat: Chat) {
    const { lastSequence, lastCommittedAtMs } = await this.facts(chat);
    return { conversationSeq: lastSequence, activityAtMs: lastCommittedAtMs };
  }

  async facts(chat: Chat): Promise<StoredFacts> {
    return this.with(async ({ scanner }) => {
      const { facts } = await scanner.conversation(chat).facts();
      if (typeof facts !== 'object') throw new Error(`no facts: ${facts}`);
      return facts;
    });
  }

  /** Writes into a conversation, whatever that makes of it. */
  async plant(chat: Chat, ...changes: readonly ConversationChange[]): Promise<void> {
    await this.with(async ({ scanner, mender }) => {
      const { facts, guard } = await scanner.conversation(chat).facts();
      const seen = { facts: typeof facts === 'object' ? facts : undefined, guard, values: [] };
      if (!(await mender.mendConversation(chat, seen, changes))) throw new Error('nobody else writes');
    });
  }

  async plantFacts(chat: Chat, change: Partial<StoredFacts>): Promise<void> {
    await this.plant(chat, { kind: 'facts', facts: { ...(await this.facts(chat)), ...change } });
  }

  async plantUser(userId: UserId, conversationId: ConversationId, ...changes: readonly UserChange[]): Promise<void> {
    const user = { tenantId: TENANT, userId };
    if (!(await this.with(({ mender }) => mender.mendUser(user, conversationId, undefined, changes)))) throw new Error('it was written');
  }

  async quarantine(chat: Chat): Promise<readonly Quarantined[]> {
    return this.with(async ({ scanner }) => {
      const all: Quarantined[] = [];
      for await (const { found } of scanner.quarantine({ tenantId: chat.tenantId, id: chat.conversationId })) all.push(...found);
      return all;
    });
  }
}

async function drain(outbox: VerifiedBackend['store']['outbox'], lease: OutboxLease): Promise<void> {
  for (;;) {
    const { entries } = await outbox.read([lease], 0, new AbortController().signal);
    if (entries.length === 0) return;
    await outbox.acknowledge(
      lease,
      entries.map(({ entryId }) => entryId),
    );
  }
}

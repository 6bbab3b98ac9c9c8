/**
 * Verification of a store, and its repair: conversation by conversation, then user by user, so that a user's entries are
 * held against conversations that were mended.
 *
 * Beside a running server a finding is told only when it is met again and again; with the store for itself, once is
 * enough.
 */
import { FSCK_COMPARED_AT_ONCE, FSCK_FINDINGS_KEPT_MAX, FSCK_LOOKS, FSCK_REPAIR_ROUNDS_MAX } from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import type { MessageStore } from '../message/message-store.js';
import { Collection, confirmed, type Findings, type Found } from './collect.js';
import type { VerifyContext } from './context.js';
import { ConversationPass } from './conversation.js';
import { type ConversationPlace, type Finding, findingKey, type UserPlace } from './finding.js';
import type { Mend, Problem, StoreMender } from './mender.js';
import type { VerifyCounts, VerifyOptions } from './options.js';
import { applyToUser, ChangedMeanwhile, ConversationRepair } from './repair.js';
import { Interrupted, Run } from './run.js';
import type { StoreScanner, UserEntry, WalkFilter } from './scanner.js';
import { checkEntry, compareEntries, oddEntry } from './user.js';

export interface Maintenance {
  readonly messages: Pick<MessageStore, 'readConversations' | 'readHistory'>;
  readonly scanner: StoreScanner;
  readonly mender: StoreMender;
  /** Nobody else writes while it is open. */
  readonly exclusive: boolean;
}

/** `finished` false: the signal ended it. @throws StoreUnavailable */
export async function verifyStore(
  maintenance: Maintenance,
  options: VerifyOptions,
): Promise<{ readonly counts: VerifyCounts; readonly finished: boolean }> {
  const verification = new Verification(maintenance, options);
  try {
    await verification.run();
    return { counts: verification.counts, finished: true };
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    return { counts: verification.counts, finished: false };
  }
}

class Verification {
  readonly #maintenance: Maintenance;
  readonly #run: Run;
  readonly #context: VerifyContext;
  /** Conversations whose findings stand, the first FSCK_FINDINGS_KEPT_MAX: what the service answers of them is known. */
  readonly #damaged = new Set<string>();

  constructor(maintenance: Maintenance, options: VerifyOptions) {
    this.#maintenance = maintenance;
    this.#run = new Run(options, () => maintenance.scanner.rest());
    this.#context = {
      scanner: maintenance.scanner,
      messages: maintenance.messages,
      now: options.clock.now,
      newId: uuidv7,
      newerIsDamage: options.newerIsDamage,
      took: (records) => this.#run.took(records),
    };
  }

  get counts(): VerifyCounts {
    return this.#run.counts;
  }

  get #looks(): number {
    return this.#maintenance.exclusive ? 1 : FSCK_LOOKS;
  }

  async run(): Promise<void> {
    const { tenantId, conversationId, userId } = this.#run.options;
    this.#run.passes('conversations');
    await this.#walkConversations({ tenantId, id: conversationId });
    this.#run.passes('users');
    if (conversationId === undefined) await this.#walkUsers({ tenantId, id: userId });
  }

  async #walkConversations(filter: WalkFilter): Promise<void> {
    for await (const { found, done } of this.#context.scanner.conversations(filter)) {
      for (const place of found) await this.#conversation(place);
      await this.#run.walked(done);
    }
  }

  async #conversation(place: ConversationPlace): Promise<void> {
    const { userId, conversationId } = this.#run.options;
    if (userId !== undefined && (await this.#context.scanner.membership(place, userId)).member === undefined) return;
    this.#run.conversation();
    for (const range of await this.#context.scanner.conversation(place).skipped()) this.#run.options.report.skipped(place, range);
    const found = await this.#look(place);
    for (const { finding } of found.values()) this.#run.found(finding);
    const left = found.size > 0 && this.#run.options.repair !== 'no' ? await this.#repair(place, found) : found;
    if (left.size > 0 && this.#damaged.size < FSCK_FINDINGS_KEPT_MAX) this.#damaged.add(keyOf(place));
    if (conversationId !== undefined) await this.#entriesOf(place);
  }

  #look(place: ConversationPlace): Promise<Findings> {
    return confirmed(this.#looks, async () => {
      const collection = new Collection();
      await new ConversationPass(this.#context, place, async (problems) => collection.add(problems)).run();
      return collection.found;
    });
  }

  /** What is left. One mend may uncover another fault, so it looks again until nothing more is mended. */
  async #repair(place: ConversationPlace, found: Findings): Promise<Findings> {
    const told = new Set(found.keys());
    for (let round = 0; round < FSCK_REPAIR_ROUNDS_MAX; round += 1) {
      const mended = await this.#mendOnce(place, told);
      if (this.#run.options.repair === 'dry') return found;
      if (mended === 0) break;
    }
    const left = await this.#look(place);
    for (const { finding, unmended } of left.values()) this.#leave(finding, unmended ?? 'it is found again after the repair', told);
    return left;
  }

  /** How many findings it has mended, or tried to. */
  async #mendOnce(place: ConversationPlace, told: Set<string>): Promise<number> {
    const dry = this.#run.options.repair === 'dry';
    const repair = new ConversationRepair(this.#maintenance.mender, place);
    const mendedKeys = new Set<string>();
    try {
      await new ConversationPass(this.#context, place, async (problems, facts) => {
        const mended = dry ? problems.filter(({ mend }) => mend !== undefined) : await repair.apply(problems, facts);
        for (const problem of mended) this.#tellMended(problem, mendedKeys, told);
      }).run();
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
      return Math.max(1, mendedKeys.size);
    }
    return mendedKeys.size;
  }

  #tellMended({ finding, mend }: Problem, mendedKeys: Set<string>, told: Set<string>): void {
    const key = findingKey(finding);
    if (mend === undefined || mendedKeys.has(key)) return;
    if (mendedKeys.size < FSCK_FINDINGS_KEPT_MAX) mendedKeys.add(key);
    if (!told.has(key)) {
      told.add(key);
      this.#run.found(finding);
    }
    this.#run.mended(finding, mend.did);
  }

  #leave(finding: Finding, why: string, told: Set<string>): void {
    if (!told.has(findingKey(finding))) this.#run.found(finding);
    this.#run.left(finding, why);
  }

  /** The members' own entries of one conversation. */
  async #entriesOf(place: ConversationPlace): Promise<void> {
    for await (const page of this.#context.scanner.conversation(place).members()) {
      for (const { userId } of page) {
        if (userId === undefined) continue;
        const user = { tenantId: place.tenantId, userId };
        const entry = await this.#context.scanner.user(user).entry(place.conversationId);
        await this.#entries(user, [entry], []);
      }
    }
  }

  async #walkUsers(filter: WalkFilter): Promise<void> {
    for await (const { found, done } of this.#context.scanner.users(filter)) {
      for (const user of found) await this.#user(user);
      await this.#run.walked(done);
    }
  }

  async #user(user: UserPlace): Promise<void> {
    this.#run.user();
    for await (const { entries, odd } of this.#context.scanner.user(user).pages()) {
      await this.#entries(
        user,
        entries,
        odd.map((item) => oddEntry(user, item)),
      );
    }
  }

  async #entries(user: UserPlace, entries: readonly UserEntry[], odd: readonly Problem[]): Promise<void> {
    for (const problem of odd) await this.#settle(problem, async () => [problem]);
    const sound: UserEntry[] = [];
    for (const entry of entries) {
      await this.#run.took(1, 1);
      if ((await checkEntry(this.#context, user, entry)).length === 0) sound.push(entry);
      else await this.#settleAll(async () => checkEntry(this.#context, user, await this.#again(user, entry)));
    }
    for (let from = 0; from < sound.length; from += FSCK_COMPARED_AT_ONCE) {
      const some = sound.slice(from, from + FSCK_COMPARED_AT_ONCE);
      await this.#compare(user, some);
      await this.#run.took(0, some.length);
    }
  }

  #again(user: UserPlace, entry: UserEntry): Promise<UserEntry> {
    return this.#context.scanner.user(user).entry(entry.conversationId);
  }

  async #compare(user: UserPlace, entries: readonly UserEntry[]): Promise<void> {
    const asked = entries.filter(({ conversationId }) => !this.#damaged.has(keyOf({ ...user, conversationId })));
    const found = await confirmed(this.#looks, async () => {
      const collection = new Collection();
      collection.add(await compareEntries(this.#context, user, asked));
      return collection.found;
    });
    for (const { finding, unmended } of found.values()) {
      this.#run.found(finding);
      if (this.#run.options.repair === 'yes') this.#run.left(finding, unmended ?? '');
    }
  }

  async #settleAll(look: () => Promise<Problem[]>): Promise<void> {
    const found = await confirmed(this.#looks, async () => {
      const collection = new Collection();
      collection.add(await look());
      return collection.found;
    });
    for (const { finding } of found.values()) this.#run.found(finding);
    if (found.size === 0 || this.#run.options.repair === 'no') return;
    await this.#mendEntry(found, look);
  }

  /** All that is wrong with one entry is mended in one step. */
  async #mendEntry(found: Findings, look: () => Promise<Problem[]>): Promise<void> {
    for (let round = 0; round < FSCK_REPAIR_ROUNDS_MAX; round += 1) {
      const problems = (await look()).filter(({ finding }) => found.has(findingKey(finding)));
      const mends = problems.flatMap(({ mend }) => (mend?.on === 'user' ? [mend] : []));
      const [first] = mends;
      if (first === undefined) {
        for (const { finding, unmended } of problems) this.#run.left(finding, unmended ?? 'it is not known how');
        return;
      }
      if (this.#run.options.repair === 'yes' && !(await this.#applied({ ...first, changes: mends.flatMap(({ changes }) => changes) })))
        continue;
      for (const { finding, mend } of problems) if (mend !== undefined) this.#run.mended(finding, mend.did);
      return;
    }
    for (const { finding } of found.values()) this.#run.left(finding, 'it changes all the time');
  }

  async #settle(problem: Problem, look: () => Promise<Problem[]>): Promise<void> {
    this.#run.found(problem.finding);
    if (this.#run.options.repair !== 'no') await this.#mendEntry(new Map([[findingKey(problem.finding), foundOf(problem)]]), look);
  }

  async #applied(mend: Extract<Mend, { on: 'user' }>): Promise<boolean> {
    try {
      await applyToUser(this.#maintenance.mender, mend);
      return true;
    } catch (error) {
      if (error instanceof ChangedMeanwhile) return false;
      throw error;
    }
  }
}

function foundOf({ finding, unmended }: Problem): Found {
  return { finding, unmended };
}

function keyOf({ tenantId, conversationId }: ConversationPlace): string {
  return `${tenantId}:${conversationId}`;
}

/** A store and the reference model, told the same and asked the same. The first answer that differs ends the run. */
import {
  COMMIT_BATCH_MAX,
  type ConversationId,
  DEDUP_WEEK_MS,
  type MessageRecord,
  MessageType,
  parseConversationId,
  parseConversationSeq,
  parseTenantId,
  parseUserId,
  type TenantId,
  type UserId,
} from '@qim/proto';
import type { Directory } from '../../directory/directory.js';
import { type MemoryStore, openMemoryStore } from '../../memory/open.js';
import type { AmendOutcome, AmendRequest, CommitOutcome, CommitRequest } from '../../message/message-store.js';
import type { Store } from '../../store.js';
import { CHATS, MEMBERS, USERS } from './command.js';
import { firstDifference, outcomeOf, plain } from './difference.js';
import type { Subject } from './subject.js';

/** The store and the model disagree. The message says about what. */
export class Divergence extends Error {
  override readonly name = 'Divergence';
}

/** A server's clock is read a little later by us than by it. */
const CLOCK_TOLERANCE_MS = 60_000;

export class World {
  readonly subject: Subject;
  readonly model: MemoryStore;
  /** One of its own for each run, so that runs share a store. */
  readonly tenantId: TenantId;
  readonly users: readonly UserId[] = USERS.map((name) => parseUserId(name));
  readonly chats: readonly ConversationId[] = Array.from({ length: CHATS }, (_, n) => parseConversationId(`g_${n}`));
  readonly sent: { readonly request: CommitRequest; readonly atMs: number }[] = [];
  /** List changes that were put off. */
  readonly waiting: ((directory: Directory) => Promise<unknown>)[] = [];
  /** By chat and sequence: the record before its last amendment. */
  readonly formerly = new Map<string, MessageRecord>();
  #modelNowMs = 0;
  #comparisons = 0;
  #latestMs = 0;

  constructor(subject: Subject, tenant: number) {
    this.subject = subject;
    this.tenantId = parseTenantId(tenant);
    this.model = openMemoryStore({ now: () => this.#modelNowMs });
  }

  get comparisons(): number {
    return this.#comparisons;
  }

  /** Moves the clock, but never so far back that more than the end of one week is crossed. */
  moveClock(ms: number): void {
    const { subject } = this;
    this.#latestMs = Math.max(this.#latestMs, subject.now());
    subject.advance(Math.max(ms, this.#latestMs - DEDUP_WEEK_MS - subject.now()));
    this.#latestMs = Math.max(this.#latestMs, subject.now());
  }

  /** By the latest time that the store was told it was old enough to be forgotten, by the present one it is not: both may be. */
  mayBeForgotten(atMs: number): boolean {
    const weeksBefore = (laterMs: number) => Math.floor(laterMs / DEDUP_WEEK_MS) - Math.floor(atMs / DEDUP_WEEK_MS);
    return weeksBefore(this.#latestMs) > 1 && weeksBefore(this.subject.now()) <= 1;
  }

  chat(number: number): ConversationId {
    return at(this.chats, number);
  }

  user(number: number): UserId {
    return at(this.users, number);
  }

  async ask(what: string, call: (store: Store) => Promise<unknown>): Promise<void> {
    const actual = await outcomeOf(call(this.subject.store));
    this.#modelNowMs = this.subject.now();
    this.compare(what, await outcomeOf(call(this.model)), actual);
  }

  compare(what: string, expected: unknown, actual: unknown): void {
    this.#comparisons += 1;
    const difference = firstDifference(expected, actual);
    if (difference !== undefined) throw new Divergence(`${what}: ${difference}`);
  }

  /** Several at once, as callers do it; the model takes them in the order of the calls. What each answered. */
  async commit(requests: readonly CommitRequest[]): Promise<readonly (CommitOutcome | undefined)[]> {
    this.sent.push(...requests.map((request) => ({ request, atMs: this.subject.now() })));
    const { messages } = this.subject.store;
    const answers = await Promise.all(requests.map((request) => outcomeWithValue(messages.commit(request))));
    const made: (CommitOutcome | undefined)[] = [];
    for (const [i, { value, outcome }] of answers.entries()) {
      made.push(await this.#commitToModel(at(requests, i), value, outcome, 'the commit'));
    }
    return made;
  }

  /** The store is restarted while it commits; then the client, which knows nothing, tries again. */
  async commitAcrossRestart(request: CommitRequest): Promise<CommitOutcome | undefined> {
    this.sent.push({ request, atMs: this.subject.now() });
    await this.subject.restart?.(() => this.subject.store.messages.commit(request));
    const { value, outcome } = await outcomeWithValue(this.subject.store.messages.commit(request));
    // Whether the first try had its effect is not known to the caller, and makes no other difference.
    const settled = value && { ...value, duplicate: false };
    return this.#commitToModel(request, settled, settled === undefined ? outcome : plain(settled), 'the commit across a restart');
  }

  /** The model's clock is set to what the store has stamped, so that all times can be compared. */
  async #commitToModel(request: CommitRequest, value: CommitOutcome | undefined, outcome: unknown, what: string) {
    const { facts } = await this.model.messages.readConversation(this.tenantId, request.conversationId, request.sender.userId);
    const lastMs = facts?.lastCommittedAtMs ?? 0;
    const now = this.subject.now();
    this.#modelNowMs = now;
    if (value?.duplicate === false) {
      this.#modelNowMs = value.committedAtMs > lastMs ? value.committedAtMs : Math.min(now, lastMs);
      if (value.committedAtMs > Math.max(lastMs, now + CLOCK_TOLERANCE_MS) || value.committedAtMs < now - CLOCK_TOLERANCE_MS) {
        throw new Divergence(`${what}: stamped ${value.committedAtMs} at ${now}, after ${lastMs}`);
      }
    }
    this.compare(what, await outcomeOf(this.model.messages.commit(request)), outcome);
    return value?.duplicate === false ? value : undefined;
  }

  async amend(request: Omit<AmendRequest, 'target'>, conversation: ConversationId, target: MessageRecord): Promise<void> {
    const { value, outcome } = await outcomeWithValue<AmendOutcome>(this.subject.store.messages.amend({ ...request, target }));
    this.#modelNowMs = value?.kind === 'amended' ? value.message.record.amendedAtMs : this.subject.now();
    if (value?.kind === 'amended') this.formerly.set(`${conversation} ${target.conversationSeq}`, target);
    this.compare('the amendment', await outcomeOf(this.model.messages.amend({ ...request, target })), outcome);
  }

  /** True: once more. */
  async retain(conversationId: ConversationId, policy: Parameters<Store['messages']['retain']>[2]): Promise<boolean> {
    const { value, outcome } = await outcomeWithValue(this.subject.store.messages.retain(this.tenantId, conversationId, policy));
    const newest = await this.newest(this.subject.store, conversationId);
    this.#modelNowMs = newest?.amendedAtMs || this.subject.now();
    this.compare('the retention', await outcomeOf(this.model.messages.retain(this.tenantId, conversationId, policy)), outcome);
    return value?.more ?? false;
  }

  /** `by` as in Command. */
  async actor(chat: number, by: number): Promise<UserId> {
    if (by >= MEMBERS) return this.user(by - MEMBERS);
    const members = [...(await this.model.messages.readMembers(this.tenantId, this.chat(chat)))];
    const byRole = members.sort(([, a], [, b]) => b.role - a.role).map(([userId]) => userId);
    return byRole[by % byRole.length] ?? this.user(by % USERS.length);
  }

  /** The record so many before the newest, or past it when that is negative; 0: there is none. */
  sequenceBack(chat: number, back: number): number {
    const sequences = this.model.testing.sequences(this.tenantId, this.chat(chat));
    return back < 0 ? (sequences.at(-1) ?? 0) - back : (sequences.at(-1 - back) ?? 0);
  }

  /** The same of what people said: Control left out, and from the newest again when there are fewer. */
  async messageBack(chat: number, back: number): Promise<number> {
    const sequences = this.model.testing.sequences(this.tenantId, this.chat(chat)).slice(-COMMIT_BATCH_MAX);
    if (sequences.length === 0) return 0;
    const messages = await this.model.messages.readMessages(this.tenantId, this.chat(chat), sequences);
    const said = messages.flatMap((message) =>
      message === undefined || message.record.type === MessageType.Control ? [] : [message.record],
    );
    return said[said.length - 1 - (back % Math.max(1, said.length))]?.conversationSeq ?? 0;
  }

  /** 0: there is no such conversation. */
  async head(conversationId: ConversationId): Promise<number> {
    const { facts } = await this.model.messages.readConversation(this.tenantId, conversationId, this.user(0));
    return facts?.lastSequence ?? 0;
  }

  async record(store: Store, conversationId: ConversationId, sequence: number): Promise<MessageRecord | undefined> {
    if (sequence < 1) return undefined;
    const [message] = await store.messages.readMessages(this.tenantId, conversationId, [parseConversationSeq(sequence)]);
    return message?.record;
  }

  async newest(store: Store, conversationId: ConversationId): Promise<MessageRecord | undefined> {
    return this.record(store, conversationId, await this.head(conversationId));
  }
}

async function outcomeWithValue<T>(call: Promise<T>): Promise<{ readonly value: T | undefined; readonly outcome: unknown }> {
  let value: T | undefined;
  const kept = call.then((answer) => {
    value = answer;
    return answer;
  });
  const outcome = await outcomeOf(kept);
  return { value, outcome };
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new Error(`there is no number ${index}`);
  return item;
}

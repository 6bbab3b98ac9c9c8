/**
 * Cases: the backend and the reference model are told the same, at random, and answer the same.
 *
 * Only what the two cannot share is left out: clocks. A seed that fails is in the name of the case; the same seed makes
 * the same run.
 */
import { ControlKind, HistoryVisibility, MessageStatus, MessageType, parseActivityId, type UserId } from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import { expect } from 'vitest';
import { openMemoryStore } from '../../memory/open.js';
import type { CommitRequest } from '../../message/message-store.js';
import type { Store } from '../../store.js';
import { type Chat, control, type Fixture, NO_MENTIONS, seq, text } from './fixture.js';
import type { Cases } from './suite.js';

const SEEDS = 6;
const STEPS = 60;

/** Numbers 0..n-1 by a 32-bit xorshift. */
function dice(seed: number): (n: number) => number {
  let state = (seed * 0x9e3779b1) | 1;
  return (n) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
}

/** What both answered, or the code with which both refused. */
type Answer = { readonly value: unknown } | { readonly code: string };

async function answerOf(call: Promise<unknown>): Promise<Answer> {
  try {
    return { value: await call };
  } catch (error) {
    return { code: (error as { code?: string }).code ?? String(error) };
  }
}

/** Without what a clock has put in. */
function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (value instanceof Uint8Array || value instanceof Error || typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !key.endsWith('AtMs'));
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutTimes(item)]));
}

/** One conversation on both stores, and what is done to it. */
class Run {
  readonly #fixture: Fixture;
  readonly #model = openMemoryStore();
  readonly #roll: (n: number) => number;
  readonly #owner: UserId;
  readonly #users: readonly UserId[];
  readonly #sent: CommitRequest[] = [];
  readonly #chat: Chat;

  private constructor(fixture: Fixture, chat: Chat, users: readonly [UserId, ...UserId[]], roll: (n: number) => number) {
    this.#fixture = fixture;
    this.#chat = chat;
    this.#roll = roll;
    this.#users = users;
    [this.#owner] = users;
  }

  static async start(fixture: Fixture, seed: number): Promise<Run> {
    const roll = dice(seed);
    const [owner, bob, carol, dave] = [fixture.user('alice'), fixture.user('bob'), fixture.user('carol'), fixture.user('dave')];
    const historyVisibility = roll(2) === 0 ? HistoryVisibility.FromJoining : HistoryVisibility.All;
    const chat = await fixture.group(owner, [bob, carol], { historyVisibility });
    const run = new Run(fixture, chat, [owner, bob, carol, dave], roll);
    // The model gets the very record that made the group.
    const { messageId, activityId, clientMessageId, content } = await chat.record(1);
    const first = chat.request(owner, { type: MessageType.Control, content });
    await run.#model.messages.commit({ ...first, messageId, activityId, clientMessageId });
    return run;
  }

  #one<T>(items: readonly T[]): T {
    return items[this.#roll(items.length)] as T;
  }

  /** Asks both; they must agree. */
  async #ask(what: (store: Store) => Promise<unknown>, note: string): Promise<void> {
    const expected = await answerOf(what(this.#model));
    const actual = await answerOf(what(this.#fixture.store));
    expect(withoutTimes(actual), note).toEqual(withoutTimes(expected));
  }

  async step(note: string): Promise<void> {
    const what = this.#roll(11);
    if (what < 6) await this.#commit(note);
    else if (what < 8) await this.#amend(note);
    else if (what === 8) await this.#skip();
    else if (what === 9) await this.#retain(note);
    else await this.compare(note);
  }

  async #commit(note: string): Promise<void> {
    const content = text('x'.repeat(this.#one([3, 900, 5_000])));
    const plain = this.#chat.request(this.#one(this.#users), { type: this.#one([1, 2, 4711]), content });
    const mentions = { userIds: this.#users.filter(() => this.#roll(3) === 0), all: this.#roll(5) === 0 };
    const title = control({ kind: ControlKind.Title, title: 't' });
    const request = this.#one<CommitRequest>([
      { ...plain, mentions },
      plain,
      this.#sent.length > 0 ? { ...this.#one(this.#sent), ...(this.#roll(4) === 0 && { content: text('other') }) } : plain,
      { ...plain, type: MessageType.Control, content: title, needs: this.#one(['member', 'admin']) },
      { ...plain, type: MessageType.Control, change: { kind: this.#one(['join', 'leave'] as const), userIds: [this.#one(this.#users)] } },
    ]);
    this.#sent.push(request);
    await this.#ask(({ messages }) => messages.commit(request), note);
  }

  async #amend(note: string): Promise<void> {
    const head = await this.#head();
    const sequences = Array.from({ length: 5 }, (_, i) => head - i).filter((value) => value > 0);
    const { tenantId, conversationId } = this.#chat;
    const named = [seq(this.#one(sequences))];
    const [message] = await this.#fixture.store.messages.readMessages(tenantId, conversationId, named);
    const target = message?.record;
    if (target === undefined || target.status === MessageStatus.Recalled || target.status === MessageStatus.Deleted) return;
    const request = {
      actor: target.sender.userId,
      needs: 'member',
      activityId: parseActivityId(uuidv7()),
      status: this.#one([MessageStatus.Edited, MessageStatus.Recalled, MessageStatus.Deleted] as const),
      content: text(this.#one(['edited', 'y'.repeat(3_000)])),
      mentions: NO_MENTIONS,
    } as const;
    // Each side gets its own target: the two differ in their times alone.
    await this.#ask(async ({ messages }) => {
      const [own] = await messages.readMessages(tenantId, conversationId, named);
      return own && messages.amend({ ...request, target: own.record });
    }, note);
  }

  async #skip(): Promise<void> {
    const count = this.#roll(3) === 0 ? 250 : this.#roll(20);
    await this.#fixture.backend.skipSequences(this.#chat, count);
    this.#model.testing.skipSequences(this.#chat.tenantId, this.#chat.conversationId, count);
  }

  /** By number alone: the two have clocks of their own. */
  async #retain(note: string): Promise<void> {
    const { tenantId, conversationId } = this.#chat;
    const policy = { olderThanMs: undefined, keepNewest: this.#one([0, 1, 5, 20, 40]) };
    await this.#ask(({ messages }) => messages.retain(tenantId, conversationId, policy), note);
  }

  async #head(): Promise<number> {
    const { facts } = await this.#chat.messages.readConversation(this.#chat.tenantId, this.#chat.conversationId, this.#owner);
    return facts?.lastSequence ?? 0;
  }

  /** Everything that a reader can ask. */
  async compare(note: string): Promise<void> {
    const { tenantId, conversationId } = this.#chat;
    await this.#ask(async ({ messages }) => [...(await messages.readMembers(tenantId, conversationId))], note);
    const head = await this.#head();
    const watermarks = [0, 1, head - 201, head - 200, head - 199, head - 7, head - 1, head, head + 1].filter((value) => value >= 0);
    const states = watermarks.map((watermark) => ({ conversationId, watermark: seq(watermark) }));
    for (const userId of this.#users) {
      await this.#ask(({ messages }) => messages.readConversations(tenantId, userId, states), note);
      for (const position of ['newest', { after: seq(head >> 1) }, { before: seq(Math.max(1, head - 3)) }] as const) {
        const query = { tenantId, userId, conversationId, clearedSeq: seq(head >> 2), position, limit: 9 };
        await this.#ask(({ messages }) => messages.readHistory(query), note);
      }
      for (const [after, amendmentCursor] of [
        [0, 0],
        [head >> 1, 1],
        [head, 3],
        [head + 1, 0],
      ] as const) {
        const held = { clearedSeq: seq(head >> 3), epoch: this.#roll(3), after: seq(after), amendmentCursor };
        const query = { tenantId, userId, conversationId, ...held, limit: this.#one([1, 3, 50]) };
        await this.#ask(({ messages }) => messages.catchUp(query), note);
      }
    }
  }
}

async function runSeed(fixture: Fixture, seed: number): Promise<void> {
  const run = await Run.start(fixture, seed);
  for (let step = 0; step < STEPS; step += 1) await run.step(`seed ${seed}, step ${step}`);
  await run.compare(`seed ${seed}, end`);
}

export const asTheModel: Cases = Object.fromEntries(
  Array.from({ length: SEEDS }, (_, i) => [`seed ${i + 1}`, (fixture: Fixture) => runSeed(fixture, i + 1)]),
);

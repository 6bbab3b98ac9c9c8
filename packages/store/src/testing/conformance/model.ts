/**
 * Cases: the backend and the reference model are told the same, at random, and answer the same.
 *
 * Only what the two cannot share is left out: clocks. A seed that fails is in the name of the case; the same seed makes
 * the same run.
 */
import { ControlKind, HistoryVisibility, type MessageRecord, MessageStatus, MessageType, parseActivityId, type UserId } from '@qim/proto';
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

class Twins {
  readonly #stores: readonly [Store, Store];

  constructor(backend: Store, model: Store) {
    this.#stores = [backend, model];
  }

  /** Asks both; they must agree. */
  async ask(what: (store: Store) => Promise<unknown>, note: string): Promise<Answer> {
    const [backend, model] = this.#stores;
    const expected = await answerOf(what(model));
    const actual = await answerOf(what(backend));
    expect(withoutTimes(actual), note).toEqual(withoutTimes(expected));
    return actual;
  }
}

async function run(fixture: Fixture, seed: number): Promise<void> {
  const roll = dice(seed);
  const model = openMemoryStore();
  const twins = new Twins(fixture.store, model);
  const users = ['alice', 'bob', 'carol', 'dave'].map((name) => fixture.user(name));
  const one = <T>(items: readonly T[]): T => items[roll(items.length)] as T;
  const historyVisibility = one([HistoryVisibility.FromJoining, HistoryVisibility.All]);
  const chat = await fixture.group(users[0] as UserId, users.slice(1, 3), { historyVisibility });
  // The model gets the very record that made the group.
  const { messageId, activityId, clientMessageId } = await chat.record(1);
  const userIds = users.slice(0, 3);
  const first = { type: MessageType.Control, content: control({ kind: ControlKind.Created, title: 'a group', userIds }) };
  await model.messages.commit({ ...chat.request(users[0] as UserId, first), messageId, activityId, clientMessageId });

  const sent: CommitRequest[] = [];
  for (let step = 0; step < STEPS; step += 1) {
    const note = `seed ${seed}, step ${step}`;
    const what = roll(10);
    if (what < 6) await twins.ask(commitOf(chat, users, one, roll, sent), note);
    else if (what < 8) await amendOne(fixture, chat, twins, one, note);
    else if (what === 8) await skipOne(fixture, chat, model, roll(3) === 0 ? 250 : roll(20));
    else await compare(chat, users, twins, note);
  }
  await compare(chat, users, twins, `seed ${seed}, end`);
}

type One = <T>(items: readonly T[]) => T;

function commitOf(chat: Chat, users: readonly UserId[], one: One, roll: (n: number) => number, sent: CommitRequest[]) {
  const sender = one(users);
  const plain = chat.request(sender, { type: one([1, 2, 4711]), content: text('x'.repeat(one([3, 900, 5_000]))) });
  const mentions = { userIds: users.filter(() => roll(3) === 0), all: roll(5) === 0 };
  const requests: readonly CommitRequest[] = [
    { ...plain, mentions },
    plain,
    sent.length > 0 ? { ...one(sent), ...(roll(4) === 0 && { content: text('other') }) } : plain,
    { ...plain, type: MessageType.Control, content: control({ kind: ControlKind.Title, title: 't' }), needs: one(['member', 'admin']) },
    { ...plain, type: MessageType.Control, change: { kind: one(['join', 'leave'] as const), userIds: [one(users)] } },
  ];
  const request = one(requests);
  sent.push(request);
  return (store: Store) => store.messages.commit(request);
}

async function amendOne(fixture: Fixture, chat: Chat, twins: Twins, one: One, note: string): Promise<void> {
  const [owner] = chat.create?.members ?? [];
  if (owner === undefined) return;
  const { facts } = await chat.messages.readConversation(chat.tenantId, chat.conversationId, owner.userId);
  const sequences = Array.from({ length: 5 }, (_, i) => (facts?.lastSequence ?? 0) - i).filter((value) => value > 0);
  const [message] = await fixture.store.messages.readMessages(chat.tenantId, chat.conversationId, [seq(one(sequences))]);
  const target: MessageRecord | undefined = message?.record;
  if (target === undefined || target.status === MessageStatus.Recalled || target.status === MessageStatus.Deleted) return;
  const status = one([MessageStatus.Edited, MessageStatus.Recalled, MessageStatus.Deleted] as const);
  const activityId = parseActivityId(uuidv7());
  const content = text(one(['edited', 'y'.repeat(3_000)]));
  const request = { actor: target.sender.userId, needs: 'member', activityId, status, content, mentions: NO_MENTIONS } as const;
  // Each side gets its own target: the two differ in their times alone.
  await twins.ask(async (store) => {
    const [own] = await store.messages.readMessages(chat.tenantId, chat.conversationId, [target.conversationSeq]);
    return own && store.messages.amend({ ...request, target: own.record });
  }, note);
}

async function skipOne(fixture: Fixture, chat: Chat, model: ReturnType<typeof openMemoryStore>, count: number): Promise<void> {
  await fixture.backend.skipSequences(chat, count);
  model.testing.skipSequences(chat.tenantId, chat.conversationId, count);
}

/** Everything that a reader can ask. */
async function compare(chat: Chat, users: readonly UserId[], twins: Twins, note: string): Promise<void> {
  const { tenantId, conversationId } = chat;
  await twins.ask(async ({ messages }) => [...(await messages.readMembers(tenantId, conversationId))], note);
  const { facts } = await chat.messages.readConversation(tenantId, conversationId, users[0] as UserId);
  const head = facts?.lastSequence ?? 0;
  const watermarks = [0, 1, head - 201, head - 200, head - 199, head - 7, head - 1, head, head + 1].filter((value) => value >= 0);
  const states = watermarks.map((watermark) => ({ conversationId, watermark: seq(watermark) }));
  for (const userId of users) {
    await twins.ask(({ messages }) => messages.readConversations(tenantId, userId, states), note);
    for (const position of ['newest', { after: seq(head >> 1) }, { before: seq(Math.max(1, head - 3)) }] as const) {
      const query = { tenantId, userId, conversationId, clearedSeq: seq(head >> 2), position, limit: 9 };
      await twins.ask(({ messages }) => messages.readHistory(query), note);
    }
  }
}

export const asTheModel: Cases = Object.fromEntries(
  Array.from({ length: SEEDS }, (_, i) => [`seed ${i + 1}`, (fixture: Fixture) => run(fixture, i + 1)]),
);

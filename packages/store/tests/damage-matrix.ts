/**
 * What list, history, sending and amending answer to each kind of damage.
 *
 * Every kind is done to a conversation of its own, beside a neighbour that must not notice. An answer is the whole truth,
 * or says that something is damaged, or says so beside what is true; a smaller number is none of these and fails. The
 * reasons of the kinds in `src/testing/damage-kinds.ts` are pinned by the conformance suite; here it is all kinds, and amending.
 */
import { type ConversationSeq, type MessageRecord, MessageStatus, type UserId } from '@qim/proto';
import { expect } from 'vitest';
import { isDamage } from '../src/errors.js';
import { sequenceToBytes } from '../src/message/bytes.js';
import type { CommitOutcome, CommitRequest } from '../src/message/message-store.js';
import type { OpenedBackend } from '../src/testing/conformance/backend.js';
import { type Chat, Fixture, seq, text } from '../src/testing/conformance/fixture.js';
import type { Tamper } from './tamper.js';

/**
 * right: the whole truth. told: an error or an entry that names the damage, and no number. aside: true, and damage is named
 * beside it. not there: as to one who is no member. stale: catch-up lacks an amendment, and says nothing of it.
 */
export type Answer = 'right' | 'told' | 'aside' | 'not there' | 'stale';

export interface Answers {
  readonly list: Answer;
  readonly history: Answer;
  readonly catchUp: Answer;
  readonly amend: Answer;
  readonly send: Answer;
  /** Of the first request, sent again. */
  readonly retry: Answer;
}

export interface Kind {
  readonly what: string;
  /** The record that is amended; the damaged one where one is. */
  readonly at: number;
  apply(stage: MatrixStage, chat: Scene): Promise<void>;
  readonly expected: Answers;
  /** Why none of these calls need notice it; undefined: one of them must. */
  readonly unnoticed?: string;
}

export function isNoticed(answers: Answers): boolean {
  return Object.values(answers).some((answer) => answer !== 'right' && answer !== 'stale');
}

/** Alice's 1, 2 (edited), 3, 4 (its body apart), then a hole, then 8. Bob has read nothing. */
export interface Scene {
  readonly chat: Chat;
  readonly first: CommitRequest;
}

/** As short as is kept apart. */
const APART = 'long '.repeat(190);
const SAID = [
  [1, 'one'],
  [2, 'two, better'],
  [3, 'three'],
  [4, APART],
  [8, 'eight'],
] as const;
const HEAD = 8;
const NEXT = 9;

export class MatrixStage {
  readonly fixture: Fixture;
  readonly tamper: Tamper;
  readonly alice: UserId;
  readonly bob: UserId;
  readonly backend: OpenedBackend;
  #neighbour: Chat | undefined;

  constructor(backend: OpenedBackend, tamper: Tamper) {
    this.backend = backend;
    this.fixture = new Fixture(backend);
    this.tamper = tamper;
    this.alice = this.fixture.user('alice');
    this.bob = this.fixture.user('bob');
  }

  async scene(): Promise<Scene> {
    const { alice } = this;
    const chat = this.fixture.direct(alice, this.bob);
    const first = chat.request(alice, { content: text('one') });
    await chat.messages.commit(first);
    await chat.say(alice, { content: text('two') });
    await chat.edit(2, 'two, better');
    await chat.say(alice, { content: text('three') });
    await chat.say(alice, { content: text(APART) });
    await chat.skip(3);
    await chat.say(alice, { content: text('eight') });
    const { directory } = this.fixture.store;
    const joined = [alice, this.bob].map((userId) => ({ userId, joinedSeq: seq(1), visibleFrom: seq(1) }));
    await directory.join(chat.tenantId, chat.conversationId, joined, { conversationSeq: seq(HEAD), activityAtMs: 1 });
    return { chat, first };
  }

  async neighbour(): Promise<Chat> {
    this.#neighbour ??= (await this.scene()).chat;
    return this.#neighbour;
  }

  /** What all calls answer now. Amends and sends: the conversation is used up. */
  async answers({ chat, first }: Scene, at: number): Promise<Answers> {
    const list = await this.#list(chat);
    const history = await this.#history(chat);
    const catchUp = await this.#catchUp(chat);
    const retry = await this.#retry(chat, first);
    const amend = await this.#amend(chat, at);
    const send = await this.#send(chat);
    const after = (await this.#reading(chat)).reading;
    if (after.kind === 'sound') expect(after.summary.unreadCount, 'no smaller number after a send').toBe(SAID.length);
    return { list, history, catchUp, amend, send, retry };
  }

  async #reading(chat: Chat) {
    const neighbour = await this.neighbour();
    const states = [neighbour, chat, neighbour].map(({ conversationId }) => ({ conversationId, watermark: seq(0) }));
    const [before, reading, behind] = await chat.messages.readConversations(chat.tenantId, this.bob, states);
    for (const each of [before, behind]) {
      expect(each, 'the neighbour notices nothing').toMatchObject({
        kind: 'sound',
        summary: { unreadCount: SAID.length, unreadExact: true },
      });
    }
    if (reading === undefined) throw new Error('one state has one reading');
    return { reading };
  }

  async #list(chat: Chat): Promise<Answer> {
    const { reading } = await this.#reading(chat);
    if (reading.kind === 'damaged') {
      expect(reading).not.toHaveProperty('summary');
      expect(reading.error.detail).toMatchObject({ tenantId: chat.tenantId, conversationId: chat.conversationId });
      return 'told';
    }
    const truth = { latestConversationSeq: HEAD, unreadCount: SAID.length, unreadExact: true };
    expect(reading.summary, 'a number is the truth').toMatchObject(truth);
    if (reading.listing.member === undefined) return 'not there';
    if (reading.listing.previewDamage !== undefined) return 'aside';
    expect(reading.listing.preview).toMatchObject({ conversationSeq: HEAD, snippet: 'eight' });
    return 'right';
  }

  async #history(chat: Chat): Promise<Answer> {
    const answers: Answer[] = [];
    for (const position of ['newest', { after: seq(0) }, { before: seq(NEXT) }] as const) {
      const page = await answerOf(chat.history(this.bob, { position }));
      if (typeof page === 'object') {
        expect(saidIn(page.records), 'history is whole').toEqual(SAID);
      }
      answers.push(typeof page === 'object' ? 'right' : page);
    }
    return worst(answers);
  }

  /** Of a device that holds nothing, and of one that holds 1 to 3 as they were before the edit. */
  async #catchUp(chat: Chat): Promise<Answer> {
    const { tenantId, conversationId } = chat;
    const answers: Answer[] = [];
    for (const [after, amended] of [
      [0, []],
      [3, [SAID[1]]],
    ] as const) {
      const query = {
        tenantId,
        userId: this.bob,
        conversationId,
        clearedSeq: seq(0),
        epoch: 0,
        after: seq(after),
        amendmentCursor: 0,
        limit: 200,
      };
      const page = await answerOf(chat.messages.catchUp(query));
      if (typeof page === 'object') {
        if (page.kind === 'reset') throw new Error('nothing is to begin anew');
        expect(saidIn(page.records), 'catch-up is whole').toEqual(SAID.filter(([at]) => at > after));
        const stale = page.amended.length < amended.length;
        if (!stale) expect(saidIn(page.amended), 'what was amended is caught up').toEqual(amended);
        answers.push(stale ? 'stale' : 'right');
      } else answers.push(page);
    }
    return worst(answers);
  }

  async #retry(chat: Chat, first: CommitRequest): Promise<Answer> {
    const outcome = await answerOf(chat.messages.commit(first));
    if (typeof outcome === 'string') return outcome;
    expect(outcome, 'a retry is the first one').toMatchObject({ duplicate: true, conversationSeq: 1, messageId: first.messageId });
    if (outcome.message !== undefined) expect(outcome.message.record).toMatchObject({ conversationSeq: 1, messageId: first.messageId });
    return outcome.message === undefined ? 'not there' : 'right';
  }

  async #amend(chat: Chat, at: number): Promise<Answer> {
    const found = await answerOf(chat.messages.readMessages(chat.tenantId, chat.conversationId, [seq(at)]));
    if (typeof found === 'string') return found;
    const [message] = found;
    if (message === undefined) return 'not there';
    const outcome = await answerOf(chat.amend(message.record, { status: MessageStatus.Edited, content: text('amended') }));
    if (typeof outcome === 'string') return outcome;
    expect(outcome.kind).toBe('amended');
    return 'right';
  }

  async #send(chat: Chat): Promise<Answer> {
    const neighbour = await this.neighbour();
    expect(await answerOf(neighbour.say(this.bob))).toMatchObject({ duplicate: false });
    const outcome: CommitOutcome | Answer = await answerOf(chat.say(this.bob));
    if (typeof outcome === 'string') return outcome;
    expect(outcome.conversationSeq, 'a sequence that was never given').toBeGreaterThan(HEAD);
    return 'right';
  }
}

function saidIn(records: readonly MessageRecord[]) {
  return records.map(({ conversationSeq, content }) => [conversationSeq, content.kind === 'text' ? content.text : content.kind]);
}

/** Of one page and another: damage past a page is no trouble of the page. */
function worst(answers: readonly Answer[]): Answer {
  return (['told', 'not there', 'stale'] as const).find((answer) => answers.includes(answer)) ?? 'right';
}

/** The value; or that it was refused for damage, or to one who is no member. */
async function answerOf<T>(call: Promise<T>): Promise<T | 'told' | 'not there'> {
  try {
    return await call;
  } catch (error) {
    if (isDamage(error)) return 'told';
    if (error instanceof Error && 'code' in error && error.code === 'NotMember') return 'not there';
    throw error;
  }
}

export const memberBytes = (value: number): Uint8Array => sequenceToBytes(value as ConversationSeq);

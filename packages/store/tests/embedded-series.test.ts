/** Commits that follow each other in one transaction know from each other; what any of them is told is as if each stood alone. */
import { Role, type UserId } from '@qim/proto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { damageEmbedded } from '../src/embedded/damage.js';
import { Fixture, seq } from '../src/testing/conformance/fixture.js';
import { EmbeddedBackend } from './embedded-backend.js';

let flushes: number;
let backend: EmbeddedBackend;
let fixture: Fixture;
let alice: UserId;
let bob: UserId;
let carol: UserId;

beforeEach(async () => {
  flushes = 0;
  backend = await EmbeddedBackend.open({ observer: { roundTrip: () => (flushes += 1) } });
  fixture = new Fixture(backend);
  [alice, bob, carol] = [fixture.user('alice'), fixture.user('bob'), fixture.user('carol')];
});

afterEach(() => backend.close());

/** In the order given, and in one transaction. */
async function together(calls: readonly (() => Promise<unknown>)[]): Promise<(number | string)[]> {
  flushes = 0;
  const answers = await Promise.allSettled(calls.map((call) => call()));
  expect(flushes).toBe(1);
  return answers.map((answer) => {
    if (answer.status === 'rejected') return String((answer.reason as { code?: string }).code);
    const { conversationSeq = 0 } = (answer.value ?? {}) as { conversationSeq?: number };
    return conversationSeq;
  });
}

async function outboxIds(): Promise<string[]> {
  const { outbox } = backend.store;
  const lease = await outbox.acquire(0, 'owner', 60_000);
  if (lease === undefined) throw new Error('nobody else holds it');
  const { entries } = await outbox.read([lease], 0, new AbortController().signal);
  return entries.map(({ entryId, kind, conversationSeq }) => `${entryId} ${kind} ${conversationSeq}`);
}

describe('commits of one transaction', () => {
  test('one that makes the conversation, and those after it', async () => {
    const chat = fixture.direct(alice, bob);
    const answers = await together([() => chat.say(alice), () => chat.say(bob), () => chat.say(carol), () => chat.say(alice)]);
    expect(answers).toEqual([1, 2, 'NotMember', 3]);
    await backend.reopen();
    expect((await chat.say(bob)).conversationSeq).toBe(4);
    expect(await outboxIds()).toEqual(['1 created 1', '2 committed 2', '3 committed 3', '4 committed 4']);
  });

  test('members come and go between them', async () => {
    const chat = await fixture.group(alice, [bob]);
    const answers = await together([
      () => chat.say(bob),
      () => chat.say(carol),
      () => chat.join(alice, carol),
      () => chat.say(carol),
      () => chat.join(alice, carol),
      () => chat.leave(bob, bob),
      () => chat.say(bob),
      () => chat.say(carol),
    ]);
    expect(answers).toEqual([2, 'NotMember', 3, 4, 'Aborted', 5, 'NotMember', 6]);
    const members = await backend.store.messages.readMembers(chat.tenantId, chat.conversationId);
    expect(members.get(carol)).toMatchObject({ role: Role.Member, joinedSeq: 3 });
    expect([...members.keys()].sort()).toEqual([alice, carol].sort());
  });

  test('an amendment between them sees and leaves the same facts', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.say(alice, 'first');
    const target = await chat.record(1);
    const edited = { content: { kind: 'text', text: 'edited' } } as const;
    const answers = await together([() => chat.say(bob), () => chat.amend(target, edited), () => chat.say(bob), () => chat.say(alice)]);
    expect(answers).toEqual([2, 0, 3, 4]);
    await backend.reopen();
    const { facts } = await backend.store.messages.readConversation(chat.tenantId, chat.conversationId, alice);
    expect(facts).toMatchObject({ lastSequence: 4, amendmentNumber: 1 });
    expect(await outboxIds()).toEqual(['1 created 1', '2 committed 2', '3 amended 1', '4 committed 3', '5 committed 4']);
    expect(await chat.sequences(bob)).toEqual([1, 2, 3, 4]);
  });

  test('retention between them leaves what was kept', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.sayTimes(alice, 3);
    const { tenantId, conversationId } = chat;
    const policy = { olderThanMs: undefined, keepNewest: 2 };
    const retained = backend.store.messages.retain(tenantId, conversationId, policy);
    const answers = await Promise.all([chat.say(bob), retained, chat.say(bob)]);
    expect([answers[0].conversationSeq, answers[2].conversationSeq].sort()).toEqual([4, 5]);
    expect((await chat.sequences(bob)).at(-1)).toBe(5);
    const { facts } = await backend.store.messages.readConversation(tenantId, conversationId, alice);
    expect(facts?.retainedFrom).toBeGreaterThan(1);
    expect((await chat.say(bob)).conversationSeq).toBe(6);
  });

  test('conversations take turns', async () => {
    const chats = [fixture.direct(alice, bob), fixture.direct(alice, bob)];
    const answers = await together(Array.from({ length: 6 }, (_, n) => () => (chats[n % 2] ?? fixture.direct(alice, bob)).say(alice)));
    expect(answers).toEqual([1, 1, 2, 2, 3, 3]);
    for (const chat of chats) expect(await chat.sequences(bob)).toEqual([1, 2, 3]);
  });

  test('a reserved sequence is skipped once', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.say(alice);
    await chat.skip(5);
    expect(await together([() => chat.say(bob), () => chat.say(bob)])).toEqual([7, 8]);
    expect((await chat.record(7)).prevSequence).toBe(seq(1));
    expect((await chat.record(8)).prevSequence).toBe(seq(7));
  });
});

test('a transaction relies on nothing of the one before it', async () => {
  const chat = fixture.direct(alice, bob);
  expect(await together([() => chat.say(alice), () => chat.say(bob)])).toEqual([1, 2]);
  await damageEmbedded(backend.folder, chat, 'indexKeyMissing');
  expect(await together([() => chat.say(alice), () => chat.say(bob)])).toEqual(['CorruptRecord', 'CorruptRecord']);
});

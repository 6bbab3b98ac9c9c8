/** Cases: who has no member entry gets the one answer NotMember, whatever else of the conversation is damaged. */
import { MessageStatus, parseActivityId, type UserId } from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import { expect } from 'vitest';
import type { DamageKind } from '../damage-kinds.js';
import { type Fixture, NO_MENTIONS, refusedWith, seq } from './fixture.js';
import type { Cases } from './suite.js';

/** Those that a read of the facts or of the index meets. */
const KINDS = ['factsMissing', 'factsUnreadable', 'factsAhead', 'indexKeyMissing', 'indexMemberShort'] as const satisfies DamageKind[];

async function damagedGroup(fixture: Fixture, kind: DamageKind) {
  const [alice, bob, left, eve] = ['alice', 'bob', 'left', 'eve'].map((name) => fixture.user(name)) as [UserId, UserId, UserId, UserId];
  const chat = await fixture.group(alice, [bob, left]);
  await chat.say(alice);
  const request = chat.request(left);
  await chat.messages.commit(request);
  await chat.leave(left, left);
  const target = await chat.record(2);
  const { backend } = fixture;
  if (backend.damage === undefined) throw new Error('a backend that names kinds of damage can do it');
  await backend.damage(chat, kind);
  return { chat, alice, bob, outside: [eve, left], request, target };
}

type Damaged = Awaited<ReturnType<typeof damagedGroup>>;

/** Each by its name; none of them may write. */
function callsOf({ chat, target }: Damaged, userId: UserId): readonly (readonly [string, () => Promise<unknown>])[] {
  const { messages } = chat;
  const amendment = { target, activityId: parseActivityId(uuidv7()), content: { kind: 'none' }, mentions: NO_MENTIONS } as const;
  return [
    ['send', () => messages.commit({ ...chat.request(userId), create: undefined })],
    ['leave', () => messages.commit({ ...chat.request(userId), create: undefined, change: { kind: 'leave', userIds: [userId] } })],
    ['amend', () => messages.amend({ ...amendment, actor: userId, needs: 'member', status: MessageStatus.Recalled })],
    ['newest', () => chat.history(userId)],
    ['forward', () => chat.history(userId, { position: { after: seq(0) } })],
    ['backward', () => chat.history(userId, { position: { before: seq(2) } })],
  ];
}

async function nothingIsTold(fixture: Fixture, kind: DamageKind): Promise<void> {
  const damaged = await damagedGroup(fixture, kind);
  const { chat, outside, alice } = damaged;
  for (const userId of outside) {
    for (const [name, call] of callsOf(damaged, userId)) {
      const outcome = await call().then(
        () => 'fine',
        (error: unknown) => (error as { code?: string }).code,
      );
      expect([name, outcome]).toEqual([name, 'NotMember']);
    }
    expect((await chat.messages.readConversation(chat.tenantId, chat.conversationId, userId)).member).toBeUndefined();
  }
  await refusedWith(chat.history(alice), 'CorruptRecord');
}

export const outsiders: Cases = {
  ...Object.fromEntries(
    KINDS.map((kind) => [
      `${kind}: outsiders and former members are told nothing of it`,
      (fixture: Fixture) => nothingIsTold(fixture, kind),
    ]),
  ),

  async 'a retry of one who has left since gets its ids, whatever the facts look like'(fixture) {
    const { chat, request } = await damagedGroup(fixture, 'factsUnreadable');
    const outcome = await chat.messages.commit(request);
    expect(outcome).toMatchObject({ duplicate: true, conversationSeq: 3, message: undefined });
  },

  async 'a member is told of the damage'(fixture) {
    const { chat, bob } = await damagedGroup(fixture, 'factsUnreadable');
    await refusedWith(chat.messages.readConversation(chat.tenantId, chat.conversationId, bob), 'CorruptRecord');
  },
};

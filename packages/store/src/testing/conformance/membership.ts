/** Cases: joins and leaves are Control records, with preconditions inside the step. */
import { ControlKind, GROUP_MEMBERS_MAX, HistoryVisibility, MEMBERS_PER_CALL_MAX, MessageType, Role, type UserId } from '@qim/proto';
import { expect } from 'vitest';
import { type Chat, control, type Fixture, refusedWith, seq, TENANT } from './fixture.js';
import type { Cases } from './suite.js';

async function memberOf(chat: Chat, userId: UserId) {
  return (await chat.messages.readConversation(TENANT, chat.conversationId, userId)).member;
}

async function groupOfThree(fixture: Fixture) {
  const [alice, bob, carol] = [fixture.user('alice'), fixture.user('bob'), fixture.user('carol')];
  return { alice, bob, carol, chat: await fixture.group(alice, [bob]) };
}

export const membership: Cases = {
  async 'who joins has joined at the sequence of the record that says so, and sees from there'(fixture) {
    const { alice, bob, carol, chat } = await groupOfThree(fixture);
    await chat.sayTimes(alice, 3);
    expect((await chat.join(alice, carol)).conversationSeq).toBe(5);
    expect(await memberOf(chat, carol)).toEqual({ role: Role.Member, joinedSeq: 5, visibleFrom: 5 });
    expect(await memberOf(chat, bob)).toEqual({ role: Role.Member, joinedSeq: 1, visibleFrom: 1 });
    expect(await chat.sequences(carol)).toEqual([5]);
  },

  async 'where the past is shown, who joins sees all of it and has still joined late'(fixture) {
    const [alice, carol] = [fixture.user('alice'), fixture.user('carol')];
    const chat = await fixture.group(alice, [], { historyVisibility: HistoryVisibility.All });
    await chat.say(alice);
    await chat.join(alice, carol);
    expect(await memberOf(chat, carol)).toEqual({ role: Role.Member, joinedSeq: 3, visibleFrom: 1 });
    expect(await chat.sequences(carol)).toEqual([1, 2, 3]);
  },

  async 'many join in one record'(fixture) {
    const { alice, chat } = await groupOfThree(fixture);
    const users = Array.from({ length: MEMBERS_PER_CALL_MAX }, (_, i) => fixture.user(`u${i}`));
    await chat.join(alice, ...users);
    const members = await chat.messages.readMembers(TENANT, chat.conversationId);
    expect(members.size).toBe(MEMBERS_PER_CALL_MAX + 2);
    for (const user of users) expect(members.get(user)).toEqual({ role: Role.Member, joinedSeq: 2, visibleFrom: 2 });
  },

  async 'a join of somebody who is a member is aborted as a whole'(fixture) {
    const { alice, bob, carol, chat } = await groupOfThree(fixture);
    await refusedWith(chat.join(alice, carol, bob), 'Aborted');
    expect(await memberOf(chat, carol)).toBeUndefined();
    expect(await chat.sequences(alice)).toEqual([1]);
  },

  async 'of two joins of one user at once, one is aborted'(fixture) {
    const { alice, carol, chat } = await groupOfThree(fixture);
    const results = await Promise.allSettled([chat.join(alice, carol), chat.join(alice, carol)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await memberOf(chat, carol))?.joinedSeq).toBe(2);
  },

  async 'a leave of somebody who is no member is aborted'(fixture) {
    const { alice, carol, chat } = await groupOfThree(fixture);
    await refusedWith(chat.leave(alice, carol), 'Aborted');
    expect(await chat.sequences(alice)).toEqual([1]);
  },

  async 'nobody removes an equal or one above, and everybody may leave'(fixture) {
    const { alice, bob, carol, chat } = await groupOfThree(fixture);
    await chat.join(alice, carol);
    await refusedWith(chat.leave(bob, carol), 'Aborted');
    await refusedWith(chat.leave(bob, alice), 'Aborted');
    await chat.leave(bob, bob);
    await chat.leave(alice, carol);
    expect([...(await chat.messages.readMembers(TENANT, chat.conversationId)).keys()]).toEqual([alice]);
  },

  async 'one who left is refused like an outsider, and nothing of it can be read'(fixture) {
    const { alice, bob, chat } = await groupOfThree(fixture);
    await chat.leave(bob, bob);
    await refusedWith(chat.say(bob), 'NotMember');
    await refusedWith(chat.join(bob, fixture.user('dave')), 'NotMember');
    await refusedWith(chat.history(bob), 'NotMember');
    expect((await chat.sound(bob)).listing.member).toBeUndefined();
    expect((await chat.sound(alice)).listing.member).toBeDefined();
  },

  async 'who comes back has joined anew'(fixture) {
    const { alice, bob, chat } = await groupOfThree(fixture);
    await chat.leave(alice, bob);
    await chat.sayTimes(alice, 2);
    await chat.join(alice, bob);
    expect(await memberOf(chat, bob)).toEqual({ role: Role.Member, joinedSeq: 5, visibleFrom: 5 });
    expect(await chat.sequences(bob)).toEqual([5]);
    expect((await chat.say(bob)).conversationSeq).toBe(6);
  },

  async 'a group holds GROUP_MEMBERS_MAX members and not one more'(fixture) {
    const alice = fixture.user('alice');
    const chat = await fixture.group(alice, []);
    for (let members = 1; members < GROUP_MEMBERS_MAX; ) {
      const count = Math.min(MEMBERS_PER_CALL_MAX, GROUP_MEMBERS_MAX - members);
      await chat.join(alice, ...Array.from({ length: count }, (_, i) => fixture.user(`u${members + i}`)));
      members += count;
    }
    expect((await chat.messages.readMembers(TENANT, chat.conversationId)).size).toBe(GROUP_MEMBERS_MAX);
    const { latestConversationSeq } = await chat.summary(alice);
    await refusedWith(chat.join(alice, fixture.user('one more')), 'ResourceLimit');
    expect((await chat.summary(alice)).latestConversationSeq).toBe(latestConversationSeq);
    await chat.leave(alice, fixture.user('u1'));
    await chat.join(alice, fixture.user('one more'));
  },

  async 'members come in the byte order of their ids'(fixture) {
    const [alice, bob, zoe, emoji, private_] = ['alice', 'bob', 'zoe', '\u{1F600}', '\uE000'].map((name) => fixture.user(name)) as [
      UserId,
      UserId,
      UserId,
      UserId,
      UserId,
    ];
    const chat = await fixture.group(zoe, [emoji, bob, private_, alice]);
    expect([...(await chat.messages.readMembers(TENANT, chat.conversationId)).keys()]).toEqual([alice, bob, zoe, private_, emoji]);
  },

  async 'the record of a join or leave is Control and says who'(fixture) {
    const { alice, bob, chat } = await groupOfThree(fixture);
    await chat.leave(alice, bob);
    expect(await chat.record(2)).toMatchObject({
      type: MessageType.Control,
      content: control({ kind: ControlKind.Left, userIds: [bob] }),
      prevSequence: 1,
    });
    expect(await chat.unread(alice)).toEqual([0, true]);
    expect((await chat.page(alice, { position: { after: seq(1) } }))[0]).toEqual([2]);
  },
};

/** Cases: roles, title and settings change in the step of their Control record, and a group keeps an owner. */
import { ControlKind, type ConversationSettings, HistoryVisibility, MessageType, Role, type UserId } from '@qim/proto';
import { expect } from 'vitest';
import type { CommitOutcome } from '../../message/message-store.js';
import { type Chat, control, type Fixture, FROM_JOINING, refusedWith, TENANT } from './fixture.js';
import type { Cases } from './suite.js';

function setRole(chat: Chat, by: UserId, userId: UserId, role: Role): Promise<CommitOutcome> {
  const content = control({ kind: ControlKind.Role, userIds: [userId], role });
  return chat.say(by, { type: MessageType.Control, content, needs: 'owner', change: { kind: 'role', userIds: [userId], role } });
}

function retitle(chat: Chat, by: UserId, title: string): Promise<CommitOutcome> {
  const content = control({ kind: ControlKind.Title, title });
  return chat.say(by, { type: MessageType.Control, content, needs: 'admin', change: { kind: 'title', title } });
}

function configure(chat: Chat, by: UserId, before: ConversationSettings, settings: ConversationSettings): Promise<CommitOutcome> {
  const content = control({ kind: ControlKind.Settings, settings });
  return chat.say(by, { type: MessageType.Control, content, needs: 'admin', change: { kind: 'settings', before, settings } });
}

async function rolesOf(chat: Chat): Promise<Map<UserId, Role>> {
  return new Map([...(await chat.messages.readMembers(TENANT, chat.conversationId))].map(([userId, { role }]) => [userId, role]));
}

async function factsOf(chat: Chat, userId: UserId) {
  return (await chat.messages.readConversation(TENANT, chat.conversationId, userId)).facts;
}

/** alice and bob own it, carol does not. */
async function twoOwners(fixture: Fixture) {
  const [alice, bob, carol] = [fixture.user('alice'), fixture.user('bob'), fixture.user('carol')];
  const chat = await fixture.group(alice, [bob, carol]);
  await setRole(chat, alice, bob, Role.Owner);
  return { alice, bob, carol, chat };
}

export const roles: Cases = {
  async 'a new role leaves what the member sees as it was'(fixture) {
    const { alice, carol, chat } = await twoOwners(fixture);
    await chat.leave(alice, carol);
    await chat.join(alice, carol);
    const before = (await chat.messages.readMembers(TENANT, chat.conversationId)).get(carol);
    const { conversationSeq } = await setRole(chat, alice, carol, Role.Admin);
    const after = (await chat.messages.readMembers(TENANT, chat.conversationId)).get(carol);
    expect(after).toEqual({ ...before, role: Role.Admin });
    const record = await chat.record(conversationSeq);
    expect(record.content).toEqual(control({ kind: ControlKind.Role, userIds: [carol], role: Role.Admin }));
    expect(await chat.unread(carol, conversationSeq - 1)).toEqual([0, true]);
  },

  async 'a role counts from the next step on'(fixture) {
    const { alice, carol, chat } = await twoOwners(fixture);
    await refusedWith(chat.join(carol, fixture.user('dave')), 'Forbidden');
    const [, joined] = await Promise.all([setRole(chat, alice, carol, Role.Admin), chat.join(carol, fixture.user('dave'))]);
    expect(joined.duplicate).toBe(false);
    await setRole(chat, alice, carol, Role.Member);
    await refusedWith(chat.join(carol, fixture.user('erin')), 'Forbidden');
  },

  async 'only an owner gives roles, and never to another owner or to one who is no member'(fixture) {
    const { alice, bob, carol, chat } = await twoOwners(fixture);
    await setRole(chat, alice, carol, Role.Admin);
    await refusedWith(setRole(chat, carol, carol, Role.Owner), 'Forbidden');
    await refusedWith(setRole(chat, alice, bob, Role.Member), 'Aborted');
    await refusedWith(setRole(chat, alice, fixture.user('dave'), Role.Admin), 'Aborted');
    expect(await rolesOf(chat)).toEqual(
      new Map([
        [alice, Role.Owner],
        [bob, Role.Owner],
        [carol, Role.Admin],
      ]),
    );
  },

  async 'the last owner neither steps down nor leaves, and does so once there is another'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await fixture.group(alice, [bob]);
    await refusedWith(setRole(chat, alice, alice, Role.Admin), 'Aborted');
    await refusedWith(chat.leave(alice, alice), 'Aborted');
    await setRole(chat, alice, bob, Role.Owner);
    await setRole(chat, alice, alice, Role.Member);
    await chat.leave(alice, alice);
    expect(await rolesOf(chat)).toEqual(new Map([[bob, Role.Owner]]));
  },

  async 'the last member leaves, an owner or not; alone, an owner does not step down'(fixture) {
    const alice = fixture.user('alice');
    const chat = await fixture.group(alice, []);
    await refusedWith(setRole(chat, alice, alice, Role.Member), 'Aborted');
    await chat.leave(alice, alice);
    expect(await rolesOf(chat)).toEqual(new Map());
  },

  async 'of two owners who leave at once, one stays'(fixture) {
    const { alice, bob, carol, chat } = await twoOwners(fixture);
    const results = await Promise.allSettled([chat.leave(alice, alice), chat.leave(bob, bob)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const left = await rolesOf(chat);
    expect([...left.values()].filter((role) => role === Role.Owner)).toHaveLength(1);
    expect(left.get(carol)).toBe(Role.Member);
  },

  async 'of two owners who step down at once, one stays'(fixture) {
    const { alice, bob, chat } = await twoOwners(fixture);
    const down = [setRole(chat, alice, alice, Role.Member), setRole(chat, bob, bob, Role.Admin)];
    const results = await Promise.allSettled(down);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect([...(await rolesOf(chat)).values()].filter((role) => role === Role.Owner)).toHaveLength(1);
  },

  async 'one who becomes owner in the same moment lets the last one leave'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await fixture.group(alice, [bob]);
    await Promise.all([setRole(chat, alice, bob, Role.Owner), chat.leave(alice, alice)]);
    expect(await rolesOf(chat)).toEqual(new Map([[bob, Role.Owner]]));
  },
};

export const titleAndSettings: Cases = {
  async 'a title and settings are those of their record from then on'(fixture) {
    const alice = fixture.user('alice');
    const chat = await fixture.group(alice, []);
    await retitle(chat, alice, 'renamed "twice" \u{1F600}');
    const settings = { historyVisibility: HistoryVisibility.All, onlyAdminsPost: true, readReceipts: true };
    await configure(chat, alice, FROM_JOINING, settings);
    expect(await factsOf(chat, alice)).toMatchObject({ title: 'renamed "twice" \u{1F600}', settings });
    expect((await chat.sound(alice)).listing).toMatchObject({ title: 'renamed "twice" \u{1F600}', settings });
    expect((await chat.record(3)).content).toEqual(control({ kind: ControlKind.Settings, settings }));
    expect(await chat.unread(alice)).toEqual([0, true]);
  },

  async 'a title may be empty again, and settings may go back'(fixture) {
    const alice = fixture.user('alice');
    const chat = await fixture.group(alice, []);
    const on = { ...FROM_JOINING, readReceipts: true };
    await configure(chat, alice, FROM_JOINING, on);
    await configure(chat, alice, on, { ...FROM_JOINING, readReceipts: false });
    await retitle(chat, alice, '');
    expect(await factsOf(chat, alice)).toMatchObject({ title: '' });
    expect((await factsOf(chat, alice))?.settings.readReceipts ?? false).toBe(false);
    await configure(chat, alice, FROM_JOINING, on);
  },

  async 'settings that were changed meanwhile abort the step, so that no change is lost'(fixture) {
    const alice = fixture.user('alice');
    const chat = await fixture.group(alice, []);
    const closed = { ...FROM_JOINING, onlyAdminsPost: true };
    const open = { ...FROM_JOINING, historyVisibility: HistoryVisibility.All };
    const results = await Promise.allSettled([configure(chat, alice, FROM_JOINING, closed), configure(chat, alice, FROM_JOINING, open)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await chat.sequences(alice)).toEqual([1, 2]);
  },

  async 'only-admins-post holds for the very next message, also of the same moment'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await fixture.group(alice, [bob]);
    const closed = { ...FROM_JOINING, onlyAdminsPost: true };
    const results = await Promise.allSettled([chat.say(bob), configure(chat, alice, FROM_JOINING, closed), chat.say(bob), chat.say(alice)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    await refusedWith(chat.say(bob), 'Forbidden');
    await chat.leave(bob, bob);
  },

  async 'who joins after history was opened sees all of it, who joined before sees what they saw'(fixture) {
    const [alice, bob, carol] = [fixture.user('alice'), fixture.user('bob'), fixture.user('carol')];
    const chat = await fixture.group(alice, []);
    await chat.say(alice);
    await chat.join(alice, bob);
    const open = { ...FROM_JOINING, historyVisibility: HistoryVisibility.All };
    await Promise.all([configure(chat, alice, FROM_JOINING, open), chat.join(alice, carol)]);
    expect(await chat.sequences(bob)).toEqual([3, 4, 5]);
    expect(await chat.sequences(carol)).toEqual([1, 2, 3, 4, 5]);
    await configure(chat, alice, open, FROM_JOINING);
    expect(await chat.sequences(carol)).toEqual([1, 2, 3, 4, 5, 6]);
  },

  async 'a member changes neither'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await fixture.group(alice, [bob]);
    await refusedWith(retitle(chat, bob, 'mine'), 'Forbidden');
    await refusedWith(configure(chat, bob, FROM_JOINING, { ...FROM_JOINING, onlyAdminsPost: true }), 'Forbidden');
    await refusedWith(retitle(chat, fixture.user('dave'), 'mine'), 'NotMember');
    expect(await chat.sequences(alice)).toEqual([1]);
  },
};

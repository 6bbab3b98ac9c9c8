/** Cases: the system says something without being a member, and makes groups that it is not in. */
import { ControlKind, HistoryVisibility, MessageType, SYSTEM_USER_ID } from '@qim/proto';
import { expect } from 'vitest';
import { control, FROM_JOINING, OTHER_TENANT, refusedWith, TENANT } from './fixture.js';
import type { Cases } from './suite.js';

export const system: Cases = {
  async 'a message of the system is committed for members to read, also where only admins post'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await fixture.group(alice, [bob], { onlyAdminsPost: true });
    const outcome = await chat.say(SYSTEM_USER_ID, { needs: 'system', create: undefined });
    expect(outcome).toMatchObject({ conversationSeq: 2, created: false, duplicate: false });
    for (const user of [alice, bob]) expect(await chat.unread(user)).toEqual([1, true]);
    expect((await chat.messages.readMembers(TENANT, chat.conversationId)).has(SYSTEM_USER_ID)).toBe(false);
  },

  async 'a retry gets the message back, and other content is a conflict'(fixture) {
    const alice = fixture.user('alice');
    const chat = await fixture.group(alice, []);
    const request = { ...chat.request(SYSTEM_USER_ID), needs: 'system', create: undefined } as const;
    const first = await chat.messages.commit(request);
    expect(await chat.messages.commit(request)).toEqual({ ...first, duplicate: true });
    await refusedWith(chat.messages.commit({ ...request, content: { kind: 'text', text: 'other' } }), 'IdempotencyConflict');
  },

  async 'there is nothing to say where there is no conversation'(fixture) {
    const alice = fixture.user('alice');
    const chat = await fixture.group(alice, []);
    const request = { ...chat.request(SYSTEM_USER_ID), needs: 'system', create: undefined } as const;
    await refusedWith(chat.messages.commit({ ...request, tenantId: OTHER_TENANT }), 'NotMember');
    await refusedWith(chat.messages.commit({ ...request, conversationId: fixture.conversationId() }), 'NotMember');
  },

  async 'a group that the system makes has its members, and is made once'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const made = await fixture.group(alice, [bob], { ...FROM_JOINING, historyVisibility: HistoryVisibility.All });
    const conversationId = fixture.conversationId();
    const content = control({ kind: ControlKind.Created, title: 'a group', userIds: [alice, bob] });
    const request = { ...made.request(SYSTEM_USER_ID, { type: MessageType.Control, content, needs: 'system' }), conversationId };
    const create = request.create && { ...request.create, onlyNew: true };
    const outcomes = await Promise.all([made.messages.commit({ ...request, create }), made.messages.commit({ ...request, create })]);
    expect(outcomes.map(({ created }) => created).sort()).toEqual([false, true]);
    expect([...(await made.messages.readMembers(TENANT, conversationId)).keys()]).toEqual([alice, bob]);
    await refusedWith(made.messages.commit({ ...made.request(SYSTEM_USER_ID, { needs: 'system' }), conversationId, create }), 'Aborted');
  },
};

import {
  AMEND_TRIES_MAX,
  ControlKind,
  HistoryVisibility,
  MessageType,
  parseConversationId,
  parseUserId,
  Role,
  type UserId,
} from '@qim/proto';
import { MessageStoreError, unavailable } from '@qim/store';
import { describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, caller, DAN, groupInput, key, openWorld, refusal, seq, T0, type World } from './support.js';

const add = (w: World, by: UserId, room: Awaited<ReturnType<World['group']>>, ...ids: UserId[]) =>
  w.writer.addMembers(caller(by), room, ids);
const newest = async (w: World, room: Awaited<ReturnType<World['group']>>) => {
  const head = await w.head(room);
  const [message] = await w.store.messages.readMessages(T0, room, [head ?? seq(0)]);
  return message?.record;
};

describe('making a group', () => {
  test('its caller owns it, repeats and the caller are taken once, and its first record says who is in', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB, ALICE, CAROL, BOB], { historyVisibility: HistoryVisibility.All, onlyAdminsPost: true });
    expect(room).toMatch(/^g_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([...(await w.store.messages.readMembers(T0, room))].map(([id, { role }]) => [id, role])).toEqual([
      [ALICE, Role.Owner],
      [BOB, Role.Member],
      [CAROL, Role.Member],
    ]);
    expect(await newest(w, room)).toMatchObject({
      conversationSeq: 1,
      type: MessageType.Control,
      sender: { userId: ALICE },
      content: { control: { kind: ControlKind.Created, title: 'room', userIds: [ALICE, BOB, CAROL] } },
    });
    expect((await w.store.messages.readConversation(T0, room, ALICE)).facts).toMatchObject({
      title: 'room',
      settings: { historyVisibility: HistoryVisibility.All, onlyAdminsPost: true },
    });
    for (const id of [ALICE, BOB, CAROL]) expect(await w.listOf(id)).toEqual([room]);
  });

  test('without a request id every call makes one; with one, every retry gets the first', async () => {
    const w = openWorld();
    expect(await w.group(ALICE, [BOB])).not.toBe(await w.group(ALICE, [BOB]));
    const input = groupInput([BOB], { clientRequestId: key('r1') });
    const rooms = await Promise.all(Array.from({ length: 5 }, () => w.writer.createGroup(caller(ALICE), input)));
    expect(new Set(rooms).size).toBe(1);
    expect(await w.head(rooms[0] ?? parseConversationId('none'))).toBe(1);
    expect(await w.writer.createGroup(caller(BOB), input)).not.toBe(rooms[0]);
  });

  test('the same request id with other title, members or settings is a conflict', async () => {
    const w = openWorld();
    const input = groupInput([BOB], { clientRequestId: key('r1') });
    const room = await w.writer.createGroup(caller(ALICE), input);
    const others = [
      { title: 'other' },
      { memberIds: [CAROL] },
      { memberIds: [] },
      { onlyAdminsPost: true },
      { historyVisibility: HistoryVisibility.All },
    ];
    for (const other of others)
      expect(await refusal(w.writer.createGroup(caller(ALICE), { ...input, ...other }))).toBe('IdempotencyConflict');
    expect(await w.listOf(ALICE)).toEqual([room]);
  });

  test('a request id is no obstacle to a message under the same key', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB], { clientRequestId: key('1') });
    expect((await w.send(ALICE, room, { clientMessageId: key('1') })).record.conversationSeq).toBe(2);
  });

  test('a first try that ended before its commit is finished by the retry under the same id', async () => {
    let failing = true;
    const w = openWorld((own) => ({
      messages: {
        ...own.messages,
        commit: async (request) => {
          if (failing) throw unavailable('test');
          return own.messages.commit(request);
        },
      },
    }));
    const input = groupInput([BOB], { clientRequestId: key('r1') });
    const candidate = parseConversationId('g_asked');
    expect(await refusal(w.writer.createGroup(caller(ALICE), input))).toBe('StoreUnavailable');
    const remembered = await w.store.directory.groupForRequest(T0, ALICE, 'r1', candidate);
    failing = false;
    expect(await w.writer.createGroup(caller(ALICE), input)).toBe(remembered);
    expect(remembered).not.toBe(candidate);
  });

  test('a retry by one who left meanwhile is answered, and does not bring the group back', async () => {
    const w = openWorld();
    const input = groupInput([], { clientRequestId: key('r1') });
    const room = await w.writer.createGroup(caller(ALICE), input);
    await w.writer.leaveGroup(caller(ALICE), room);
    expect(await w.writer.createGroup(caller(ALICE), input)).toBe(room);
    expect(await w.listOf(ALICE)).toEqual([]);
  });
});

describe('adding members', () => {
  test('only those who are not in yet are added, in one record; when all are, nothing is written', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    await add(w, ALICE, room, BOB, CAROL, CAROL, DAN);
    expect(await newest(w, room)).toMatchObject({
      conversationSeq: 2,
      content: { control: { kind: ControlKind.Joined, userIds: [CAROL, DAN] } },
    });
    await add(w, ALICE, room, BOB, CAROL);
    expect(await w.head(room)).toBe(2);
    expect(await w.members(room)).toEqual([ALICE, BOB, CAROL, DAN]);
  });

  test('a new member sees the group at once, from the join on, or from the first record where the past is shown', async () => {
    for (const [historyVisibility, visibleFrom] of [
      [HistoryVisibility.FromJoining, 3],
      [HistoryVisibility.All, 1],
    ] as const) {
      const w = openWorld();
      const room = await w.group(ALICE, [], { historyVisibility });
      await w.send(ALICE, room);
      await add(w, ALICE, room, BOB);
      expect(await w.listOf(BOB)).toEqual([room]);
      const view = await w.store.directory.view(T0, BOB, room);
      const { member } = await w.store.messages.readConversation(T0, room, BOB);
      expect(view).toMatchObject({ joinedSeq: 3, visibleFrom });
      expect(member).toMatchObject({ joinedSeq: 3, visibleFrom });
    }
  });

  test('is an admin’s; one who may not is told so only as a member', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    expect(await refusal(add(w, BOB, room, DAN))).toBe('Forbidden');
    expect(await refusal(add(w, BOB, room, ALICE))).toBe('Forbidden');
    expect(await refusal(add(w, CAROL, room, DAN))).toBe('NotMember');
    expect(await refusal(add(w, CAROL, parseConversationId('g_none'), DAN))).toBe('NotMember');
  });

  test('when somebody joined meanwhile, the membership is read again; after three times it is Aborted', async () => {
    let joining: UserId[] = [];
    let commits = 0;
    const w = openWorld((own) => ({
      messages: {
        ...own.messages,
        commit: async (request) => {
          commits += 1;
          const [userId] = joining.splice(0, 1);
          if (userId !== undefined && request.change !== undefined) {
            const change = { kind: 'join', userIds: [userId] } as const;
            const clientMessageId = key(`other-${userId}`);
            await own.messages.commit({
              ...request,
              clientMessageId,
              change,
              content: { kind: 'control', control: { kind: ControlKind.Joined, userIds: [userId] } },
            });
          }
          return own.messages.commit(request);
        },
      },
    }));
    const room = await w.group(ALICE, []);
    joining = [BOB];
    await add(w, ALICE, room, BOB, CAROL);
    expect(await newest(w, room)).toMatchObject({ content: { control: { userIds: [CAROL] } } });
    joining = Array.from({ length: AMEND_TRIES_MAX }, (_, n) => parseUserId(`user-${n}`));
    commits = 0;
    expect(await refusal(add(w, ALICE, room, ...joining, DAN))).toBe('Aborted');
    expect(commits).toBe(AMEND_TRIES_MAX);
    expect(await w.members(room)).not.toContain(DAN);
  });

  test('past the limit of a group is told as the store says it', async () => {
    const w = openWorld((own) => ({
      messages: {
        ...own.messages,
        commit: async (request) => {
          if (request.change !== undefined) throw new MessageStoreError('ResourceLimit', { what: 'members', limit: 1 }, 'full');
          return own.messages.commit(request);
        },
      },
    }));
    const room = await w.group(ALICE, []);
    expect(await refusal(add(w, ALICE, room, BOB))).toBe('ResourceLimit');
  });
});

describe('removing a member', () => {
  test('takes membership, sending and the list entry at once', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    await w.writer.removeMember(caller(ALICE), room, BOB);
    expect(await newest(w, room)).toMatchObject({ content: { control: { kind: ControlKind.Removed, userIds: [BOB] } } });
    expect(await w.members(room)).toEqual([ALICE]);
    expect(await w.listOf(BOB)).toEqual([]);
    expect(await refusal(w.send(BOB, room))).toBe('NotMember');
    expect(await refusal(w.writer.leaveGroup(caller(BOB), room))).toBe('NotMember');
  });

  test('is an admin’s over lower roles; oneself one does not remove, nor one who is not in', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB, CAROL]);
    const remove = (by: UserId, userId: UserId) => refusal(w.writer.removeMember(caller(by), room, userId));
    expect(await remove(BOB, CAROL)).toBe('Forbidden');
    expect(await remove(BOB, ALICE)).toBe('Forbidden');
    expect(await remove(ALICE, ALICE)).toBe('InvalidArgument userId');
    expect(await remove(ALICE, DAN)).toBe('NotFound');
    expect(await remove(DAN, ALICE)).toBe('NotMember');
    expect(await w.head(room)).toBe(1);
    expect(await remove(ALICE, CAROL)).toBe('fine');
  });

  test('an admin does not remove an admin or the owner; the owner removes an admin', async () => {
    const roles = new Map<UserId, Role>([
      [ALICE, Role.Owner],
      [BOB, Role.Admin],
      [CAROL, Role.Admin],
    ]);
    let commits = 0;
    const w = openWorld((own) => ({
      messages: {
        ...own.messages,
        commit: async (request) => {
          commits += 1;
          return own.messages.commit(request);
        },
        readConversation: async (tenantId, conversationId, userId) => {
          const read = await own.messages.readConversation(tenantId, conversationId, userId);
          return { ...read, member: read.member && { ...read.member, role: roles.get(userId) ?? Role.Member } };
        },
        readMembers: async (...args) =>
          new Map(
            [...(await own.messages.readMembers(...args))].map(([id, entry]) => [id, { ...entry, role: roles.get(id) ?? Role.Member }]),
          ),
      },
    }));
    const room = await w.group(ALICE, [BOB, CAROL]);
    expect(await refusal(w.writer.removeMember(caller(BOB), room, CAROL))).toBe('Forbidden');
    expect(await refusal(w.writer.removeMember(caller(BOB), room, ALICE))).toBe('Forbidden');
    // Seen before the step is asked: only the group's own making was.
    expect(commits).toBe(1);
    expect(await refusal(w.writer.removeMember(caller(ALICE), room, BOB))).toBe('fine');
  });

  test('one who left meanwhile is not found', async () => {
    let leaving = true;
    const w = openWorld((own) => ({
      messages: {
        ...own.messages,
        commit: async (request) => {
          if (request.change?.kind === 'leave' && leaving) {
            leaving = false;
            await w.writer.leaveGroup(caller(BOB), request.conversationId);
          }
          return own.messages.commit(request);
        },
      },
    }));
    const room = await w.group(ALICE, [BOB]);
    expect(await refusal(w.writer.removeMember(caller(ALICE), room, BOB))).toBe('NotFound');
  });
});

describe('leaving', () => {
  test('writes one record and ends membership and list entry', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    await w.writer.leaveGroup(caller(BOB), room);
    expect(await newest(w, room)).toMatchObject({
      sender: { userId: BOB },
      content: { control: { kind: ControlKind.Left, userIds: [BOB] } },
    });
    expect(await w.listOf(BOB)).toEqual([]);
    expect(await refusal(w.writer.leaveGroup(caller(BOB), room))).toBe('NotMember');
  });

  test('the last owner leaves only as the last one', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    expect(await refusal(w.writer.leaveGroup(caller(ALICE), room))).toBe('Forbidden');
    await w.writer.leaveGroup(caller(BOB), room);
    expect(await refusal(w.writer.leaveGroup(caller(ALICE), room))).toBe('fine');
    expect(await w.members(room)).toEqual([]);
  });

  test('and joining again starts from the new join', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    await w.writer.leaveGroup(caller(BOB), room);
    await w.send(ALICE, room);
    await add(w, ALICE, room, BOB);
    expect(await w.store.directory.view(T0, BOB, room)).toMatchObject({ joinedSeq: 4, visibleFrom: 4 });
  });
});

test('a direct conversation is no group: nobody is added, removed, or leaves; an outsider learns nothing of it', async () => {
  const w = openWorld();
  const { conversationId } = (await w.sendTo(ALICE, BOB)).record;
  const calls = (by: UserId) => [
    w.writer.addMembers(caller(by), conversationId, [DAN]),
    w.writer.removeMember(caller(by), conversationId, BOB),
    w.writer.leaveGroup(caller(by), conversationId),
  ];
  for (const call of calls(ALICE)) expect(await refusal(call)).toBe('InvalidArgument conversationId');
  for (const call of calls(CAROL)) expect(await refusal(call)).toBe('NotMember');
  expect(await w.head(conversationId)).toBe(1);
});

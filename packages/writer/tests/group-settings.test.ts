import { ControlKind, HistoryVisibility, parseUserId, Role, type UserId } from '@qim/proto';
import { unavailable } from '@qim/store';
import { describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, caller, DAN, openWorld, refusal, seq, T0, type World } from './support.js';

type Room = Awaited<ReturnType<World['group']>>;
const NO_SETTINGS = { historyVisibility: undefined, onlyAdminsPost: undefined, readReceipts: undefined };

const setRole = (w: World, by: UserId, room: Room, userId: UserId, role: Role) => w.writer.setRole(caller(by), room, userId, role);
const update = (w: World, by: UserId, room: Room, title: string | undefined, settings: object = {}) =>
  w.writer.updateConversation(caller(by), { conversationId: room, title, settings: { ...NO_SETTINGS, ...settings } });
const roleOf = async (w: World, room: Room, userId: UserId) => (await w.store.messages.readMembers(T0, room)).get(userId)?.role;
const factsOf = async (w: World, room: Room) => (await w.store.messages.readConversation(T0, room, ALICE)).facts;
const recordAt = async (w: World, room: Room, at: number) => (await w.store.messages.readMessages(T0, room, [seq(at)]))[0]?.record;

describe('roles', () => {
  test('a new role is a record that says whose and which, and holds from then on', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB, CAROL]);
    await setRole(w, ALICE, room, BOB, Role.Admin);
    expect(await recordAt(w, room, 2)).toMatchObject({
      sender: { userId: ALICE },
      content: { control: { kind: ControlKind.Role, userIds: [BOB], role: Role.Admin } },
    });
    await w.writer.removeMember(caller(BOB), room, CAROL);
    await setRole(w, ALICE, room, BOB, Role.Member);
    expect(await refusal(w.writer.addMembers(caller(BOB), room, [CAROL]))).toBe('Forbidden');
  });

  test('the role that one has already writes nothing, so a retry is safe', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    await setRole(w, ALICE, room, BOB, Role.Admin);
    await setRole(w, ALICE, room, BOB, Role.Admin);
    expect(await w.head(room)).toBe(2);
  });

  test.each([
    ['a member', BOB, CAROL, Role.Admin, 'Forbidden'],
    ['an admin', DAN, CAROL, Role.Admin, 'Forbidden'],
    ['an admin, of themself', DAN, DAN, Role.Owner, 'Forbidden'],
    ['an owner, to one who is no member', ALICE, parseUserId('nobody'), Role.Admin, 'NotFound'],
    ['an outsider', parseUserId('nobody'), BOB, Role.Admin, 'NotMember'],
    ['an owner', ALICE, BOB, Role.Owner, 'fine'],
  ] as const)('%s gives a role: %#', async (_, by, whom, role, outcome) => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB, CAROL, DAN]);
    await setRole(w, ALICE, room, DAN, Role.Admin);
    const before = await roleOf(w, room, whom);
    expect(await refusal(setRole(w, by, room, whom, role))).toBe(outcome);
    expect(await roleOf(w, room, whom)).toBe(outcome === 'fine' ? role : before);
  });

  test('nobody takes the role of another owner; one steps down where another stays', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    expect(await refusal(setRole(w, ALICE, room, ALICE, Role.Admin))).toBe('Forbidden');
    await setRole(w, ALICE, room, BOB, Role.Owner);
    expect(await refusal(setRole(w, ALICE, room, BOB, Role.Admin))).toBe('Forbidden');
    expect(await refusal(w.writer.removeMember(caller(ALICE), room, BOB))).toBe('Forbidden');
    await setRole(w, ALICE, room, ALICE, Role.Admin);
    expect(await refusal(setRole(w, BOB, room, BOB, Role.Member))).toBe('Forbidden');
    await w.writer.leaveGroup(caller(ALICE), room);
  });

  test('two owners who leave in one moment: one has left, the other is told to make another owner first', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB, CAROL]);
    await setRole(w, ALICE, room, BOB, Role.Owner);
    const outcomes = await Promise.all([ALICE, BOB].map((user) => refusal(w.writer.leaveGroup(caller(user), room))));
    expect(outcomes.sort()).toEqual(['Forbidden', 'fine']);
    const roles = [...(await w.store.messages.readMembers(T0, room)).values()].map(({ role }) => role);
    expect(roles.filter((role) => role === Role.Owner)).toHaveLength(1);
  });
});

describe('title and settings', () => {
  test('each is a record of its own, and a timeline shows both', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    await update(w, ALICE, room, 'renamed', { onlyAdminsPost: true, readReceipts: true });
    const settings = { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: true, readReceipts: true };
    expect(await recordAt(w, room, 2)).toMatchObject({ content: { control: { kind: ControlKind.Title, title: 'renamed' } } });
    expect(await recordAt(w, room, 3)).toMatchObject({ content: { control: { kind: ControlKind.Settings, settings } } });
    expect(await factsOf(w, room)).toMatchObject({ title: 'renamed', settings });
    expect(await refusal(w.send(BOB, room))).toBe('Forbidden');
  });

  test('what is absent stays, and what says so already writes nothing', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB], { onlyAdminsPost: true });
    await update(w, ALICE, room, undefined);
    await update(w, ALICE, room, 'room', { onlyAdminsPost: true, readReceipts: false });
    expect(await w.head(room)).toBe(1);
    await update(w, ALICE, room, undefined, { historyVisibility: HistoryVisibility.All });
    expect((await factsOf(w, room))?.settings).toMatchObject({ historyVisibility: HistoryVisibility.All, onlyAdminsPost: true });
    expect(await w.head(room)).toBe(2);
  });

  test('two admins who change different settings in one moment both have their way', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB]);
    await setRole(w, ALICE, room, BOB, Role.Admin);
    await Promise.all([
      update(w, ALICE, room, undefined, { onlyAdminsPost: true }),
      update(w, BOB, room, undefined, { readReceipts: true }),
    ]);
    expect((await factsOf(w, room))?.settings).toMatchObject({ onlyAdminsPost: true, readReceipts: true });
  });

  test('an admin may, a member may not, and nobody may in a direct conversation', async () => {
    const w = openWorld();
    const room = await w.group(ALICE, [BOB, CAROL]);
    await setRole(w, ALICE, room, BOB, Role.Admin);
    expect(await refusal(update(w, BOB, room, 'by an admin'))).toBe('fine');
    expect(await refusal(update(w, CAROL, room, 'by a member'))).toBe('Forbidden');
    // Not even to say what holds.
    expect(await refusal(update(w, CAROL, room, undefined))).toBe('Forbidden');
    expect(await refusal(update(w, DAN, room, 'by an outsider'))).toBe('NotMember');
    const { conversationId } = (await w.sendTo(ALICE, BOB)).record;
    expect(await refusal(update(w, ALICE, conversationId, 'x'))).toBe('InvalidArgument conversationId');
    expect((await factsOf(w, conversationId))?.settings.readReceipts).toBe(true);
  });

  test('after no answer a retry finishes what was begun', async () => {
    let commits = 0;
    const w = openWorld((own) => ({
      messages: {
        ...own.messages,
        commit: async (request) => {
          commits += request.change?.kind === 'settings' ? 1 : 0;
          if (commits === 1) throw unavailable('a test');
          return own.messages.commit(request);
        },
      },
    }));
    const room = await w.group(ALICE, [BOB]);
    const once = () => update(w, ALICE, room, 'renamed', { onlyAdminsPost: true });
    commits = 0;
    expect(await refusal(once())).toBe('StoreUnavailable');
    expect(await factsOf(w, room)).toMatchObject({ title: 'renamed', settings: { onlyAdminsPost: false } });
    expect(await refusal(once())).toBe('fine');
    expect(await factsOf(w, room)).toMatchObject({ title: 'renamed', settings: { onlyAdminsPost: true } });
    expect(await w.head(room)).toBe(3);
  });
});

/** What goes with a user, and what stays. */
import { ControlKind, HELD_PAGE_SIZE, Role, SEQ_ZERO } from '@qim/proto';
import { expect, test } from 'vitest';
import { directConversationId } from '../src/index.js';
import { ALICE, BOB, CAROL, caller, DAN, openWorld, seq, T0 } from './support.js';

const admin = { ...caller(DAN), admin: true };

test('a deleted user leaves every group by a record, and nothing of theirs is kept but what was said', async () => {
  const w = openWorld();
  const group = await w.group(ALICE, [BOB, CAROL]);
  const hidden = await w.group(ALICE, [BOB]);
  const said = await w.send(BOB, group);
  const direct = await w.sendTo(BOB, ALICE);
  const { directory, users, messages } = w.store;
  await directory.raiseRead(T0, BOB, group, seq(2));
  await directory.setFlags(T0, BOB, hidden, { hidden: true }, { conversationSeq: seq(9), activityAtMs: 9 });
  await users.setProfile(T0, BOB, { displayName: 'Bob', avatarUrl: '' });
  await users.block(T0, BOB, CAROL);

  await w.writer.deleteUser(admin, BOB);

  expect(await w.members(group)).toEqual([ALICE, CAROL]);
  expect(await w.members(hidden)).toEqual([ALICE]);
  expect(await w.listOf(BOB)).toEqual([]);
  expect(await users.profiles(T0, [BOB])).toEqual([undefined]);
  expect(await users.blocked(T0, BOB)).toEqual([]);
  const [kept] = await messages.readMessages(T0, group, [said.record.conversationSeq]);
  expect(kept?.record).toEqual(said.record);
  const head = await w.head(group);
  const [left] = await messages.readMessages(T0, group, [seq(head ?? 0)]);
  expect(left?.record.content).toEqual({ kind: 'control', control: { kind: ControlKind.Left, userIds: [BOB] } });
  // A direct conversation is its pair: both stay, and the deleted one sees nothing of it.
  const { conversationId } = direct.record;
  expect(conversationId).toBe(directConversationId(T0, ALICE, BOB));
  expect(await w.members(conversationId)).toEqual([ALICE, BOB]);
  expect(await directory.view(T0, BOB, conversationId)).toMatchObject({
    clearedSeq: 1,
    readSeq: SEQ_ZERO,
    flags: { hidden: true, pinned: false },
  });
});

test('a group that loses its only owner gets an admin as owner, or the member of longest standing', async () => {
  const w = openWorld();
  const [one, two, alone] = [await w.group(BOB, [ALICE, CAROL]), await w.group(BOB, [ALICE]), await w.group(BOB, [])];
  await w.writer.setRole(caller(BOB), one, CAROL, Role.Admin);
  await w.writer.addMembers(caller(BOB), two, [CAROL]);
  await w.writer.deleteUser(admin, BOB);
  const roles = async (id: typeof one) =>
    Object.fromEntries([...(await w.store.messages.readMembers(T0, id))].map(([user, { role }]) => [user, role]));
  expect(await roles(one)).toEqual({ [ALICE]: Role.Member, [CAROL]: Role.Owner });
  expect(await roles(two)).toEqual({ [ALICE]: Role.Owner, [CAROL]: Role.Member });
  expect(await roles(alone)).toEqual({});
});

test('of a user in more conversations than a page names, and of one of whom nothing is left, nothing is left', async () => {
  const w = openWorld();
  for (let n = 0; n <= HELD_PAGE_SIZE; n += 1) await w.group(ALICE, [BOB]);
  await w.writer.deleteUser(admin, BOB);
  expect((await w.store.directory.held(T0, BOB, undefined, HELD_PAGE_SIZE)).conversationIds).toEqual([]);
  await w.writer.deleteUser(admin, BOB);
  expect(await w.listOf(BOB)).toEqual([]);
});

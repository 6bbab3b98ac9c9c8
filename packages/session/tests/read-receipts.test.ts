/** How far the others have read: to whom receipts would have told it, and to nobody else. */
import { ControlKind, ConversationKind, HistoryVisibility, parseUserId, RECEIPT_MEMBERS_MAX, Role, type UserId } from '@qim/proto';
import { expect, test } from 'vitest';
import { ALICE, BOB, CAROL, caller, openWorld, refusal, room, seq, type World } from './support.js';

const G = room('read');
const DAN = parseUserId('dan');

/** Record 1 is its making. */
async function group(w: World, userIds: readonly UserId[], readReceipts: boolean, visibility = HistoryVisibility.FromJoining) {
  const members = userIds.map((userId) => ({ userId, role: userId === ALICE ? Role.Owner : Role.Member }));
  const settings = { historyVisibility: visibility, onlyAdminsPost: false, readReceipts };
  const create = { kind: ConversationKind.Group, title: 'room', settings, members, onlyNew: true };
  const outcome = await w.control(ALICE, G, { kind: ControlKind.Created, title: 'room', userIds }, { create });
  await w.list(userIds, G, outcome);
}

async function marks(w: World, by: UserId): Promise<Record<string, number>> {
  return Object.fromEntries(await w.session.othersRead(caller(by), G));
}

test('is told to the others, and of oneself nothing', async () => {
  const w = openWorld();
  await group(w, [ALICE, BOB, CAROL], true);
  for (let n = 2; n <= 5; n += 1) await w.say(ALICE, G);
  await w.session.markRead(caller(BOB), G, seq(4));
  await w.session.markRead(caller(ALICE), G, seq(5));
  expect([await marks(w, ALICE), await marks(w, BOB), await marks(w, CAROL)]).toEqual([{ bob: 4 }, { alice: 5 }, { alice: 5, bob: 4 }]);
});

test('is told to nobody where the setting is off, and to no stranger', async () => {
  const w = openWorld();
  await group(w, [ALICE, BOB], false);
  await w.session.markRead(caller(BOB), G, seq(1));
  expect(await marks(w, ALICE)).toEqual({});
  expect(await refusal(w.session.othersRead(caller(DAN), G))).toBe('NotMember');
});

test('is told of what the asker sees alone, and not of what was read before one joined', async () => {
  const w = openWorld();
  await group(w, [ALICE, BOB], true);
  for (let n = 2; n <= 5; n += 1) await w.say(ALICE, G);
  await w.session.markRead(caller(BOB), G, seq(5));
  await w.add(G, CAROL);
  expect(await marks(w, CAROL)).toEqual({});
  await w.session.markRead(caller(BOB), G, seq(6));
  expect(await marks(w, CAROL)).toEqual({ bob: 6 });
  // Left and joined again: what Bob had read then is below his joining.
  await w.remove(G, BOB);
  await w.add(G, BOB);
  expect(await marks(w, ALICE)).toEqual({});
});

test.each([
  ['at the bound is told', RECEIPT_MEMBERS_MAX, { bob: 1 }],
  ['past it is not', RECEIPT_MEMBERS_MAX + 1, {}],
])('of a group %s', async (_, count, told) => {
  const w = openWorld();
  const crowd = Array.from({ length: count - 2 }, (_, n) => parseUserId(`user-${n}`));
  await group(w, [ALICE, BOB, ...crowd], true);
  await w.session.markRead(caller(BOB), G, seq(1));
  expect(await marks(w, ALICE)).toEqual(told);
});

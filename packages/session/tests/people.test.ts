/** Profiles, blocks and reports. */
import { BLOCKED_PAGE_SIZE, PROFILES_PER_CALL_MAX, parseUserId } from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, caller, openWorld, refusal, room, seq, T7 } from './support.js';

const G = room('a');
const bob = caller(BOB);

describe('a profile', () => {
  test('is seen by everybody of the tenant, and by nobody else', async () => {
    const w = openWorld();
    const bobs = { displayName: 'Bob', avatarUrl: 'https://example.com/b.png' };
    expect(await w.session.setProfile(bob, bobs)).toEqual({ userId: BOB, ...bobs });
    expect(await w.session.getProfiles(caller(CAROL), [ALICE, BOB])).toEqual([
      { userId: ALICE, displayName: '', avatarUrl: '' },
      { userId: BOB, ...bobs },
    ]);
    expect(await w.session.getProfiles(caller(CAROL, T7), [BOB])).toEqual([{ userId: BOB, displayName: '', avatarUrl: '' }]);
  });

  test('of PROFILES_PER_CALL_MAX users is read at once, and not of one more', async () => {
    const w = openWorld();
    const ids = (count: number) => Array.from({ length: count }, (_, n) => parseUserId(`u${n}`));
    expect(await w.session.getProfiles(bob, ids(PROFILES_PER_CALL_MAX))).toHaveLength(PROFILES_PER_CALL_MAX);
    expect(await refusal(w.session.getProfiles(bob, ids(PROFILES_PER_CALL_MAX + 1)))).toBe('InvalidArgument userIds');
    expect(await w.session.getProfiles(bob, [])).toEqual([]);
  });
});

describe('blocked users', () => {
  test('are listed by the bytes of their ids, a page at a time, and gone when unblocked', async () => {
    const w = openWorld();
    const others = Array.from({ length: BLOCKED_PAGE_SIZE + 1 }, (_, n) => parseUserId(`u${String(n).padStart(3, '0')}`));
    for (const other of others.toReversed()) await w.session.blockUser(bob, other);
    const first = await w.session.listBlocked(bob, '');
    expect(first.userIds).toEqual(others.slice(0, BLOCKED_PAGE_SIZE));
    expect(await w.session.listBlocked(bob, first.nextPageToken)).toEqual({ userIds: others.slice(-1), nextPageToken: '' });
    expect(await refusal(w.session.listBlocked(caller(CAROL), first.nextPageToken))).toBe('InvalidArgument pageToken');
    for (const other of others) await w.session.unblockUser(bob, other);
    expect(await w.session.listBlocked(bob, '')).toEqual({ userIds: [], nextPageToken: '' });
  });

  test('are never oneself', async () => {
    expect(await refusal(openWorld().session.blockUser(bob, BOB))).toBe('InvalidArgument userId');
  });
});

describe('a report', () => {
  test('keeps the place of the message and who sent it, for the admins of the tenant', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    const { messageId } = await w.say(ALICE, G);
    const ref = { conversationId: G, conversationSeq: seq(2), messageId };
    const report = await w.session.reportMessage(bob, ref, 'rude');
    expect(report).toMatchObject({ ...ref, reporterId: BOB, senderId: ALICE, comment: 'rude', reportedAtMs: w.clock.nowMs });
    expect(await w.session.listReports(caller(CAROL), 0)).toEqual([report]);
    expect(await w.session.listReports(caller(CAROL, T7), 0)).toEqual([]);
  });

  test('is of a message that the member may see', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    const { messageId } = await w.say(ALICE, G);
    const other = await w.say(ALICE, G);
    await w.add(G, CAROL);
    const ref = { conversationId: G, conversationSeq: seq(2), messageId };
    expect(await refusal(w.session.reportMessage(caller(CAROL), ref, ''))).toBe('NotFound');
    expect(await refusal(w.session.reportMessage(bob, { ...ref, messageId: other.messageId }, ''))).toBe('NotFound');
    expect(await refusal(w.session.reportMessage(bob, { ...ref, conversationSeq: seq(99) }, ''))).toBe('NotFound');
    expect(await refusal(w.session.reportMessage(caller(parseUserId('mallory')), ref, ''))).toBe('NotMember');
    await w.session.clearHistory(bob, G, seq(2));
    expect(await refusal(w.session.reportMessage(bob, ref, ''))).toBe('NotFound');
    expect(await w.session.listReports(caller(CAROL), 200)).toEqual([]);
  });
});

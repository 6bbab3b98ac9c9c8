/** Cases of both stores: amendments, members, de-duplication entries, and what users' own keys say of their conversations. */
import { FSCK_USERS_AT_ONCE, MEMBERS_PER_CALL_MAX, Role, type UserId } from '@qim/proto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { formatViewEntry, type ViewEntry, ViewFlag, ViewState } from '../src/directory/view-entry.js';
import { type Chat, seq, TENANT } from '../src/testing/conformance/fixture.js';
import type { VerifiedStore } from './verify-backends.js';
import { Subject, type Verified } from './verify-harness.js';

const VIEW: ViewEntry = {
  joinedSeq: seq(1),
  visibleFrom: seq(1),
  clearedSeq: seq(0),
  hiddenSeq: seq(0),
  memberSeq: seq(1),
  flags: 0,
  state: ViewState.Listed,
};

export function entryCases(store: VerifiedStore): void {
  let subject: Subject;
  let chat: Chat;
  let alice: UserId;
  let bob: UserId;
  beforeAll(async () => {
    subject = await Subject.open(store);
    ({ alice, bob } = subject);
  });
  afterAll(() => subject.backend.close());
  beforeEach(async () => {
    chat = subject.fixture.direct(alice, bob);
    await chat.sayTimes(alice, 3);
    await subject.list(chat);
    await subject.deliverAll();
    expect((await verify()).places).toEqual([]);
  });

  const scope = () => ({ tenantId: chat.tenantId, conversationId: chat.conversationId });
  const verify = (options = {}): Promise<Verified> => subject.verify({ ...scope(), ...options });
  /** Found, mended, gone, and nothing else was. */
  async function mends(...found: string[]): Promise<Verified> {
    const repaired = await subject.mends(scope(), found);
    expect(repaired.mended.map(([place]) => place)).toEqual(found);
    return repaired;
  }
  /** The same, of a user who is found by the user and not by the conversation. */
  async function mendsOf(userId: UserId, ...found: string[]): Promise<void> {
    await subject.mends({ tenantId: TENANT, userId }, found);
  }
  const view = (userId = bob) => subject.backend.store.directory.view(TENANT, userId, chat.conversationId);
  const listed = async (userId = bob): Promise<boolean> =>
    (await subject.backend.store.directory.page(TENANT, userId, 100, undefined)).views.some(
      ({ conversationId }) => conversationId === chat.conversationId,
    );
  const plantView = (entry: Partial<ViewEntry>, userId = bob): Promise<void> =>
    subject.plantUser(userId, chat.conversationId, { kind: 'view', entry: { ...VIEW, ...entry } });

  describe(`${store.name}: amendments entries`, () => {
    beforeEach(async () => {
      await chat.edit(1, 'edited');
      await chat.edit(2, 'edited');
      await subject.deliverAll();
    });

    test('of an amended record that has none is made, with a number that no device has seen', async () => {
      await subject.plant(chat, { kind: 'dropAmendment', sequence: seq(1) });
      await mends('amendmentMissing@1');
      expect((await subject.facts(chat)).amendmentNumber).toBe(3);
      const page = await chat.messages.catchUp({
        ...{ tenantId: TENANT, userId: bob, conversationId: chat.conversationId, clearedSeq: seq(0) },
        ...{ epoch: 0, after: seq(3), amendmentCursor: 2, limit: 10 },
      });
      expect(page).toMatchObject({ kind: 'page', amended: [{ conversationSeq: 1 }] });
    });

    test('of a record that was not amended, or is not there, go', async () => {
      await subject.plant(chat, { kind: 'amendment', sequence: seq(3), number: 3 }, { kind: 'amendment', sequence: seq(9), number: 4 });
      await subject.plantFacts(chat, { amendmentNumber: 4 });
      const wrong = ['amendmentLeftOver@3', 'amendmentLeftOver@9'];
      expect((await verify()).places).toEqual(wrong);
      const repaired = await verify({ repair: 'yes' });
      // Without them the facts count more than there is.
      expect([repaired.left, repaired.mended.map(([place]) => place)]).toEqual([[], [...wrong, 'amendmentMissing']]);
      expect((await verify()).places).toEqual([]);
    });

    test('fewer than the facts count: the number goes back, and devices begin anew', async () => {
      const { epoch } = await subject.facts(chat);
      await subject.plantFacts(chat, { amendmentNumber: 4 });
      await mends('amendmentMissing');
      expect(await subject.facts(chat)).toMatchObject({ amendmentNumber: 2, epoch: epoch + 1 });
    });

    test('past the facts raise the facts', async () => {
      await subject.plantFacts(chat, { amendmentNumber: 1 });
      await mends('amendmentWrong');
      expect((await subject.facts(chat)).amendmentNumber).toBe(2);
    });

    test('past any number that is ever reached are made anew', async () => {
      await subject.plant(chat, { kind: 'amendment', sequence: seq(2), number: 2 ** 50 });
      expect((await verify()).places).toEqual(['amendmentWrong@2']);
      expect((await verify({ repair: 'yes' })).left).toEqual([]);
      expect((await verify()).places).toEqual([]);
      expect((await subject.facts(chat)).amendmentNumber).toBe(3);
    });
  });

  describe(`${store.name}: members`, () => {
    test('who joined after the newest record joined at it', async () => {
      await subject.plant(chat, { kind: 'member', userId: bob, entry: { role: Role.Admin, joinedSeq: seq(9), visibleFrom: seq(9) } });
      await subject.list(chat, bob);
      expect((await verify()).places).toEqual(['memberAhead/bob', 'viewAhead/bob']);
      expect((await verify({ repair: 'yes' })).left).toEqual([]);
      expect((await verify()).places).toEqual([]);
      const { member } = await chat.messages.readConversation(TENANT, chat.conversationId, bob);
      expect(member).toEqual({ role: Role.Admin, joinedSeq: 3, visibleFrom: 3 });
      await chat.say(alice);
      expect(await chat.page(bob)).toEqual([[3, 4], false]);
    });

    test('of a group whose entry is damaged are members since when their own list says, with the least role', async () => {
      const carol = subject.fixture.user('carol');
      chat = await subject.fixture.group(alice, [bob]);
      await chat.say(alice);
      await chat.join(alice, carol);
      await chat.say(alice);
      await subject.list(chat);
      await subject.deliverAll();
      for (const userId of [alice, carol]) {
        await subject.backend.damage({ tenantId: TENANT, conversationId: chat.conversationId, userId }, 'memberUnreadable');
      }
      expect([...(await verify()).places].sort()).toEqual(['memberUnreadable/alice', 'memberUnreadable/carol']);
      expect((await verify({ repair: 'yes' })).left).toEqual([]);
      expect((await verify()).places).toEqual([]);
      const members = await chat.messages.readMembers(TENANT, chat.conversationId);
      expect(members.get(alice)).toEqual({ role: Role.Member, joinedSeq: 1, visibleFrom: 1 });
      expect(members.get(carol)).toEqual({ role: Role.Member, joinedSeq: 3, visibleFrom: 3 });
      expect((await subject.quarantine(chat)).map(({ was, userId }) => [was, userId]).sort()).toEqual(
        [alice, carol].map((userId) => ['a member entry', userId]).sort(),
      );
    });

    test('of a group whose entry is damaged, and whose list knows nothing, see what comes from now on', async () => {
      chat = await subject.fixture.group(alice, [bob]);
      await chat.sayTimes(alice, 4);
      await subject.backend.damage({ tenantId: TENANT, conversationId: chat.conversationId, userId: bob }, 'memberUnreadable');
      expect((await verify({ repair: 'yes' })).left).toEqual([]);
      const { member } = await chat.messages.readConversation(TENANT, chat.conversationId, bob);
      expect(member).toEqual({ role: Role.Member, joinedSeq: 5, visibleFrom: 5 });
    });

    test('whose name is no user id are put aside', async () => {
      await subject.backend.oddMember(chat);
      expect((await verify()).places).toEqual(['memberUnreadable']);
      expect((await verify({ repair: 'yes' })).left).toEqual([]);
      expect((await verify()).places).toEqual([]);
      expect((await subject.quarantine(chat)).map(({ bytes }) => bytes?.toString())).toEqual(['1 1 1']);
    });
  });

  describe(`${store.name}: de-duplication entries`, () => {
    test('that cannot be understood go', async () => {
      await subject.backend.breakDedup(chat);
      await mends(...[1, 2, 3].map(() => 'dedupUnreadable/alice'));
      expect((await chat.say(alice)).conversationSeq).toBe(4);
    });

    test('that outlive their records are no fault', async () => {
      await chat.messages.retain(TENANT, chat.conversationId, { olderThanMs: undefined, keepNewest: 1 });
      expect((await verify()).places).toEqual([]);
    });
  });

  describe(`${store.name}: a list`, () => {
    test('that does not know the conversation gets it back', async () => {
      await subject.plantUser(bob, chat.conversationId, { kind: 'dropView' }, { kind: 'unlist' });
      expect(await listed()).toBe(false);
      await mends('viewMissing/bob');
      expect([await listed(), (await view())?.joinedSeq]).toEqual([true, 1]);
    });

    test('that says the member has left keeps what was cleared', async () => {
      await plantView({ state: ViewState.Tombstone, clearedSeq: seq(2), flags: ViewFlag.Muted | ViewFlag.Hidden, memberSeq: seq(3) });
      await subject.plantUser(bob, chat.conversationId, { kind: 'unlist' });
      await mends('viewMissing/bob');
      expect(await view()).toMatchObject({ clearedSeq: 2, flags: { muted: true, hidden: false } });
      expect(await listed()).toBe(true);
    });

    test('without a place for it gets one, unless the user has hidden it', async () => {
      await subject.plantUser(bob, chat.conversationId, { kind: 'unlist' });
      await mends('listEntryMissing/bob');
      expect(await listed()).toBe(true);
      await plantView({ flags: ViewFlag.Hidden, hiddenSeq: seq(3) });
      await subject.plantUser(bob, chat.conversationId, { kind: 'unlist' });
      expect((await verify()).places).toEqual([]);
    });

    test('is not held to what is still on its way', async () => {
      await subject.plantUser(bob, chat.conversationId, { kind: 'dropView' }, { kind: 'unlist' });
      await plantView({ joinedSeq: seq(2), visibleFrom: seq(2) }, alice);
      await subject.backend.advance(1_000);
      await chat.say(alice);
      expect((await verify()).places).toEqual([]);
      await subject.deliverAll();
      expect([...(await verify()).places].sort()).toEqual(['orderBehind/alice', 'viewMissing/bob', 'viewWrong/alice']);
    });

    test('that orders it before its newest record moves it up', async () => {
      await subject.plantUser(bob, chat.conversationId, { kind: 'listed', activityAtMs: 1 });
      await mends('orderBehind/bob');
    });

    test('of one who is no member loses it', async () => {
      const carol = subject.fixture.user('carol');
      await plantView({}, carol);
      await subject.plantUser(carol, chat.conversationId, { kind: 'listed', activityAtMs: 5 });
      await mendsOf(carol, 'viewLeftOver/carol', 'listEntryLeftOver/carol');
      expect([await listed(carol), await view(carol)]).toEqual([false, undefined]);
    });

    test('loses a conversation that does not exist', async () => {
      const dave = subject.fixture.user('dave');
      const nowhere = subject.fixture.conversationId();
      await subject.plantUser(
        dave,
        nowhere,
        { kind: 'view', entry: VIEW },
        { kind: 'listed', activityAtMs: 5 },
        { kind: 'readMark', readSeq: seq(2) },
      );
      await mendsOf(dave, 'viewLeftOver/dave', 'listEntryLeftOver/dave', 'readMarkLeftOver/dave');
    });

    test('of one who has left keeps its tombstone and its read mark', async () => {
      const erin = subject.fixture.user('erin');
      chat = await subject.fixture.group(alice, [bob, erin]);
      await subject.list(chat);
      await subject.backend.store.directory.raiseRead(TENANT, erin, chat.conversationId, seq(1));
      const { conversationSeq } = await chat.leave(erin, erin);
      await subject.backend.store.directory.leave(TENANT, chat.conversationId, [erin], conversationSeq);
      await subject.deliverAll();
      expect((await verify({ conversationId: undefined, userId: erin })).places).toEqual([]);
    });
  });

  test(`${store.name}: the lists of FSCK_USERS_AT_ONCE members and more are all looked at`, async () => {
    const others = Array.from({ length: FSCK_USERS_AT_ONCE + 1 }, (_, n) => subject.fixture.user(`m${n}`));
    chat = await subject.fixture.group(alice, others.slice(0, MEMBERS_PER_CALL_MAX));
    for (let from = MEMBERS_PER_CALL_MAX; from < others.length; from += MEMBERS_PER_CALL_MAX) {
      await chat.join(alice, ...others.slice(from, from + MEMBERS_PER_CALL_MAX));
    }
    await subject.list(chat);
    await subject.deliverAll();
    const { conversationId } = chat;
    for (const userId of others) await subject.plantUser(userId, conversationId, { kind: 'unlist' });
    expect((await verify()).places).toHaveLength(others.length);
    expect((await verify({ repair: 'yes' })).left).toEqual([]);
    expect((await verify()).places).toEqual([]);
  });

  describe(`${store.name}: a view entry`, () => {
    test('that cannot be understood is made from the member entry', async () => {
      await subject.backend.breakEntry('view', bob, chat.conversationId, 'no such form');
      await mends('viewUnreadable/bob');
      expect(await view()).toMatchObject({ joinedSeq: 1, visibleFrom: 1, clearedSeq: 0 });
    });

    test('that cannot be understood, of one who is no member, goes', async () => {
      const frank = subject.fixture.user('frank');
      await subject.backend.breakEntry('view', frank, chat.conversationId, formatViewEntry(VIEW).slice(2));
      await mendsOf(frank, 'viewUnreadable/frank');
    });

    test('with another floor than the member entry gets that of the member entry', async () => {
      await plantView({ joinedSeq: seq(3), visibleFrom: seq(2), clearedSeq: seq(1), memberSeq: seq(3) });
      await mends('viewWrong/bob');
      expect(await view()).toMatchObject({ joinedSeq: 1, visibleFrom: 1, clearedSeq: 1, memberSeq: 3 });
    });

    test('past the newest record would hide what comes: it is brought back', async () => {
      await plantView({ clearedSeq: seq(9), hiddenSeq: seq(8), memberSeq: seq(7) });
      await mends('viewAhead/bob');
      expect(await view()).toMatchObject({ clearedSeq: 3, memberSeq: 3 });
      await chat.say(alice);
      expect(await chat.unread(bob, 3)).toEqual([1, true]);
    });
  });

  describe(`${store.name}: a pin`, () => {
    const flags = async () => (await view())?.flags;

    test('of one who is a member and has not hidden the conversation is as it should be', async () => {
      await subject.plantUser(bob, chat.conversationId, { kind: 'pin', pinnedAtMs: 5 });
      expect((await verify()).places).toEqual([]);
      expect(await flags()).toMatchObject({ pinned: true });
    });

    test('of a hidden conversation, or without a time, goes', async () => {
      await plantView({ flags: ViewFlag.Hidden, hiddenSeq: seq(3) });
      await subject.plantUser(bob, chat.conversationId, { kind: 'unlist' }, { kind: 'pin', pinnedAtMs: 5 });
      await mends('pinWrong/bob');
      expect(await flags()).toMatchObject({ pinned: false, hidden: true });
    });

    test('of one who is no member goes, and so does that of no conversation', async () => {
      const carol = subject.fixture.user('carol');
      await subject.plantUser(carol, chat.conversationId, { kind: 'pin', pinnedAtMs: 5 });
      await subject.plantUser(carol, subject.fixture.conversationId(), { kind: 'pin', pinnedAtMs: 6 });
      await mendsOf(carol, 'pinLeftOver/carol', 'pinLeftOver/carol');
    });
  });

  describe(`${store.name}: what is kept of a user beside conversations`, () => {
    test('that is whole is no finding, and one who has nothing else is looked at', async () => {
      const dora = subject.fixture.user('dora');
      const { users } = subject.backend.store;
      await users.setProfile(TENANT, dora, { displayName: 'Dora', avatarUrl: '' });
      await users.block(TENANT, dora, bob);
      await users.suspend(TENANT, dora, undefined, true);
      expect((await verify({ conversationId: undefined, userId: dora })).places).toEqual([]);
    });

    test('a profile that is none goes, and so does a blocked name that is no user', async () => {
      const erik = subject.fixture.user('erik');
      await subject.backend.breakUser('profile', erik);
      await subject.backend.breakUser('blocks', erik);
      await mendsOf(erik, 'profileUnreadable/erik', 'blockLeftOver/erik');
      expect(await subject.backend.store.users.profiles(TENANT, [erik])).toEqual([undefined]);
    });
  });

  describe(`${store.name}: a read mark`, () => {
    test('past the newest record is brought back to it, and what comes counts', async () => {
      await subject.backend.store.directory.raiseRead(TENANT, bob, chat.conversationId, seq(90));
      expect((await chat.sound(bob, 90)).listing.watermarkAhead).toBe(true);
      await mends('readMarkAhead/bob');
      expect((await view())?.readSeq).toBe(3);
      await chat.say(alice);
      expect(await chat.unread(bob, 3)).toEqual([1, true]);
    });

    test('that cannot be understood counts as none, and goes', async () => {
      await subject.backend.breakEntry('readMark', bob, chat.conversationId, '007');
      await mends('readMarkUnreadable/bob');
      expect((await view())?.readSeq).toBe(0);
    });
  });
}

import {
  ControlKind,
  HistoryVisibility,
  LIST_PAGE_SIZE_DEFAULT,
  LIST_PAGE_SIZE_MAX,
  MessageStatus,
  parseConversationId,
  parseUserId,
  Role,
  SEQ_ZERO,
} from '@qim/proto';
import { type ConversationReading, corrupt } from '@qim/store';
import { describe, expect, test, vi } from 'vitest';
import { ALICE, BOB, CAROL, caller, openWorld, refusal, rereading, reviewing, room, seq, T0, T7 } from './support.js';

const G = room('a');
const first = { pageSize: 0, pageToken: '', explain: false };
const ids = (conversations: readonly { conversationId: string }[]) => conversations.map(({ conversationId }) => conversationId);

describe('a page', () => {
  test('is ordered by last activity, newest first, and is the caller’s alone', async () => {
    const w = openWorld();
    await w.group(room('a'), [ALICE, BOB]);
    await w.group(room('b'), [ALICE, BOB]);
    await w.group(room('c'), [ALICE]);
    await w.say(BOB, room('a'));
    expect(ids(await w.listAll(BOB))).toEqual([room('a'), room('b')]);
    expect(ids(await w.listAll(ALICE))).toEqual([room('a'), room('c'), room('b')]);
    expect(await w.listAll(CAROL)).toEqual([]);
    expect((await w.session.listConversations(caller(BOB, T7), first)).conversations).toEqual([]);
  });

  test('of nothing asks the store for nothing', async () => {
    const readConversations = vi.fn();
    const w = openWorld(() => ({ messages: { readConversations } }));
    expect(await w.session.listConversations(caller(BOB), first)).toEqual({ conversations: [], nextPageToken: '', damagedCount: 0 });
    expect(readConversations).not.toHaveBeenCalled();
  });

  test('holds 50 unless asked otherwise, and at most 100', async () => {
    const w = openWorld();
    for (let n = 0; n < LIST_PAGE_SIZE_MAX + 1; n += 1) await w.group(room(`r${n}`), [ALICE]);
    const sizes = await Promise.all(
      [0, 1, LIST_PAGE_SIZE_MAX].map(
        async (pageSize) => (await w.session.listConversations(caller(ALICE), { ...first, pageSize })).conversations.length,
      ),
    );
    expect(sizes).toEqual([LIST_PAGE_SIZE_DEFAULT, 1, LIST_PAGE_SIZE_MAX]);
    for (const pageSize of [LIST_PAGE_SIZE_MAX + 1, -1, 1.5, Number.NaN]) {
      expect(await refusal(w.session.listConversations(caller(ALICE), { ...first, pageSize }))).toBe('InvalidArgument pageSize');
    }
  });

  test('shows what it needs: kind, title, settings, role, the other one, flags', async () => {
    const w = openWorld(reviewing(() => ({ flags: { pinned: false, muted: true, hidden: false, markedUnread: true } })));
    await w.group(G, [ALICE, BOB], { visibility: HistoryVisibility.All });
    await w.direct(parseConversationId('d_ab'), ALICE, BOB);
    await w.direct(parseConversationId('d_bb'), BOB, BOB);
    const [self, direct, group] = await w.listAll(BOB);
    expect(self).toMatchObject({ conversationId: 'd_bb', peerUserId: BOB, role: Role.Member });
    expect(direct).toMatchObject({ conversationId: 'd_ab', peerUserId: ALICE, listing: { title: '' } });
    expect(group).toMatchObject({
      peerUserId: undefined,
      listing: { title: `room ${G}`, settings: { historyVisibility: HistoryVisibility.All } },
      flags: { muted: true, markedUnread: true },
    });
    expect((await w.listAll(ALICE)).find(({ conversationId }) => conversationId === G)).toMatchObject({ role: Role.Owner });
  });

  test('explains itself only when asked', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    await w.say(ALICE, G);
    await w.say(BOB, G);
    await w.session.markRead(caller(BOB), G, seq(1));
    const page = await w.session.listConversations(caller(BOB), { ...first, explain: true });
    expect(page.conversations[0]).toMatchObject({
      explanation: {
        readConversationSeq: 1,
        unreadFloor: 1,
        headConversationSeq: 3,
        scanned: 2,
        own: 1,
        control: 0,
        recalled: 0,
        deleted: 0,
        chainUnbroken: true,
      },
    });
    expect((await w.session.listConversations(caller(BOB), first)).conversations[0]).toMatchObject({ explanation: undefined });
  });
});

describe('paging', () => {
  test('meets every conversation, ends, and ends on a last page that is just full', async () => {
    const w = openWorld();
    for (let n = 0; n < 60; n += 1) await w.group(room(`r${n}`), [ALICE]);
    for (const pageSize of [7, 20, 59, 60]) expect(new Set(ids(await w.listAll(ALICE, pageSize))).size).toBe(60);
    expect((await w.session.listConversations(caller(ALICE), { ...first, pageSize: 60 })).nextPageToken).toBe('');
  });

  test('goes on over a page all of whose entries were dropped', async () => {
    const w = openWorld();
    for (let n = 0; n < 6; n += 1) {
      await w.group(room(`r${n}`), [ALICE, BOB]);
      // The removals of four have not reached the user’s own keys.
      if (n >= 2) await w.remove(room(`r${n}`), BOB, false);
    }
    const page = await w.session.listConversations(caller(BOB), { ...first, pageSize: 4 });
    expect(page.conversations).toEqual([]);
    expect(page.nextPageToken).not.toBe('');
    expect(ids(await w.listAll(BOB, 4))).toEqual([room('r1'), room('r0')]);
  });

  test('a conversation that moves up between two pages is not lost to a list by id', async () => {
    const w = openWorld();
    for (let n = 0; n < 60; n += 1) await w.group(room(`r${n}`), [ALICE, BOB]);
    const met = new Set<string>();
    let pageToken = '';
    let pages = 0;
    do {
      const page = await w.session.listConversations(caller(BOB), { pageSize: 20, pageToken, explain: false });
      for (const id of ids(page.conversations)) met.add(id);
      // One from the last page comes to the top; a device gets the event and lists it anew.
      await w.say(ALICE, room(`r${pages}`));
      met.add((await w.session.listConversations(caller(BOB), { ...first, pageSize: 1 })).conversations[0]?.conversationId ?? '');
      pageToken = page.nextPageToken;
      pages += 1;
    } while (pageToken !== '');
    expect(met.size).toBe(60);
    expect(pages).toBeLessThanOrEqual(4);
  });

  test('conversations of one millisecond are each met once, whatever the size of the page', async () => {
    const w = openWorld();
    for (let n = 0; n < 45; n += 1) {
      w.clock.nowMs = 1_700_000_000_000;
      await w.group(room(`r${n}`), [ALICE]);
    }
    for (const pageSize of [1, 20, 44])
      expect(ids(await w.listAll(ALICE, pageSize)).sort()).toEqual(Array.from({ length: 45 }, (_, n) => room(`r${n}`)).sort());
  });
});

describe('membership decides, not the user’s lagging keys', () => {
  test('one who was removed has no entry and no answer, though the list still holds it', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    await w.remove(G, BOB, false);
    expect(await w.store.directory.view(T0, BOB, G)).toBeDefined();
    expect(await w.listAll(BOB)).toEqual([]);
    expect(await refusal(w.one(BOB, G))).toBe('NotMember');
  });

  test('removed and joined again: counted from the later join, at once', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    for (let n = 0; n < 5; n += 1) await w.say(ALICE, G);
    await w.remove(G, BOB, false);
    await w.add(G, BOB, false);
    await w.say(ALICE, G);
    const [entry] = await w.listAll(BOB);
    expect(entry).toMatchObject({ summary: { latestConversationSeq: 9, unreadCount: 1, unreadExact: true } });
  });

  test('a new member of a group with a long past has nothing unread, then one', async () => {
    for (const visibility of [HistoryVisibility.FromJoining, HistoryVisibility.All]) {
      const w = openWorld();
      await w.group(G, [ALICE], { visibility });
      for (let n = 0; n < 300; n += 1) await w.say(ALICE, G);
      await w.add(G, BOB);
      expect(await w.one(BOB, G)).toMatchObject({ summary: { unreadCount: 0, unreadExact: true } });
      await w.say(ALICE, G);
      expect(await w.one(BOB, G)).toMatchObject({ summary: { unreadCount: 1, unreadExact: true } });
    }
  });

  test('a member whose join has not reached the list is answered with the right count', async () => {
    const w = openWorld();
    await w.group(G, [ALICE]);
    for (let n = 0; n < 300; n += 1) await w.say(ALICE, G);
    await w.add(G, BOB, false);
    await w.say(ALICE, G);
    expect(await w.one(BOB, G, true)).toMatchObject({
      readConversationSeq: 0,
      summary: { unreadCount: 1, unreadExact: true },
      explanation: { unreadFloor: 301 },
    });
  });

  test('is read once more with the corrected floor, and only what needs it', async () => {
    const asked: number[][] = [];
    const w = openWorld((store) => ({
      messages: {
        readConversations: async (tenantId, userId, states) => {
          asked.push(states.map(({ watermark }) => watermark));
          return store.messages.readConversations(tenantId, userId, states);
        },
      },
    }));
    await w.group(room('b'), [ALICE, BOB]);
    await w.group(G, [ALICE, BOB]);
    await w.remove(G, BOB, false);
    await w.add(G, BOB, false);
    expect(ids(await w.listAll(BOB))).toEqual([G, room('b')]);
    expect(asked).toEqual([[0, 0], [2]]);
  });

  test('a membership that moves on every read ends: the list goes on without it, the one call is told to retry', async () => {
    let joined = 10;
    const moving = rereading((reading): ConversationReading | undefined => {
      if (reading.kind !== 'sound' || reading.summary.conversationId !== G) return undefined;
      joined += 10;
      return {
        ...reading,
        listing: { ...reading.listing, member: { role: Role.Member, joinedSeq: seq(joined), visibleFrom: seq(joined) } },
      };
    });
    const w = openWorld(moving);
    await w.group(G, [ALICE, BOB]);
    await w.group(room('b'), [ALICE, BOB]);
    expect(ids(await w.listAll(BOB))).toEqual([room('b')]);
    expect(await refusal(w.one(BOB, G))).toBe('Aborted');
  });

  test('outsider, former member, other tenant and no such conversation get one and the same answer', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    await w.remove(G, BOB);
    const calls = [w.one(CAROL, G), w.one(BOB, G), w.session.getConversation(caller(ALICE, T7), G, false), w.one(ALICE, room('none'))];
    const answers = await Promise.all(calls.map((call) => call.then(() => 'fine', String)));
    expect(new Set(answers)).toEqual(new Set(['QimError: no such conversation']));
  });
});

describe('damage', () => {
  const damaged = (
    over: Partial<Extract<ConversationReading, { kind: 'damaged' }>>,
  ): Extract<ConversationReading, { kind: 'damaged' }> => ({
    kind: 'damaged',
    conversationId: G,
    error: corrupt(T0, G, 'chainBroken', seq(3)),
    listing: undefined,
    member: undefined,
    memberKnown: true,
    ...over,
  });
  const showing = (reading: ConversationReading) =>
    openWorld(rereading((read) => (read.kind === 'sound' && read.summary.conversationId === G ? reading : undefined)));

  test('a damaged conversation of somebody else’s is dropped and not told', async () => {
    const w = showing(damaged({}));
    await w.group(G, [ALICE, BOB]);
    expect(await w.listAll(BOB)).toEqual([]);
    expect(await refusal(w.one(BOB, G))).toBe('NotMember');
  });

  test('missing facts are damage for who has it in the list, whatever the member entry says, and nothing for anyone else', async () => {
    const w = showing(damaged({ error: corrupt(T0, G, 'factsMissing') }));
    await w.group(G, [ALICE, BOB]);
    expect(await w.listAll(BOB)).toMatchObject([{ conversationId: G, damaged: { detail: { reason: 'factsMissing' } }, role: undefined }]);
    expect((await w.one(BOB, G)).damaged).toBeDefined();
    expect(await refusal(w.one(CAROL, G))).toBe('NotMember');
  });

  test('a member entry that is itself damaged is shown: nobody knows that it is not the user’s', async () => {
    const w = showing(damaged({ error: corrupt(T0, G, 'memberUnreadable'), memberKnown: false }));
    await w.group(G, [ALICE, BOB]);
    expect(await w.listAll(BOB)).toMatchObject([{ damaged: { detail: { reason: 'memberUnreadable' } } }]);
  });

  test('of a record that a newer version wrote is shown with that reason', async () => {
    const w = showing(
      damaged({
        error: corrupt(T0, G, 'unsupportedVersion', seq(2)),
        member: { role: Role.Member, joinedSeq: seq(1), visibleFrom: seq(1) },
      }),
    );
    await w.group(G, [ALICE, BOB]);
    expect(await w.listAll(BOB)).toMatchObject([{ damaged: { code: 'UnsupportedVersion' }, role: Role.Member }]);
  });

  test('every entry of a page may be damaged; each is counted', async () => {
    const w = openWorld(
      rereading((reading) =>
        damaged({
          conversationId: reading.kind === 'sound' ? reading.summary.conversationId : reading.conversationId,
          member: { role: Role.Member, joinedSeq: seq(1), visibleFrom: seq(1) },
        }),
      ),
    );
    for (let n = 0; n < 3; n += 1) await w.group(room(`r${n}`), [ALICE]);
    const page = await w.session.listConversations(caller(ALICE), { ...first, pageSize: 2 });
    expect([page.conversations.length, page.damagedCount, page.nextPageToken !== '']).toEqual([2, 2, true]);
  });
});

describe('the preview', () => {
  test('is the newest that is not control; the head is the newest of all', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    const said = await w.say(ALICE, G, { content: { kind: 'text', text: 'hello' } });
    await w.control(ALICE, G, { kind: ControlKind.App, appType: 'poll', appData: new Uint8Array(1) });
    expect(await w.one(BOB, G)).toMatchObject({
      summary: { latestConversationSeq: 3, unreadCount: 1 },
      preview: {
        messageId: said.messageId,
        conversationSeq: 2,
        senderUserId: ALICE,
        snippet: 'hello',
        truncated: false,
        status: MessageStatus.Normal,
      },
    });
  });

  test('of a recalled message says so, and holds nothing of its text; the next message takes its place', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    await w.say(ALICE, G, { content: { kind: 'text', text: 'kept' } });
    const regretted = await w.say(ALICE, G, { content: { kind: 'text', text: 'regretted' } });
    await w.amend(regretted, MessageStatus.Recalled);
    const shown = await w.one(BOB, G);
    expect(shown).toMatchObject({
      summary: { latestConversationSeq: 3 },
      preview: { messageId: regretted.messageId, status: MessageStatus.Recalled, snippet: '' },
    });
    expect(JSON.stringify(await w.listAll(BOB))).not.toContain('regretted');
    const next = await w.say(ALICE, G);
    expect(await w.one(BOB, G)).toMatchObject({ preview: { messageId: next.messageId } });
  });

  test('an edit changes lastActivityId and the text, not lastMessageId', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    const said = await w.say(ALICE, G);
    await w.amend(said, MessageStatus.Edited, 'better');
    const shown = await w.one(BOB, G);
    expect(shown).toMatchObject({
      summary: { lastMessageId: said.messageId, unreadCount: 1 },
      preview: { snippet: 'better', status: MessageStatus.Edited },
    });
    expect(shown.damaged === undefined && shown.summary.lastActivityId).not.toBe(said.activityId);
  });

  test('from before joining, or cleared, is not shown', async () => {
    const w = openWorld();
    await w.group(G, [ALICE]);
    const said = await w.say(ALICE, G);
    await w.add(G, BOB);
    expect(await w.one(ALICE, G)).toMatchObject({ preview: { messageId: said.messageId } });
    expect(await w.one(BOB, G)).toMatchObject({ preview: undefined });
    const cleared = openWorld(reviewing(() => ({ clearedSeq: seq(2) })));
    await cleared.group(G, [ALICE, BOB]);
    await cleared.say(ALICE, G);
    expect(await cleared.one(BOB, G)).toMatchObject({ preview: undefined, summary: { unreadCount: 0 } });
    const next = await cleared.say(ALICE, G);
    expect(await cleared.one(BOB, G)).toMatchObject({ preview: { messageId: next.messageId }, summary: { unreadCount: 1 } });
  });

  test('that is damaged marks itself and no count, where the caller may see it', async () => {
    const previewDamage = corrupt(T0, G, 'recordUnreadable', seq(2));
    const broken = rereading((reading) =>
      reading.kind === 'sound' ? { ...reading, listing: { ...reading.listing, preview: undefined, previewDamage } } : undefined,
    );
    const w = openWorld(broken);
    await w.group(G, [ALICE]);
    await w.say(ALICE, G);
    await w.add(G, BOB);
    await w.say(ALICE, G);
    expect(await w.one(ALICE, G)).toMatchObject({ damaged: undefined, previewDamage: { detail: { conversationSeq: 2 } } });
    expect(await w.one(BOB, G)).toMatchObject({ damaged: undefined, previewDamage: undefined, summary: { unreadCount: 1 } });
  });
});

test('no message at all: a mark of zero, and a list that says so', async () => {
  const w = openWorld();
  await w.group(G, [ALICE, parseUserId('dan')]);
  expect(await w.one(ALICE, G)).toMatchObject({ readConversationSeq: SEQ_ZERO, preview: undefined, summary: { unreadCount: 0 } });
});

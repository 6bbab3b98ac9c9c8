/** How a count reaches the user: as it was counted, or not at all (seed, sections 4 and 7). */
import { EXACT_UNREAD_SCAN_LIMIT, MessageStatus, MessageType, SEQ_ZERO } from '@qim/proto';
import { type ConversationReading, corrupt, unavailable } from '@qim/store';
import { describe, expect, test } from 'vitest';
import { unreadFloor, visibilityFloor } from '../src/unread.js';
import { ALICE, BOB, CAROL, caller, openWorld, refusal, rereading, reviewing, room, seq, T0 } from './support.js';

const G = room('a');

describe('what was counted is what is shown', () => {
  test('exact: the head and the count of others’ messages past the mark', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    for (let n = 0; n < 3; n += 1) await w.say(ALICE, G);
    const newest = await w.say(BOB, G);
    const shown = await w.one(BOB, G);
    expect(shown).toMatchObject({
      damaged: undefined,
      readConversationSeq: 0,
      summary: {
        latestConversationSeq: 5,
        lastMessageId: newest.messageId,
        lastActivityId: newest.activityId,
        unreadCount: 3,
        unreadExact: true,
        mentionCount: 0,
      },
    });
    expect(newest.activityId).not.toBe(newest.messageId);
  });

  test('saturated: at a distance of 200 still exact, at 201 the limit and not exact', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    for (let n = 0; n < EXACT_UNREAD_SCAN_LIMIT; n += 1) await w.say(ALICE, G);
    await w.session.markRead(caller(BOB), G, seq(1));
    expect(await w.one(BOB, G)).toMatchObject({ summary: { unreadCount: EXACT_UNREAD_SCAN_LIMIT, unreadExact: true, mentionCount: 0 } });
    await w.say(BOB, G);
    expect(await w.one(BOB, G)).toMatchObject({
      summary: { unreadCount: EXACT_UNREAD_SCAN_LIMIT, unreadExact: false, mentionCount: undefined },
    });
    await w.session.markRead(caller(BOB), G, seq(2));
    expect(await w.one(BOB, G)).toMatchObject({ summary: { unreadCount: EXACT_UNREAD_SCAN_LIMIT - 1, unreadExact: true } });
  });

  test('empty: no message yet is zero, exact, and without ids', async () => {
    const empty = (reading: ConversationReading): ConversationReading | undefined =>
      reading.kind === 'sound'
        ? {
            ...reading,
            summary: {
              ...reading.summary,
              latestConversationSeq: SEQ_ZERO,
              lastActivityId: undefined,
              lastMessageId: undefined,
              unreadCount: 0,
              unreadExact: true,
              mentionCount: 0,
            },
            listing: { ...reading.listing, preview: undefined },
          }
        : undefined;
    const w = openWorld(rereading(empty));
    await w.group(G, [ALICE, BOB]);
    const shown = await w.one(BOB, G);
    expect(shown).toMatchObject({
      damaged: undefined,
      summary: { latestConversationSeq: 0, unreadCount: 0, unreadExact: true },
      preview: undefined,
    });
    if (shown.damaged === undefined) expect([shown.summary.lastActivityId, shown.summary.lastMessageId]).toEqual([undefined, undefined]);
  });

  test('corrupt: an entry without a number of any kind, counted on its page, and no trouble for the others', async () => {
    const damage = (reading: ConversationReading): ConversationReading | undefined => {
      if (reading.kind !== 'sound' || reading.summary.conversationId !== G) return undefined;
      const { kind, title, settings, pair, epoch, member } = reading.listing;
      return {
        kind: 'damaged',
        conversationId: G,
        error: corrupt(T0, G, 'recordMissing', seq(2)),
        listing: { kind, title, settings, pair, epoch },
        member,
        memberKnown: true,
      };
    };
    const w = openWorld(rereading(damage));
    const sound = room('b');
    await w.group(G, [ALICE, BOB]);
    await w.group(sound, [ALICE, BOB]);
    await w.say(ALICE, sound);
    const page = await w.session.listConversations(caller(BOB), { pageSize: 0, pageToken: '', explain: true });
    expect(page.damagedCount).toBe(1);
    const [whole, damaged] = page.conversations;
    expect(whole).toMatchObject({ conversationId: sound, damaged: undefined, summary: { unreadCount: 1 } });
    expect(damaged).toMatchObject({
      conversationId: G,
      damaged: { code: 'CorruptRecord', detail: { conversationSeq: 2, reason: 'recordMissing' } },
      listing: { title: `room ${G}` },
    });
    expect(Object.keys(damaged ?? {}).sort()).toEqual(['conversationId', 'damaged', 'flags', 'listing', 'peerUserId', 'role']);
    expect(await w.one(BOB, G)).toEqual(damaged);
  });

  test('unavailable: the whole call fails; no page is half a page', async () => {
    const w = openWorld(() => ({ messages: { readConversations: () => Promise.reject(unavailable('test')) } }));
    await w.group(G, [ALICE, BOB]);
    expect(await refusal(w.session.listConversations(caller(BOB), { pageSize: 0, pageToken: '', explain: false }))).toBe(
      'StoreUnavailable',
    );
    expect(await refusal(w.one(BOB, G))).toBe('StoreUnavailable');
  });

  test('a mark past the head: zero, not exact, and said to be ahead', async () => {
    const w = openWorld(reviewing(() => ({ readSeq: seq(80) })));
    await w.group(G, [ALICE, BOB]);
    await w.say(ALICE, G);
    expect(await w.one(BOB, G)).toMatchObject({
      readConversationSeq: 80,
      summary: { unreadCount: 0, unreadExact: false },
      listing: { watermarkAhead: true },
    });
  });
});

describe('the strict and the per-conversation call agree', () => {
  test('over own, control, recalled, deleted, edited, unknown and mentioning messages, from every mark', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    const [, recalled, deleted, edited] = [await w.say(BOB, G), await w.say(ALICE, G), await w.say(ALICE, G), await w.say(ALICE, G)];
    await w.amend(recalled, MessageStatus.Recalled);
    await w.amend(deleted, MessageStatus.Deleted);
    await w.amend(edited, MessageStatus.Edited, 'better');
    await w.add(G, CAROL);
    await w.say(ALICE, G, {
      type: 4711,
      content: { kind: 'data', contentType: 'x/y', data: new Uint8Array(1) },
      mentions: { userIds: [BOB], all: false },
    });
    await w.say(ALICE, G, { type: MessageType.Text, mentions: { userIds: [], all: true } });
    const counts = [];
    for (let mark = 0; mark <= 8; mark += 1) {
      await w.store.directory.raiseRead(T0, BOB, G, seq(mark));
      const shown = await w.one(BOB, G);
      const [strict] = await w.store.messages.conversationSummaries(T0, BOB, [{ conversationId: G, watermark: seq(mark) }]);
      expect(shown).toMatchObject({ summary: strict });
      counts.push(strict?.unreadCount);
    }
    // Edited, unknown and plain ones count; own, control, recalled and deleted ones do not.
    expect(counts).toEqual([3, 3, 3, 3, 3, 2, 2, 1, 0]);
  });

  test('on a damaged conversation: the one throws what the other shows', async () => {
    const missing = room('missing');
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    await w.store.directory.join(T0, missing, [{ userId: BOB, joinedSeq: seq(1), visibleFrom: seq(1) }], {
      conversationSeq: seq(1),
      activityAtMs: 1,
    });
    const strict = await w.store.messages
      .conversationSummaries(T0, BOB, [{ conversationId: missing, watermark: SEQ_ZERO }])
      .catch((error: unknown) => error);
    const shown = await w.one(BOB, missing);
    expect(shown.damaged).toMatchObject({ code: 'CorruptRecord', detail: { reason: 'factsMissing', conversationId: missing } });
    expect(strict).toMatchObject({ code: 'CorruptRecord', detail: shown.damaged?.detail });
  });
});

describe('floors', () => {
  const view = (readSeq: number, joinedSeq: number, clearedSeq: number) =>
    unreadFloor({ readSeq: seq(readSeq), joinedSeq: seq(joinedSeq), clearedSeq: seq(clearedSeq) });

  test('counting starts after the greatest of mark, joining and clearing', () => {
    expect([view(5, 1, 0), view(5, 10, 0), view(5, 10, 12), view(12, 10, 5), view(0, 1, 0), view(0, 0, 0)]).toEqual([5, 9, 12, 12, 0, 0]);
  });

  test('nothing from before joining, or cleared, is visible', () => {
    const floor = (visibleFrom: number, clearedSeq: number) => visibilityFloor({ visibleFrom: seq(visibleFrom) }, seq(clearedSeq));
    expect([floor(1, 0), floor(7, 0), floor(7, 3), floor(7, 9)]).toEqual([0, 6, 6, 9]);
  });
});

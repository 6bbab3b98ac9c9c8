/** Damage to what is kept per user: read marks, views, and the list itself. No number is kept there, so none can be wrong. */
import { SEQ_ZERO } from '@qim/proto';
import { expect } from 'vitest';
import type { ConversationReading } from '../src/message/summary.js';
import { seq } from '../src/testing/conformance/fixture.js';
import type { MatrixStage, Scene } from './damage-matrix.js';

const UNREAD = 5;

export interface UserKind {
  readonly what: string;
  /** Does the damage, and asserts what bob's list shows then. */
  run(stage: MatrixStage, scene: Scene): Promise<void>;
  /** Undefined: the list tells. */
  readonly unnoticed?: string;
}

/** Bob's own list, as a session reads it; undefined: the conversation is not in it. */
async function listed({ fixture, bob }: MatrixStage, { chat }: Scene): Promise<ConversationReading | undefined> {
  const { directory, messages } = fixture.store;
  const { views } = await directory.page(chat.tenantId, bob, 100, undefined);
  const view = views.find(({ conversationId }) => conversationId === chat.conversationId);
  if (view === undefined) return undefined;
  const watermark = seq(Math.max(view.readSeq, view.joinedSeq - 1, view.clearedSeq));
  const [reading] = await messages.readConversations(chat.tenantId, bob, [{ conversationId: chat.conversationId, watermark }]);
  return reading;
}

async function shownWhole(stage: MatrixStage, scene: Scene): Promise<void> {
  expect(await listed(stage, scene)).toMatchObject({ kind: 'sound', summary: { unreadCount: UNREAD, unreadExact: true } });
}

/** What a next message does for a conversation that fell out of the list. */
async function comesBack(stage: MatrixStage, { chat }: Scene): Promise<void> {
  const activity = { conversationSeq: seq(8), activityAtMs: 2 };
  await stage.fixture.store.directory.touch(chat.tenantId, chat.conversationId, [stage.bob], activity);
}

export const USER_KINDS: readonly UserKind[] = [
  {
    what: 'read mark past the head',
    async run(stage, scene) {
      await stage.tamper.setReadMark(scene.chat, stage.bob, '4000');
      expect(await listed(stage, scene)).toMatchObject({
        kind: 'sound',
        summary: { unreadCount: 0, unreadExact: false, mentionCount: undefined },
        listing: { watermarkAhead: true },
      });
    },
  },
  {
    what: 'read mark unreadable',
    unnoticed: 'it counts as none: more is shown as unread, never less',
    async run(stage, scene) {
      await stage.tamper.setReadMark(scene.chat, stage.bob, '8 and a half');
      await shownWhole(stage, scene);
    },
  },
  {
    what: 'view missing',
    unnoticed: 'the member entry says the same, and decides',
    async run(stage, scene) {
      await stage.tamper.setView(scene.chat, stage.bob, undefined);
      await shownWhole(stage, scene);
    },
  },
  {
    what: 'view unreadable',
    unnoticed: 'the member entry says the same, and decides',
    async run(stage, scene) {
      await stage.tamper.setView(scene.chat, stage.bob, 'no such form');
      await shownWhole(stage, scene);
    },
  },
  {
    what: 'list entry missing, view left over',
    unnoticed: 'a list cannot know what it was not told; the next message brings it back, and the verifier compares members with lists',
    async run(stage, scene) {
      await stage.tamper.setListed(scene.chat, stage.bob, false);
      expect(await listed(stage, scene)).toBeUndefined();
      await comesBack(stage, scene);
      await shownWhole(stage, scene);
    },
  },
  {
    what: 'list entry of a conversation that is not there',
    async run(stage, scene) {
      const { tenantId } = scene.chat;
      const conversationId = stage.fixture.conversationId();
      await stage.tamper.setListed({ tenantId, conversationId }, stage.bob, true);
      const states = [{ conversationId, watermark: SEQ_ZERO }];
      const [reading] = await scene.chat.messages.readConversations(tenantId, stage.bob, states);
      expect(reading).toMatchObject({ kind: 'damaged', error: { detail: { conversationId, reason: 'factsMissing' } } });
      const { views } = await stage.fixture.store.directory.page(tenantId, stage.bob, 100, undefined);
      expect(views.map((view) => view.conversationId)).toContain(conversationId);
      await stage.tamper.setListed({ tenantId, conversationId }, stage.bob, false);
    },
  },
  {
    what: 'list entry left over after leaving',
    unnoticed: 'the tombstone says that the user left, and decides',
    async run(stage, scene) {
      const { tenantId, conversationId } = scene.chat;
      await stage.fixture.store.directory.leave(tenantId, conversationId, [stage.bob], seq(9));
      await stage.tamper.setListed(scene.chat, stage.bob, true);
      expect(await listed(stage, scene)).toBeUndefined();
    },
  },
  {
    what: 'pin left over after leaving',
    unnoticed: 'the tombstone says that the user left, and decides',
    async run(stage, scene) {
      const { tenantId, conversationId } = scene.chat;
      await stage.fixture.store.directory.leave(tenantId, conversationId, [stage.bob], seq(9));
      await stage.tamper.setPin(scene.chat, stage.bob, 5);
      expect(await listed(stage, scene)).toBeUndefined();
      await stage.tamper.setPin(scene.chat, stage.bob, undefined);
    },
  },
  {
    what: 'pin lost',
    unnoticed: 'the conversation stands where its activity puts it, with the same numbers',
    async run(stage, scene) {
      const { tenantId, conversationId } = scene.chat;
      const head = { conversationSeq: seq(7), activityAtMs: 1 };
      await stage.fixture.store.directory.setFlags(tenantId, stage.bob, conversationId, { pinned: true }, head);
      await stage.tamper.setPin(scene.chat, stage.bob, undefined);
      await shownWhole(stage, scene);
    },
  },
  {
    what: 'profile unreadable',
    unnoticed: 'it counts as none: a name is no truth of the history',
    async run(stage, scene) {
      await stage.tamper.setProfile(scene.chat, stage.bob, 'no such form');
      expect(await stage.fixture.store.users.profiles(scene.chat.tenantId, [stage.bob])).toEqual([undefined]);
      await shownWhole(stage, scene);
      await stage.tamper.setProfile(scene.chat, stage.bob, undefined);
    },
  },
];

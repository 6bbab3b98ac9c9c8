/** Lists, read marks and floors of the reference model. */
import {
  type ConversationId,
  type ConversationSeq,
  PINS_MAX,
  parseConversationSeq,
  resourceLimit,
  SEQ_ZERO,
  type TenantId,
  type UserId,
} from '@qim/proto';
import type {
  Activity,
  ConversationFlags,
  ConversationView,
  Directory,
  DirectoryCursor,
  DirectoryPage,
  FlagsChange,
  HeldPage,
  JoinedUser,
} from '../directory/directory.js';
import { cursorAt, nextPinTime, pagePins } from '../directory/pages.js';

/** A user's state of one conversation; kept when the user left, so that what arrives late changes nothing. */
interface Held {
  listed: boolean;
  activityAtMs: number;
  joinedSeq: ConversationSeq;
  visibleFrom: ConversationSeq;
  memberSeq: ConversationSeq;
  clearedSeq: ConversationSeq;
  hiddenSeq: ConversationSeq;
  flags: Omit<ConversationFlags, 'pinned'>;
}

const NO_FLAGS = { muted: false, hidden: false, markedUnread: false };
const NOTHING_HELD: Held = {
  listed: false,
  activityAtMs: 0,
  joinedSeq: SEQ_ZERO,
  visibleFrom: SEQ_ZERO,
  memberSeq: SEQ_ZERO,
  clearedSeq: SEQ_ZERO,
  hiddenSeq: SEQ_ZERO,
  flags: NO_FLAGS,
};

interface UserState {
  readonly held: Map<ConversationId, Held>;
  readonly read: Map<ConversationId, ConversationSeq>;
  readonly groups: Map<string, ConversationId>;
  /** When each was pinned. */
  readonly pins: Map<ConversationId, number>;
}

export function memoryDirectory(now: () => number): Directory {
  const users = new Map<string, UserState>();
  const userOf = (tenantId: TenantId, userId: UserId): UserState => {
    const key = `${tenantId} ${userId}`;
    const user = users.get(key) ?? { held: new Map(), read: new Map(), groups: new Map(), pins: new Map() };
    users.set(key, user);
    return user;
  };

  return {
    page: async (tenantId, userId, limit, cursor) => page(userOf(tenantId, userId), limit, cursor),

    view: async (tenantId, userId, conversationId) => viewOf(userOf(tenantId, userId), conversationId),

    async clearedSeqs(tenantId, conversationId, userIds) {
      return userIds.map((userId) => userOf(tenantId, userId).held.get(conversationId)?.clearedSeq ?? SEQ_ZERO);
    },

    async raiseRead(tenantId, userId, conversationId, readSeq) {
      const { read, held } = userOf(tenantId, userId);
      const view = held.get(conversationId);
      if (view !== undefined) view.flags = { ...view.flags, markedUnread: false };
      const raised = parseConversationSeq(Math.max(read.get(conversationId) ?? SEQ_ZERO, readSeq));
      read.set(conversationId, raised);
      return raised;
    },

    async clear(tenantId, userId, conversationId, upToSeq) {
      const { held } = userOf(tenantId, userId);
      const before = held.get(conversationId) ?? NOTHING_HELD;
      const clearedSeq = parseConversationSeq(Math.max(before.clearedSeq, upToSeq));
      held.set(conversationId, { ...before, clearedSeq });
      return clearedSeq;
    },

    async setFlags(tenantId, userId, conversationId, change, head) {
      return setFlags(userOf(tenantId, userId), conversationId, change, head, now());
    },

    async touch(tenantId, conversationId, userIds, activity) {
      for (const userId of userIds) touch(userOf(tenantId, userId).held.get(conversationId), activity);
    },

    async join(tenantId, conversationId, joined, { activityAtMs }) {
      for (const user of joined) join(userOf(tenantId, user.userId), conversationId, user, activityAtMs);
    },

    async leave(tenantId, conversationId, userIds, memberSeq) {
      for (const userId of userIds) leave(userOf(tenantId, userId), conversationId, memberSeq);
    },

    held: async (tenantId, userId, cursor, limit) => heldPage(userOf(tenantId, userId), cursor, limit),

    async forget(tenantId, userId) {
      const { read, pins } = userOf(tenantId, userId);
      read.clear();
      pins.clear();
    },

    async groupForRequest(tenantId, userId, clientRequestId, candidate) {
      const { groups } = userOf(tenantId, userId);
      const made = groups.get(clientRequestId) ?? candidate;
      groups.set(clientRequestId, made);
      return made;
    },
  };
}

function touch(held: Held | undefined, { activityAtMs, conversationSeq }: Activity): void {
  if (!held?.listed || (held.flags.hidden && conversationSeq <= held.hiddenSeq)) return;
  held.activityAtMs = held.flags.hidden ? activityAtMs : Math.max(held.activityAtMs, activityAtMs);
  held.flags = { ...held.flags, hidden: false };
}

function leave({ held, pins }: UserState, conversationId: ConversationId, memberSeq: ConversationSeq): void {
  const before = held.get(conversationId);
  if (before !== undefined && before.memberSeq >= memberSeq) return;
  const { clearedSeq, hiddenSeq, flags } = before ?? NOTHING_HELD;
  held.set(conversationId, { ...NOTHING_HELD, memberSeq, clearedSeq, hiddenSeq, flags });
  pins.delete(conversationId);
}

function heldPage({ held }: UserState, cursor: string | undefined, limit: number): HeldPage {
  const ids = [...held].filter(([, { listed }]) => listed).map(([id]) => id);
  const rest = ids.sort().filter((id) => cursor === undefined || id > cursor);
  const conversationIds = rest.slice(0, limit);
  return { conversationIds, next: conversationIds.length < rest.length ? conversationIds.at(-1) : undefined };
}

function join(user: UserState, conversationId: ConversationId, { joinedSeq, visibleFrom }: JoinedUser, activityAtMs: number): void {
  const before = user.held.get(conversationId);
  if (before === undefined || before.memberSeq < joinedSeq) {
    const { listed, clearedSeq, hiddenSeq, flags } = before ?? NOTHING_HELD;
    const inOrder = before !== undefined && listed && !flags.hidden;
    user.held.set(conversationId, {
      listed: true,
      activityAtMs: inOrder ? Math.max(before.activityAtMs, activityAtMs) : activityAtMs,
      joinedSeq,
      visibleFrom,
      memberSeq: joinedSeq,
      clearedSeq,
      hiddenSeq,
      flags: { ...flags, hidden: false },
    });
  } else if (before.listed && !before.flags.hidden && before.memberSeq === joinedSeq) {
    before.activityAtMs = Math.max(before.activityAtMs, activityAtMs);
  }
}

function setFlags(
  user: UserState,
  conversationId: ConversationId,
  change: FlagsChange,
  head: Activity,
  nowMs: number,
): ConversationFlags | undefined {
  const held = user.held.get(conversationId);
  if (!held?.listed) return undefined;
  const was = user.pins.has(conversationId);
  const pinned = change.hidden === true ? false : (change.pinned ?? was);
  if (pinned && !was) {
    if (user.pins.size >= PINS_MAX) throw resourceLimit('pinned conversations', PINS_MAX);
    const pins = [...user.pins].map(([id, pinnedAtMs]) => ({ conversationId: id, pinnedAtMs }));
    user.pins.set(conversationId, nextPinTime(pins, nowMs));
  }
  if (!pinned) user.pins.delete(conversationId);
  const { muted = held.flags.muted, markedUnread = held.flags.markedUnread } = change;
  const hidden = change.pinned === true ? false : (change.hidden ?? held.flags.hidden);
  if (held.flags.hidden && !hidden) held.activityAtMs = head.activityAtMs;
  if (change.hidden === true) held.hiddenSeq = head.conversationSeq;
  held.flags = { muted, hidden, markedUnread };
  return { ...held.flags, pinned };
}

function viewOf(user: UserState, conversationId: ConversationId): ConversationView | undefined {
  const held = user.held.get(conversationId);
  if (!held?.listed) return undefined;
  const { joinedSeq, visibleFrom, memberSeq, clearedSeq, flags } = held;
  return {
    conversationId,
    readSeq: user.read.get(conversationId) ?? SEQ_ZERO,
    joinedSeq,
    visibleFrom,
    clearedSeq,
    memberSeq,
    flags: { ...flags, pinned: user.pins.has(conversationId) },
  };
}

function page(user: UserState, limit: number, cursor: DirectoryCursor | undefined): DirectoryPage {
  const pins = [...user.pins].map(([conversationId, pinnedAtMs]) => ({ conversationId, pinnedAtMs }));
  const { throughMs, following: pinned, first, among } = pagePins(pins, cursor);
  const others = [...user.held]
    .filter(([conversationId, held]) => held.listed && !held.flags.hidden && !first.has(conversationId))
    .map(([conversationId, { activityAtMs }]) => cursorAt(activityAtMs, conversationId, false, throughMs))
    .sort(newestFirst)
    .filter((position) => cursor === undefined || among || newestFirst(cursor, position) < 0);
  const following = [...pinned.map((pin) => cursorAt(pin.pinnedAtMs, pin.conversationId, true, throughMs)), ...others];
  const shown = following.slice(0, limit);
  return {
    views: shown.flatMap(({ conversationId }) => viewOf(user, conversationId) ?? []),
    next: shown.length < following.length ? shown.at(-1) : undefined,
  };
}

function newestFirst(a: DirectoryCursor, b: DirectoryCursor): number {
  if (a.activityAtMs !== b.activityAtMs) return b.activityAtMs - a.activityAtMs;
  return a.conversationId < b.conversationId ? 1 : a.conversationId > b.conversationId ? -1 : 0;
}

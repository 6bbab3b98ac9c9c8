/** Lists, read marks and floors of the reference model. */
import { type ConversationId, type ConversationSeq, parseConversationSeq, SEQ_ZERO, type TenantId, type UserId } from '@qim/proto';
import type { ConversationView, Directory, DirectoryCursor, DirectoryPage, JoinedUser } from '../directory/directory.js';

/** A user's state of one conversation; kept when the user left, so that what arrives late changes nothing. */
interface Held {
  listed: boolean;
  activityAtMs: number;
  joinedSeq: ConversationSeq;
  visibleFrom: ConversationSeq;
  memberSeq: ConversationSeq;
  clearedSeq: ConversationSeq;
}

const NOTHING_HELD: Held = {
  listed: false,
  activityAtMs: 0,
  joinedSeq: SEQ_ZERO,
  visibleFrom: SEQ_ZERO,
  memberSeq: SEQ_ZERO,
  clearedSeq: SEQ_ZERO,
};

interface UserState {
  readonly held: Map<ConversationId, Held>;
  readonly read: Map<ConversationId, ConversationSeq>;
  readonly groups: Map<string, ConversationId>;
}

export function memoryDirectory(): Directory {
  const users = new Map<string, UserState>();
  const userOf = (tenantId: TenantId, userId: UserId): UserState => {
    const key = `${tenantId} ${userId}`;
    const user = users.get(key) ?? { held: new Map(), read: new Map(), groups: new Map() };
    users.set(key, user);
    return user;
  };

  return {
    page: async (tenantId, userId, limit, cursor) => page(userOf(tenantId, userId), limit, cursor),

    view: async (tenantId, userId, conversationId) => viewOf(userOf(tenantId, userId), conversationId),

    async raiseRead(tenantId, userId, conversationId, readSeq) {
      const { read } = userOf(tenantId, userId);
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

    async touch(tenantId, conversationId, userIds, { activityAtMs }) {
      for (const userId of userIds) {
        const held = userOf(tenantId, userId).held.get(conversationId);
        if (held?.listed) held.activityAtMs = Math.max(held.activityAtMs, activityAtMs);
      }
    },

    async join(tenantId, conversationId, joined, { activityAtMs }) {
      for (const user of joined) join(userOf(tenantId, user.userId), conversationId, user, activityAtMs);
    },

    async leave(tenantId, conversationId, userIds, memberSeq) {
      for (const userId of userIds) {
        const { held } = userOf(tenantId, userId);
        const before = held.get(conversationId);
        if (before !== undefined && before.memberSeq >= memberSeq) continue;
        const { clearedSeq } = before ?? NOTHING_HELD;
        held.set(conversationId, { ...NOTHING_HELD, memberSeq, clearedSeq });
      }
    },

    async groupForRequest(tenantId, userId, clientRequestId, candidate) {
      const { groups } = userOf(tenantId, userId);
      const made = groups.get(clientRequestId) ?? candidate;
      groups.set(clientRequestId, made);
      return made;
    },
  };
}

function join(user: UserState, conversationId: ConversationId, { joinedSeq, visibleFrom }: JoinedUser, activityAtMs: number): void {
  const before = user.held.get(conversationId);
  if (before === undefined || before.memberSeq < joinedSeq) {
    const activity = before?.listed ? Math.max(before.activityAtMs, activityAtMs) : activityAtMs;
    const { clearedSeq } = before ?? NOTHING_HELD;
    user.held.set(conversationId, { listed: true, activityAtMs: activity, joinedSeq, visibleFrom, memberSeq: joinedSeq, clearedSeq });
  } else if (before.listed && before.memberSeq === joinedSeq) {
    before.activityAtMs = Math.max(before.activityAtMs, activityAtMs);
  }
}

function viewOf(user: UserState, conversationId: ConversationId): ConversationView | undefined {
  const held = user.held.get(conversationId);
  if (!held?.listed) return undefined;
  const { joinedSeq, visibleFrom, memberSeq, clearedSeq } = held;
  return {
    conversationId,
    readSeq: user.read.get(conversationId) ?? SEQ_ZERO,
    joinedSeq,
    visibleFrom,
    clearedSeq,
    memberSeq,
    flags: { pinned: false, muted: false, hidden: false, markedUnread: false },
  };
}

function page(user: UserState, limit: number, cursor: DirectoryCursor | undefined): DirectoryPage {
  const listed = [...user.held].filter(([, held]) => held.listed);
  const positions = listed.map(([conversationId, { activityAtMs }]): DirectoryCursor => ({ conversationId, activityAtMs }));
  const following = positions.sort(newestFirst).filter((position) => cursor === undefined || newestFirst(cursor, position) < 0);
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

/** A session over the reference store. Conversations are made by commits of the store: the read side has no other door. */
import {
  type Caller,
  type Control,
  ControlKind,
  type ConversationId,
  ConversationKind,
  HistoryVisibility,
  isQimError,
  type MessageRecord,
  MessageStatus,
  MessageType,
  parseActivityId,
  parseClientMessageId,
  parseConversationId,
  parseConversationSeq,
  parseTenantId,
  parseUserId,
  Role,
  type TenantId,
  type UserId,
} from '@qim/proto';
import { startSession } from '@qim/session';
import type { CommitOutcome, CommitRequest, ConversationReading, ConversationView, Store } from '@qim/store';
import { openMemoryStore } from '@qim/store/memory';
import { commitRequest, directCreate } from '@qim/store/testing';
import { uuidv7 } from 'uuidv7';

export const T0 = parseTenantId(0);
export const T7 = parseTenantId(7);
export const ALICE = parseUserId('alice');
export const BOB = parseUserId('bob');
export const CAROL = parseUserId('carol');
export const seq = parseConversationSeq;
export const room = (name: string): ConversationId => parseConversationId(`g_${name}`);

export function caller(userId: UserId, tenantId: TenantId = T0): Caller {
  return { tenantId, userId, deviceId: undefined, admin: false };
}

type SessionStore = Pick<Store, 'messages' | 'directory' | 'users'>;
export type Filler = ReturnType<typeof fillWorld>;
export type World = ReturnType<typeof openWorld>;

/** `over` replaces parts of the store that the session sees; the test itself commits to the store behind it. */
export function openWorld(
  over: (store: SessionStore) => { messages?: Partial<Store['messages']>; directory?: Partial<Store['directory']> } = () => ({}),
) {
  const clock = { nowMs: 1_700_000_000_000 };
  const store = openMemoryStore({ now: () => clock.nowMs });
  const announced: string[] = [];
  const parts = over(store);
  const seen: SessionStore = {
    messages: { ...store.messages, ...parts.messages },
    directory: { ...store.directory, ...parts.directory },
    users: store.users,
  };
  const session = startSession(seen, {
    now: () => clock.nowMs,
    newId: uuidv7,
    announceTyping: (_tenant, userIds, { conversationId, userId, on }) =>
      announced.push(`${userId} ${conversationId} ${on ? 'writes' : 'stopped'} ${userIds.join(' ')}`),
    announceSuspended: (_tenant, userId, deviceId) => announced.push(`${userId} ${deviceId ?? 'all'} suspended`),
    announceChange: (_tenant, userId, conversationId) => announced.push(`${userId} ${conversationId} changed`),
    announceRead: (_tenant, userId, conversationId, readSeq) => announced.push(`${userId} ${conversationId} ${readSeq}`),
  });
  const filler = fillWorld(store, clock);

  return {
    ...filler,
    store,
    session,
    clock,
    announced,
    /** The whole list of a user, a page at a time. */
    listAll: async (userId: UserId, pageSize = 100) => {
      const conversations = [];
      let pageToken = '';
      do {
        const page = await session.listConversations(caller(userId), { pageSize, pageToken, explain: false });
        conversations.push(...page.conversations);
        pageToken = page.nextPageToken;
      } while (pageToken !== '');
      return conversations;
    },
    one: (userId: UserId, conversationId: ConversationId, explain = false) =>
      session.getConversation(caller(userId), conversationId, explain),
  };
}

/** Fills a store as the write and delivery side would. Each commit moves the clock by a millisecond. */
export function fillWorld(store: SessionStore, clock: { nowMs: number }) {
  let sent = 0;

  /** Commits, and brings the lists of `joined` up to date as the write side does. */
  async function commit(by: UserId, conversationId: ConversationId, part: Partial<CommitRequest> = {}): Promise<CommitOutcome> {
    sent += 1;
    clock.nowMs += 1;
    const own = { clientMessageId: parseClientMessageId(`c${sent}`), content: { kind: 'text', text: `message ${sent}` } } as const;
    return store.messages.commit(commitRequest(by, conversationId, { ...own, ...part }));
  }

  const control = (by: UserId, conversationId: ConversationId, value: Control, part: Partial<CommitRequest> = {}) =>
    commit(by, conversationId, { type: MessageType.Control, content: { kind: 'control', control: value }, ...part });

  async function list(
    userIds: readonly UserId[],
    conversationId: ConversationId,
    { conversationSeq, committedAtMs }: CommitOutcome,
  ): Promise<void> {
    const members = await store.messages.readMembers(T0, conversationId);
    const users = userIds.flatMap((userId) => {
      const entry = members.get(userId);
      return entry === undefined ? [] : [{ userId, ...entry }];
    });
    await store.directory.join(T0, conversationId, users, { conversationSeq, activityAtMs: committedAtMs });
  }

  return {
    commit,
    control,
    list,
    group: async (
      conversationId: ConversationId,
      userIds: readonly UserId[],
      part: { listed?: boolean; visibility?: HistoryVisibility } = {},
    ): Promise<void> => {
      const [owner = ALICE] = userIds;
      const members = userIds.map((userId) => ({ userId, role: userId === owner ? Role.Owner : Role.Member }));
      const settings = { historyVisibility: part.visibility ?? HistoryVisibility.FromJoining, onlyAdminsPost: false };
      const create = { kind: ConversationKind.Group, title: `room ${conversationId}`, settings, members, onlyNew: true };
      const outcome = await control(owner, conversationId, { kind: ControlKind.Created, title: create.title, userIds }, { create });
      if (part.listed ?? true) await list(userIds, conversationId, outcome);
    },
    direct: async (conversationId: ConversationId, one: UserId, other: UserId): Promise<void> => {
      const outcome = await commit(one, conversationId, { create: directCreate([...new Set([one, other])]) });
      await list([one, other], conversationId, outcome);
    },
    /** A message, and the lists of both as the delivery would leave them. */
    say: async (by: UserId, conversationId: ConversationId, part: Partial<CommitRequest> = {}): Promise<MessageRecord> => {
      const outcome = await commit(by, conversationId, part);
      const members = await store.messages.readMembers(T0, conversationId);
      await store.directory.touch(T0, conversationId, [...members.keys()], {
        conversationSeq: outcome.conversationSeq,
        activityAtMs: outcome.committedAtMs,
      });
      if (outcome.message === undefined) throw new Error('a fresh commit has its message');
      return outcome.message.record;
    },
    add: async (conversationId: ConversationId, userId: UserId, listed = true): Promise<CommitOutcome> => {
      const change = { kind: 'join', userIds: [userId] } as const;
      const outcome = await control(ALICE, conversationId, { kind: ControlKind.Joined, userIds: [userId] }, { change });
      if (listed) await list([userId], conversationId, outcome);
      return outcome;
    },
    remove: async (conversationId: ConversationId, userId: UserId, listed = true): Promise<void> => {
      const change = { kind: 'leave', userIds: [userId] } as const;
      const { conversationSeq } = await control(ALICE, conversationId, { kind: ControlKind.Removed, userIds: [userId] }, { change });
      if (listed) await store.directory.leave(T0, conversationId, [userId], conversationSeq);
    },
    amend: async (target: MessageRecord, status: MessageStatus, text = ''): Promise<void> => {
      const content = status === MessageStatus.Edited ? ({ kind: 'text', text } as const) : ({ kind: 'none' } as const);
      await store.messages.amend({
        actor: target.sender.userId,
        needs: 'member',
        target,
        activityId: parseActivityId(uuidv7()),
        status,
        content,
        mentions: { userIds: [], all: false },
      });
    },
  };
}

/** Readings of a session's store, changed on their way. */
export function rereading(change: (reading: ConversationReading, userId: UserId) => ConversationReading | undefined) {
  return (store: SessionStore) => ({
    messages: {
      readConversations: async (...args: Parameters<Store['messages']['readConversations']>) => {
        const readings = await store.messages.readConversations(...args);
        return readings.map((reading) => change(reading, args[1]) ?? reading);
      },
    },
  });
}

/** A user's views, changed on their way: what the reference directory cannot hold. */
export function reviewing(change: (view: ConversationView) => Partial<ConversationView>) {
  return (store: SessionStore) => ({
    directory: {
      page: async (...args: Parameters<Store['directory']['page']>) => {
        const page = await store.directory.page(...args);
        return { ...page, views: page.views.map((view) => ({ ...view, ...change(view) })) };
      },
      view: async (...args: Parameters<Store['directory']['view']>) => {
        const view = await store.directory.view(...args);
        return view && { ...view, ...change(view) };
      },
    },
  });
}

/** Which error a call ends in, with its field; 'fine' when it does not fail. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'fine';
  } catch (error) {
    if (!isQimError(error)) throw error;
    return 'field' in error.detail ? `${error.code} ${error.detail.field}` : error.code;
  }
}

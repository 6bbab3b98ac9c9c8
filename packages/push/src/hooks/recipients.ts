/**
 * Who gets an offline push of a message: members who may see it, have not read it, have no device connected, have not
 * muted the conversation and are not suspended; never the sender. What a message says counts as unread decides which
 * messages are pushed at all, so that a push and the badge in it go together.
 */
import { type Message, OFFLINE_PUSH_BADGES_AT_ONCE, OFFLINE_PUSH_MEMBERS_MAX, type UserId } from '@qim/proto';
import { countsAsUnread } from '@qim/store';
import type { PushDeps } from '../ports.js';
import type { Away } from './away.js';
import type { Badge, Hooks } from './ports.js';

export interface RecipientDeps extends Pick<PushDeps, 'messages' | 'users'> {
  readonly directory: Pick<PushDeps['directory'], 'view'>;
  readonly away: Pick<Away, 'among'>;
  readonly hooks: Pick<Hooks, 'badge'>;
}

/** Without those of `but`. Cost: 1 for the members, what asking who is away costs. @throws StoreUnavailable | CorruptRecord */
export async function whoIsAway(
  deps: RecipientDeps,
  message: Message,
  but: ReadonlySet<UserId>,
  signal: AbortSignal,
): Promise<readonly UserId[]> {
  const asked = (await whomItConcerns(deps, message)).filter((userId) => !but.has(userId));
  return deps.away.among(message.record.tenantId, asked, signal);
}

/** Members for whom the message counts as unread, wherever they are. Cost: 1. @throws StoreUnavailable | CorruptRecord */
export async function whomItConcerns({ messages }: Pick<RecipientDeps, 'messages'>, { record }: Message): Promise<readonly UserId[]> {
  const { tenantId, conversationId, conversationSeq, mentions } = record;
  const members = await messages.readMembers(tenantId, conversationId);
  const mentioned = new Set(mentions.userIds);
  const everyone = members.size <= OFFLINE_PUSH_MEMBERS_MAX;
  const candidate = { type: record.type, status: record.status, senderUserId: record.sender.userId };
  const asked = [...members].filter(
    ([userId, { visibleFrom }]) =>
      (everyone || mentioned.has(userId)) && visibleFrom <= conversationSeq && countsAsUnread(candidate, userId),
  );
  return asked.map(([userId]) => userId);
}

/** Those of `userIds` who are to be notified, with their badges. Cost: 2 each, and GetTotals. @throws StoreUnavailable */
export async function withBadges(
  deps: RecipientDeps,
  message: Message,
  userIds: readonly UserId[],
): Promise<{ readonly userId: UserId; readonly badge: Badge }[]> {
  const found: { readonly userId: UserId; readonly badge: Badge }[] = [];
  for (let from = 0; from < userIds.length; from += OFFLINE_PUSH_BADGES_AT_ONCE) {
    const some = userIds.slice(from, from + OFFLINE_PUSH_BADGES_AT_ONCE);
    const badges = await Promise.all(some.map((userId) => badgeFor(deps, message, userId)));
    found.push(...some.flatMap((userId, i) => (badges[i] === undefined ? [] : [{ userId, badge: badges[i] }])));
  }
  return found;
}

/** Undefined: not to be notified. */
async function badgeFor({ directory, users, hooks }: RecipientDeps, { record }: Message, userId: UserId): Promise<Badge | undefined> {
  const { tenantId, conversationId, conversationSeq } = record;
  const [view, suspended] = await Promise.all([
    directory.view(tenantId, userId, conversationId),
    users.isSuspended(tenantId, userId, undefined),
  ]);
  if (suspended || view === undefined || view.flags.muted) return undefined;
  return Math.max(view.readSeq, view.clearedSeq) >= conversationSeq ? undefined : hooks.badge(tenantId, userId);
}

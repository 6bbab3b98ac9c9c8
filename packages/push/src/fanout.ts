/**
 * Delivers the entries of one conversation: reads what they name and the members once, brings the users' lists up to
 * date, then hands all events on without waiting for any device. Lists come first, so that a device which lists because of
 * an event finds it there. In a group of more than PUSH_TOUCH_FIRST_MAX members the order of the lists may come after the
 * events: who joined or left is done before them there too.
 *
 * Doing it again is harmless but for events that come twice: list changes decide by sequences.
 */
import {
  COMMIT_BATCH_MAX,
  type ConversationSeq,
  type Message,
  PUSH_TOUCH_FIRST_MAX,
  PUSH_VIEWS_AT_ONCE,
  SEQ_ZERO,
  type UserId,
} from '@qim/proto';
import type { OutboxEntry } from '@qim/store';
import { damageDelivery, type Plan, planDelivery } from './plan.js';
import type { Delivery, EventBus, PushDeps } from './ports.js';
import type { Sweep } from './sweeps.js';

export interface FanoutDeps extends Pick<PushDeps, 'messages' | 'directory' | 'now' | 'observer' | 'tracing'> {
  readonly bus: EventBus;
}

/**
 * Entries of one conversation in their order, at least one. Answers what of the lists is left to do; undefined: nothing.
 * Cost: 3, one more for each COMMIT_BATCH_MAX of them, and where there are amendments one for each PUSH_VIEWS_AT_ONCE of
 * their connected readers.
 *
 * @throws StoreUnavailable | CorruptRecord | UnsupportedVersion; no event was handed on then
 */
export async function deliverConversation(deps: FanoutDeps, entries: readonly [OutboxEntry, ...OutboxEntry[]]): Promise<Sweep | undefined> {
  if (deps.tracing === undefined) return deliver(deps, entries);
  return deps.tracing.following(entries, 'push.deliver', { 'qim.entries': entries.length }, () => deliver(deps, entries));
}

async function deliver(deps: FanoutDeps, entries: readonly [OutboxEntry, ...OutboxEntry[]]): Promise<Sweep | undefined> {
  const { tenantId, conversationId } = entries[0];
  const [messages, members] = await Promise.all([readAll(deps, entries), deps.messages.readMembers(tenantId, conversationId)]);
  const plan = planDelivery(entries, messages, members);
  const sweep = await updateLists(deps, entries[0], plan, [...members.keys()]);
  await deps.bus.publish(await withoutCleared(deps, entries[0], plan.deliveries));
  for (const { kind, conversationSeq } of entries) {
    const record = kind === 'amended' ? undefined : messages.get(conversationSeq)?.record;
    deps.observer?.entryDelivered?.(kind, record && Math.max(0, deps.now() - record.committedAtMs));
  }
  return sweep;
}

/**
 * An amendment may be of a record that a reader has cleared since; nothing at or below that is told again. What is new
 * is past everything that was cleared. Read for users who may be connected alone, PUSH_VIEWS_AT_ONCE at a time.
 */
async function withoutCleared(
  { directory, bus }: FanoutDeps,
  { tenantId, conversationId }: OutboxEntry,
  deliveries: readonly Delivery[],
): Promise<readonly Delivery[]> {
  // Most amendments have the very same list of readers.
  const lists = new Set(deliveries.filter(({ event }) => event.kind === 'messageAmended').map(({ userIds }) => userIds));
  if (lists.size === 0) return deliveries;
  const connected = bus.connected(tenantId, [...new Set([...lists].flat())]);
  const cleared = new Map<UserId, ConversationSeq>();
  for (let from = 0; from < connected.length; from += PUSH_VIEWS_AT_ONCE) {
    const some = connected.slice(from, from + PUSH_VIEWS_AT_ONCE);
    const sequences = await directory.clearedSeqs(tenantId, conversationId, some);
    for (const [i, userId] of some.entries()) cleared.set(userId, sequences[i] ?? SEQ_ZERO);
  }
  return deliveries.map((delivery) => {
    const { event, userIds } = delivery;
    if (event.kind !== 'messageAmended') return delivery;
    const { conversationSeq } = event.message.record;
    const kept = userIds.filter((userId) => conversationSeq > (cleared.get(userId) ?? conversationSeq));
    // The bus knows a list again by its identity.
    return kept.length === userIds.length ? delivery : { ...delivery, userIds: kept };
  });
}

/** Tells the members, if they can be read, that their list has something to show. Never throws. */
export async function announceDamage(deps: FanoutDeps, { tenantId, conversationId }: OutboxEntry): Promise<void> {
  try {
    await deps.bus.publish([damageDelivery(tenantId, conversationId, await deps.messages.readMembers(tenantId, conversationId))]);
  } catch {
    // Whom to tell could not be read, or the others not be reached. They see it when they list.
  }
}

async function readAll(deps: FanoutDeps, entries: readonly [OutboxEntry, ...OutboxEntry[]]): Promise<Map<ConversationSeq, Message>> {
  const { tenantId, conversationId } = entries[0];
  const sequences = [...new Set(entries.map((entry) => entry.conversationSeq))];
  const messages = new Map<ConversationSeq, Message>();
  for (let from = 0; from < sequences.length; from += COMMIT_BATCH_MAX) {
    const batch = sequences.slice(from, from + COMMIT_BATCH_MAX);
    for (const message of await deps.messages.readMessages(tenantId, conversationId, batch)) {
      if (message !== undefined) messages.set(message.record.conversationSeq, message);
    }
  }
  return messages;
}

/** Undefined: all are up to date. */
async function updateLists(
  { directory }: FanoutDeps,
  { tenantId, conversationId }: OutboxEntry,
  plan: Plan,
  memberIds: readonly UserId[],
): Promise<Sweep | undefined> {
  // Joins before the touch, which moves only what is there.
  await Promise.all([
    ...plan.joins.map(({ users, activity }) => directory.join(tenantId, conversationId, users, activity)),
    ...plan.leaves.map((leave) => directory.leave(tenantId, conversationId, leave.userIds, leave.memberSeq)),
  ]);
  if (plan.touch === undefined || memberIds.length === 0) return undefined;
  if (memberIds.length > PUSH_TOUCH_FIRST_MAX) return { tenantId, conversationId, memberIds, activity: plan.touch };
  await directory.touch(tenantId, conversationId, memberIds, plan.touch);
  return undefined;
}

/**
 * What the entries of one conversation mean, decided in one place from what was read: list changes, and events in the
 * order of the entries. Pure.
 *
 * The members are those of after the entries were read, so whoever left by one of them is not among them and gets no
 * message any more; whoever joined sees nothing from before visibleFrom.
 */
import {
  type Control,
  ControlKind,
  type ConversationId,
  type ConversationSeq,
  type Message,
  type MessageRecord,
  type TenantId,
  type UserId,
} from '@qim/proto';
import type { Activity, JoinedUser, MemberEntry, OutboxEntry } from '@qim/store';
import type { PushEvent } from './contract.js';
import type { Delivery } from './ports.js';

type Members = ReadonlyMap<UserId, MemberEntry>;

export interface Plan {
  readonly joins: readonly { readonly users: readonly JoinedUser[]; readonly activity: Activity }[];
  readonly leaves: readonly { readonly userIds: readonly UserId[]; readonly memberSeq: ConversationSeq }[];
  /** All members, by the newest message among the entries; undefined: nothing but amendments. */
  readonly touch: Activity | undefined;
  readonly deliveries: readonly Delivery[];
}

/** Entries of one conversation, at least one. A sequence without a message has gone by retention, and means nothing more. */
export function planDelivery(entries: readonly OutboxEntry[], messages: ReadonlyMap<ConversationSeq, Message>, members: Members): Plan {
  const joins: Plan['joins'][number][] = [];
  const leaves: Plan['leaves'][number][] = [];
  const deliveries: Delivery[] = [];
  const readersOf = visibleTo(members);
  let touch: Activity | undefined;
  for (const { kind, conversationSeq } of entries) {
    const message = messages.get(conversationSeq);
    if (message === undefined) continue;
    const { record } = message;
    const readers = readersOf(conversationSeq);
    if (kind === 'amended') {
      deliveries.push(delivery(record.tenantId, { kind: 'messageAmended', message }, readers));
      continue;
    }
    const activity = { conversationSeq, activityAtMs: record.committedAtMs };
    touch = activity;
    const joined = presentOf(members, kind === 'created' ? [...members.keys()] : joinedBy(record));
    if (joined.length > 0) joins.push({ users: joined, activity });
    const left = leftBy(record);
    if (left.length > 0) leaves.push({ userIds: left, memberSeq: conversationSeq });
    deliveries.push(...eventsOf(message, readers));
  }
  return { joins, leaves, touch, deliveries };
}

/** The members learn that something is wrong with the conversation by listing it again. */
export function damageDelivery(tenantId: TenantId, conversationId: ConversationId, members: Members): Delivery {
  return delivery(tenantId, { kind: 'conversationChanged', conversationId }, [...members.keys()]);
}

function eventsOf(message: Message, readers: readonly UserId[]): Delivery[] {
  const { record } = message;
  const { tenantId, conversationId, sender } = record;
  const control = controlOf(record);
  const byServer = control !== undefined && control.kind !== ControlKind.App;
  // The sending device has its answer; that of a membership change is no message, so it gets the record like the others.
  const except = byServer || sender.deviceId === undefined ? undefined : { userId: sender.userId, deviceId: sender.deviceId };
  const events: Delivery[] = [];
  const left = leftBy(record);
  if (left.length > 0) events.push(delivery(tenantId, { kind: 'removed', conversationId }, left));
  events.push({ ...delivery(tenantId, { kind: 'messageCommitted', message }, readers), except });
  if (byServer) events.push(delivery(tenantId, { kind: 'conversationChanged', conversationId }, readers));
  return events;
}

function delivery(tenantId: TenantId, event: PushEvent, userIds: readonly UserId[]): Delivery {
  return { tenantId, event, userIds, except: undefined };
}

/** Who may see a sequence. One list for all messages that everybody may see, however many members and messages there are. */
function visibleTo(members: Members): (seq: ConversationSeq) => readonly UserId[] {
  const everyone = [...members.keys()];
  const seenByAll = [...members.values()].reduce((latest, { visibleFrom }) => Math.max(latest, visibleFrom), 0);
  return (seq) => (seq >= seenByAll ? everyone : everyone.filter((userId) => (members.get(userId)?.visibleFrom ?? seenByAll) <= seq));
}

/** By their present entries: one who left and joined again since has the later join. */
function presentOf(members: Members, userIds: readonly UserId[]): JoinedUser[] {
  return userIds.flatMap((userId) => {
    const entry = members.get(userId);
    return entry === undefined ? [] : [{ userId, joinedSeq: entry.joinedSeq, visibleFrom: entry.visibleFrom }];
  });
}

function joinedBy(record: MessageRecord): readonly UserId[] {
  const control = controlOf(record);
  return control?.kind === ControlKind.Joined ? control.userIds : [];
}

function leftBy(record: MessageRecord): readonly UserId[] {
  const control = controlOf(record);
  return control?.kind === ControlKind.Left || control?.kind === ControlKind.Removed ? control.userIds : [];
}

function controlOf({ content }: MessageRecord): Control | undefined {
  return content.kind === 'control' ? content.control : undefined;
}

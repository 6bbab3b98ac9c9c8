/**
 * Edit, recall, delete. The target is read, judged here, and rewritten by a step that compares it with what was judged:
 * when somebody amended it meanwhile it is read and judged anew. An amendment takes no sequence and never changes the type.
 *
 * Refusals come in one order: not a member, no such message (or not to be seen), not allowed, final, too late.
 */
import {
  AMEND_TRIES_MAX,
  type Caller,
  ControlKind,
  forbidden,
  type Mentions,
  type Message,
  type MessageContent,
  type MessageRecord,
  MessageStatus,
  MessageType,
  notFound,
  parseActivityId,
  QimError,
  Role,
} from '@qim/proto';
import type { AmendRequest } from '@qim/store';
import { admitEdit, admitMentions } from './admission.js';
import { refusedBefore } from './before-send.js';
import type { EditMessageInput, MessageRef } from './contract.js';
import type { DirectGate } from './direct-gate.js';
import type { WriterDeps } from './ports.js';
import { readTarget } from './target.js';

type Rewrite = Pick<AmendRequest, 'needs' | 'status' | 'content' | 'mentions'>;
/** What to write; undefined: the record says so already. @throws to refuse */
type Judge = (record: MessageRecord, role: Role) => Rewrite | undefined;

const ERASED = { content: { kind: 'none' }, mentions: { userIds: [], all: false } } as const;

export async function editMessage(deps: WriterDeps, gate: DirectGate, caller: Caller, input: EditMessageInput): Promise<Message> {
  // What is said anew reaches the other as a message does.
  const closed = await gate.refusalIn(caller, input.conversationId);
  const mentions: Mentions = { userIds: input.mentionUserIds, all: input.mentionAll };
  const judge: Judge = (record) => {
    if (record.type === MessageType.Control) throw forbidden('a message that is not control');
    if (record.sender.userId !== caller.userId) throw forbidden('the sender of the message');
    refuseFinal(record);
    if (closed !== undefined) throw closed;
    admitEdit(record.type, input.content);
    admitMentions({ type: record.type, ...input });
    if (sameContent(record.content, input.content) && sameMentions(record.mentions, mentions)) return undefined;
    return { needs: 'member', status: MessageStatus.Edited, content: input.content, mentions };
  };
  return amend(deps, caller, input, judge, async ({ type }) => {
    const { conversationId, content, mentionUserIds, mentionAll } = input;
    const refused = await refusedBefore(deps, {
      caller,
      action: 'edit',
      place: { conversationId },
      type,
      content,
      mentionUserIds,
      mentionAll,
    });
    if (refused !== undefined) throw refused.error;
  });
}

export function recallMessage(deps: WriterDeps, caller: Caller, ref: MessageRef): Promise<Message> {
  return amend(deps, caller, ref, (record, role) => {
    refuseServerControl(record);
    const own = record.sender.userId === caller.userId;
    if (!own && role < Role.Admin) throw forbidden('the sender of the message, or an admin');
    refuseFinal(record);
    const late = deps.now() - record.committedAtMs > deps.recallWindowMs;
    if (late && role < Role.Admin) {
      throw new QimError('RecallWindowPassed', { windowMs: deps.recallWindowMs }, 'the time for a recall has passed');
    }
    // A sender in time needs no role; whoever relies on one has it checked again inside the step.
    return { needs: own && !late ? 'member' : 'admin', status: MessageStatus.Recalled, ...ERASED };
  });
}

export function deleteMessage(deps: WriterDeps, caller: Caller, ref: MessageRef): Promise<Message> {
  return amend(deps, caller, ref, (record, role) => {
    refuseServerControl(record);
    if (role < Role.Admin) throw forbidden('an admin');
    refuseFinal(record);
    return { needs: 'admin', status: MessageStatus.Deleted, ...ERASED };
  });
}

/** `consent` is asked once, before the first write; it throws to refuse. */
async function amend(
  deps: WriterDeps,
  caller: Caller,
  ref: MessageRef,
  judge: Judge,
  consent: (record: MessageRecord) => Promise<void> = async () => {},
): Promise<Message> {
  for (let tries = 0; tries < AMEND_TRIES_MAX; tries += 1) {
    const { message, member } = await readTarget(deps, caller, ref.conversationId, ref);
    if (message === undefined) throw notFound();
    const rewrite = judge(message.record, member.role);
    if (rewrite === undefined) return message;
    if (tries === 0) await consent(message.record);
    const activityId = parseActivityId(deps.newId());
    const outcome = await deps.messages.amend({ actor: caller.userId, target: message.record, activityId, ...rewrite });
    if (outcome.kind === 'amended') return outcome.message;
  }
  throw changedAgain();
}

export function changedAgain(): Error {
  return new QimError('Aborted', {}, 'the message was changed by others again and again; retry');
}

export function refuseFinal({ status }: MessageRecord): void {
  if (status === MessageStatus.Recalled || status === MessageStatus.Deleted) {
    throw new QimError('MessageFinal', {}, 'the message was recalled or deleted');
  }
}

/**
 * What the server wrote about a membership or a setting is no one's to take back. One whose content is gone is an App
 * message that was recalled: no other kind ever loses it here.
 */
function refuseServerControl({ type, content }: MessageRecord): void {
  const ofServer = content.kind === 'control' && content.control.kind !== ControlKind.App;
  if (type === MessageType.Control && ofServer) throw forbidden('a message that a client sent');
}

function sameContent(one: MessageContent, other: MessageContent): boolean {
  if (one.kind === 'text' && other.kind === 'text') return one.text === other.text;
  if (one.kind !== 'data' || other.kind !== 'data') return false;
  return one.contentType === other.contentType && Buffer.from(one.data).equals(other.data);
}

/** As sets: neither holds anyone twice. */
function sameMentions(one: Mentions, other: Mentions): boolean {
  const ids = new Set(one.userIds);
  return one.all === other.all && ids.size === other.userIds.length && other.userIds.every((id) => ids.has(id));
}

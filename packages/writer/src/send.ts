/**
 * Sending. The order of checks is what makes a retry safe: what is malformed is refused first (the first try was, too);
 * then a reply's target is looked for; then the commit step decides about duplicates, membership and role, in that order.
 *
 * A retry of a reply whose target has gone since, or whose sender has, must still learn that it was delivered: a target
 * that fails the check is no refusal until the store has said that the message is not a duplicate.
 */
import {
  assert,
  type Caller,
  ConversationKind,
  HistoryVisibility,
  invalidArgument,
  isQimError,
  parseActivityId,
  parseConversationSeq,
  parseMessageId,
  type ReplyTo,
  Role,
  type UserId,
} from '@qim/proto';
import type { CommitOutcome, CommitRequest, JoinedUser, NewConversation } from '@qim/store';
import { admitDraft } from './admission.js';
import { applyReadMark, updateLists } from './after-commit.js';
import { refusedBefore } from './before-send.js';
import type { SendMessageInput, SendMessageOutput } from './contract.js';
import { directConversationId } from './conversation-ids.js';
import type { DirectGate } from './direct-gate.js';
import type { Draft, WriterDeps } from './ports.js';
import { readTarget } from './target.js';

const SEQ_FIRST = parseConversationSeq(1);

/**
 * Cost: 2 (commit; then list and read mark), or 1 where the commit does the list and no mark is given; before them 2 for a
 * reply beside what the gate asks in a direct conversation; with a before-send webhook 1 more, and the time of its answer.
 *
 * @throws as MessageStore.commit, InvalidArgument, PayloadTooLarge, Forbidden
 */
export async function sendMessage(deps: WriterDeps, gate: DirectGate, caller: Caller, input: SendMessageInput): Promise<SendMessageOutput> {
  admitDraft(input);
  const peer = 'toUserId' in input.target ? input.target.toUserId : undefined;
  const request = commitRequest(deps, caller, input, peer);
  const refusal = (await refusalOf(deps, gate, caller, request, peer)) ?? (await refusedBefore(deps, draftOf(caller, input)));
  const outcome = refusal === undefined ? await deps.messages.commit(request) : await commitIfDuplicate(deps, request, refusal.error);
  if (outcome.message !== undefined) await follow(deps, caller, request, outcome, input);
  return output(request, outcome);
}

export function commitRequest(deps: WriterDeps, caller: Caller, input: SendMessageInput, peer: UserId | undefined): CommitRequest {
  return {
    tenantId: caller.tenantId,
    conversationId:
      'toUserId' in input.target
        ? directConversationId(caller.tenantId, caller.userId, input.target.toUserId)
        : input.target.conversationId,
    sender: { userId: caller.userId, deviceId: caller.deviceId },
    clientMessageId: input.clientMessageId,
    messageId: parseMessageId(deps.newId()),
    activityId: parseActivityId(deps.newId()),
    type: input.type,
    content: input.content,
    mentions: { userIds: input.mentionUserIds, all: input.mentionAll },
    replyTo: input.replyTo,
    needs: 'post',
    touchSender: true,
    create: peer === undefined ? undefined : { ...directConversation(caller.userId, peer), onlyNew: false },
  };
}

/** What the gate says, before what the reply's target does; undefined: neither refuses. */
async function refusalOf(
  deps: WriterDeps,
  gate: DirectGate,
  caller: Caller,
  request: CommitRequest,
  peer: UserId | undefined,
): Promise<{ readonly error: unknown } | undefined> {
  const { conversationId, replyTo } = request;
  const [closed, noReply] = await Promise.all([
    peer === undefined ? gate.refusalIn(caller, conversationId) : gate.refusalTo(caller, peer),
    replyTo && judgeReply(deps, caller, request, replyTo, peer !== undefined),
  ]);
  return closed === undefined ? noReply : { error: closed };
}

function draftOf(caller: Caller, { target, type, content, mentionUserIds, mentionAll }: SendMessageInput): Draft {
  return { caller, action: 'send', place: target, type, content, mentionUserIds, mentionAll };
}

/** Neither side is above the other: no one deletes what the other said. */
function directConversation(one: UserId, other: UserId): NewConversation {
  return {
    kind: ConversationKind.Direct,
    title: '',
    settings: { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false, readReceipts: true },
    members: [...new Set([one, other])].map((userId) => ({ userId, role: Role.Member })),
  };
}

/** Why the reply's target will not do; undefined: it will. Only an unanswered read is thrown. */
async function judgeReply(
  deps: WriterDeps,
  caller: Caller,
  { conversationId }: CommitRequest,
  replyTo: ReplyTo,
  opening: boolean,
): Promise<{ readonly error: unknown } | undefined> {
  const noTarget = { error: invalidArgument('replyTo', 'a message of this conversation that the sender may see') };
  try {
    const { message } = await readTarget(deps, caller, conversationId, replyTo);
    return message === undefined ? noTarget : undefined;
  } catch (error) {
    if (!isQimError(error) || error.code === 'StoreUnavailable') throw error;
    // In a direct conversation that is yet to be made there is nothing to reply to; the caller could open it.
    return error.code === 'NotMember' && opening ? noTarget : { error };
  }
}

/**
 * The outcome of the first try, if there was one; else `refusal` is thrown. It asks by a commit that can never write: its
 * sender would have to be a member to send, and not to be one to join. De-duplication comes before both.
 */
export async function commitIfDuplicate(deps: WriterDeps, request: CommitRequest, refusal: unknown): Promise<CommitOutcome> {
  const change = { kind: 'join', userIds: [request.sender.userId] } as const;
  const unwritable: CommitRequest = { ...request, needs: 'member', create: undefined, change };
  try {
    const outcome = await deps.messages.commit(unwritable);
    assert(outcome.duplicate, 'a commit that cannot write has written');
    return outcome;
  } catch (error) {
    const refused = isQimError(error) && (error.code === 'Aborted' || error.code === 'NotMember' || error.code === 'ResourceLimit');
    throw refused ? refusal : error;
  }
}

/** A duplicate's list entry and mark are written as well: the first try may have ended before its own were. */
async function follow(
  deps: WriterDeps,
  caller: Caller,
  request: CommitRequest,
  outcome: CommitOutcome,
  input: SendMessageInput,
): Promise<void> {
  const joined = outcome.created ? firstMembers(request.create?.members ?? [], outcome) : [];
  const { conversationId } = request;
  await Promise.all([
    updateLists(deps, caller, conversationId, outcome, { joined }),
    applyReadMark(deps, caller, conversationId, input.readConversationSeq, outcome.conversationSeq),
  ]);
}

/** Members from the start, as NewConversation says; `conversationSeq` of the record that made the conversation. */
export function firstMembers(members: readonly { readonly userId: UserId }[], { conversationSeq }: CommitOutcome): JoinedUser[] {
  return members.map(({ userId }) => ({ userId, joinedSeq: conversationSeq, visibleFrom: SEQ_FIRST }));
}

export function output(request: CommitRequest, outcome: CommitOutcome): SendMessageOutput {
  const { duplicate, message, conversationSeq, messageId, committedAtMs } = outcome;
  if (message !== undefined) return { message, duplicate };
  assert(duplicate, 'a fresh commit comes back with its message');
  const idsOnly = {
    conversationId: request.conversationId,
    conversationSeq,
    messageId,
    clientMessageId: request.clientMessageId,
    committedAtMs,
  };
  return { message: { idsOnly }, duplicate };
}

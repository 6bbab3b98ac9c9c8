/**
 * What the team's own backend does as the system: groups with an id that it chooses, and messages. The system is a member of
 * nothing and needs to be none; what it says is nobody's own, and counts as unread for all like what anybody else says.
 */
import {
  type Caller,
  ControlKind,
  ConversationKind,
  invalidArgument,
  isDirectConversationId,
  isQimError,
  parseClientMessageId,
  QimError,
  type ReplyTo,
  Role,
  SYSTEM_USER_ID,
} from '@qim/proto';
import type { CommitOutcome, CommitRequest } from '@qim/store';
import { admitDraft, admitMemberIds, admitTitle } from './admission.js';
import { updateLists } from './after-commit.js';
import type { CreateConversationInput, SendMessageInput, SendMessageOutput } from './contract.js';
import { groupRequestKey } from './conversation-ids.js';
import { controlRequest } from './group-change.js';
import type { WriterDeps } from './ports.js';
import { commitIfDuplicate, commitRequest, firstMembers, output } from './send.js';

/** The chosen id is what makes a retry safe. */
const MADE_BY_BACKEND = parseClientMessageId('made by the backend');

function asSystem(caller: Caller): Caller {
  return { ...caller, userId: SYSTEM_USER_ID, deviceId: undefined };
}

/**
 * A group. The same call again finds it made. Cost: 2.
 *
 * @throws InvalidArgument | PayloadTooLarge | IdempotencyConflict (the id names another conversation)
 */
export async function createConversation(deps: WriterDeps, caller: Caller, input: CreateConversationInput): Promise<void> {
  const { conversationId, ownerUserId, title, settings } = input;
  // Their ids follow from their two users.
  if (isDirectConversationId(conversationId)) throw invalidArgument('conversationId', 'one that does not begin with d_');
  admitTitle(title);
  admitMemberIds(input.memberIds, 0);
  const userIds = [...new Set([ownerUserId, ...input.memberIds])];
  const members = userIds.map((userId) => ({ userId, role: userId === ownerUserId ? Role.Owner : Role.Member }));
  const control = { kind: ControlKind.Created, title, userIds } as const;
  const outcome = await commitNew(deps, {
    ...controlRequest(deps, asSystem(caller), conversationId, groupRequestKey(MADE_BY_BACKEND, settings), control),
    needs: 'system',
    create: { kind: ConversationKind.Group, title, settings, members, onlyNew: true },
  });
  // Also by a retry: the first try may have ended before its own were written.
  await updateLists(deps, { ...caller, userId: ownerUserId }, conversationId, outcome, {
    joined: outcome.created ? firstMembers(members, outcome) : [],
  });
}

async function commitNew(deps: WriterDeps, request: CommitRequest): Promise<CommitOutcome> {
  try {
    return await deps.messages.commit(request);
  } catch (error) {
    if (!isQimError(error) || error.code !== 'Aborted') throw error;
    throw new QimError('IdempotencyConflict', {}, 'the conversationId is that of another conversation', { cause: error });
  }
}

/** Past onlyAdminsPost, blocks and the tenant's settings. Cost: 1, 1 more for a reply. @throws as MessageStore.commit, InvalidArgument, PayloadTooLarge */
export async function sendAsSystem(deps: WriterDeps, caller: Caller, input: SendMessageInput): Promise<SendMessageOutput> {
  if ('toUserId' in input.target) throw invalidArgument('toUserId', 'absent: the system is in no direct conversation');
  if (input.readConversationSeq > 0) throw invalidArgument('readConversationSeq', '0: the system reads nothing');
  admitDraft(input);
  const request: CommitRequest = { ...commitRequest(deps, asSystem(caller), input, undefined), needs: 'system', touchSender: false };
  const refusal = request.replyTo && (await refusedReply(deps, request, request.replyTo));
  return output(request, refusal === undefined ? await deps.messages.commit(request) : await commitIfDuplicate(deps, request, refusal));
}

/** Undefined: the message is there. */
async function refusedReply(deps: WriterDeps, { tenantId, conversationId }: CommitRequest, replyTo: ReplyTo): Promise<Error | undefined> {
  const [message] = await deps.messages.readMessages(tenantId, conversationId, [replyTo.conversationSeq]);
  return message?.record.messageId === replyTo.messageId ? undefined : invalidArgument('replyTo', 'a message of this conversation');
}

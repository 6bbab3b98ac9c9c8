/**
 * Reading what a call names: the caller's membership first, then the message, so that nobody learns anything of a
 * conversation that is not theirs. The commit and amend steps check the membership once more.
 */
import { type Caller, type ConversationId, type ConversationSeq, type Message, type MessageId, notMember } from '@qim/proto';
import { type ConversationFacts, corrupt, type MemberEntry } from '@qim/store';
import type { WriterDeps } from './ports.js';

export interface Membership {
  readonly facts: ConversationFacts;
  readonly member: MemberEntry;
}

/** Cost: 1. @throws NotMember | CorruptRecord */
export async function readMembership(
  deps: Pick<WriterDeps, 'messages'>,
  caller: Caller,
  conversationId: ConversationId,
): Promise<Membership> {
  const { facts, member } = await deps.messages.readConversation(caller.tenantId, conversationId, caller.userId);
  if (member === undefined) throw notMember();
  if (facts === undefined) throw corrupt(caller.tenantId, conversationId, 'factsMissing');
  return { facts, member };
}

/**
 * The message that place and id name together, if the caller may see it; undefined otherwise. Cost: 2.
 *
 * @throws NotMember | CorruptRecord | UnsupportedVersion
 */
export async function readTarget(
  deps: Pick<WriterDeps, 'messages' | 'directory'>,
  caller: Caller,
  conversationId: ConversationId,
  named: { readonly conversationSeq: ConversationSeq; readonly messageId: MessageId },
): Promise<Membership & { readonly message: Message | undefined }> {
  const [membership, view] = await Promise.all([
    readMembership(deps, caller, conversationId),
    deps.directory.view(caller.tenantId, caller.userId, conversationId),
  ]);
  const hiddenThrough = Math.max(membership.member.visibleFrom - 1, view?.clearedSeq ?? 0);
  if (named.conversationSeq <= hiddenThrough) return { ...membership, message: undefined };
  const [message] = await deps.messages.readMessages(caller.tenantId, conversationId, [named.conversationSeq]);
  return { ...membership, message: message?.record.messageId === named.messageId ? message : undefined };
}

/** The members of a conversation, for its members: by the bytes of their user ids, a page at a time. */
import { type Caller, type ConversationId, MEMBERS_PAGE_SIZE } from '@qim/proto';
import type { SessionContext } from './context.js';
import type { ListedMember } from './contract.js';
import { readMembership } from './membership.js';
import { decodeMembersToken, encodeMembersToken } from './page-token.js';

/**
 * A page goes on after the last user of the one before, whether or not that one is still a member. Cost: 2, and all
 * members are read for each page.
 *
 * @throws NotMember | InvalidArgument (pageToken) | CorruptRecord
 */
export async function listMembers(
  context: SessionContext,
  caller: Caller,
  conversationId: ConversationId,
  pageToken: string,
): Promise<{ readonly members: readonly ListedMember[]; readonly nextPageToken: string }> {
  const after = pageToken === '' ? undefined : Buffer.from(decodeMembersToken(caller, conversationId, pageToken));
  await readMembership(context, caller, conversationId);
  const rest = [...(await context.messages.readMembers(caller.tenantId, conversationId))]
    .map(([userId, entry]) => ({ bytes: Buffer.from(userId), member: { userId, ...entry } }))
    .filter(({ bytes }) => after === undefined || bytes.compare(after) > 0)
    .sort((one, other) => one.bytes.compare(other.bytes));
  const members = rest.slice(0, MEMBERS_PAGE_SIZE).map(({ member }) => member);
  const last = members.at(-1);
  const more = rest.length > members.length && last !== undefined;
  return { members, nextPageToken: more ? encodeMembersToken(caller, conversationId, last.userId) : '' };
}

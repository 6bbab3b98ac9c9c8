/**
 * The read mark: raised, never lowered, never past the head. The head and the membership are read first, so that a mark
 * is bounded by what existed when it was asked for; a message that arrives meanwhile is past it and stays unread.
 */
import { type Caller, type ConversationId, type ConversationSeq, invalidArgument, MARK_ALL_READ_MAX } from '@qim/proto';
import { type ConversationView, isDamage } from '@qim/store';
import type { SessionContext } from './context.js';
import type { ReadMark } from './contract.js';
import { readMembership } from './membership.js';

/** Returns what now holds, and tells the user's other devices if it rose. Cost: 2. @throws NotMember | CorruptRecord */
export async function markRead(
  context: SessionContext,
  caller: Caller,
  conversationId: ConversationId,
  asked: ConversationSeq,
): Promise<ConversationSeq> {
  return raise(context, caller, await readMark(context, caller, conversationId), asked);
}

/**
 * For several: all memberships are read before any mark is raised. Damaged conversations are left out. Cost: 2, with
 * as many commands as conversations. @throws NotMember | InvalidArgument (upTo)
 */
export async function markAllRead(context: SessionContext, caller: Caller, upTo: readonly ReadMark[]): Promise<readonly ReadMark[]> {
  if (upTo.length > MARK_ALL_READ_MAX) throw invalidArgument('upTo', `at most ${MARK_ALL_READ_MAX} conversations`);
  const read = await Promise.all(
    upTo.map(async (mark) => {
      try {
        return [{ asked: mark.conversationSeq, before: await readMark(context, caller, mark.conversationId) }];
      } catch (error) {
        if (isDamage(error)) return [];
        throw error;
      }
    }),
  );
  return Promise.all(
    read.flat().map(async ({ asked, before }) => ({
      conversationId: before.conversationId,
      conversationSeq: await raise(context, caller, before, asked),
    })),
  );
}

/** What holds before a mark is raised. Cost: 1. */
interface Before {
  readonly conversationId: ConversationId;
  readonly head: ConversationSeq;
  readonly view: ConversationView | undefined;
}

async function readMark(context: SessionContext, caller: Caller, conversationId: ConversationId): Promise<Before> {
  const [{ facts }, view] = await Promise.all([
    readMembership(context, caller, conversationId),
    context.directory.view(caller.tenantId, caller.userId, conversationId),
  ]);
  return { conversationId, head: facts.lastSequence, view };
}

async function raise(
  { directory, config }: SessionContext,
  { tenantId, userId }: Caller,
  { conversationId, head, view }: Before,
  asked: ConversationSeq,
): Promise<ConversationSeq> {
  const bounded = asked < head ? asked : head;
  const holds = await directory.raiseRead(tenantId, userId, conversationId, bounded);
  if (holds > (view?.readSeq ?? 0)) config.announceRead(tenantId, userId, conversationId, holds);
  if (view?.flags.markedUnread) config.announceChange(tenantId, userId, conversationId);
  return holds;
}

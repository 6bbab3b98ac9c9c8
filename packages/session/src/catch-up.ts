/** What a device missed while it was away: new messages, and amendments of those that it holds. */
import { type Caller, SEQ_ZERO } from '@qim/proto';
import type { SessionContext } from './context.js';
import type { CatchUpInput, CatchUpOutput } from './contract.js';
import { admitLimit, messagesOf } from './history.js';

/** Cost: that of MessageStore.catchUp, and 1. @throws NotMember | InvalidArgument (limit) | CorruptRecord | UnsupportedVersion */
export async function catchUp(context: SessionContext, { tenantId, userId }: Caller, input: CatchUpInput): Promise<CatchUpOutput> {
  const limit = admitLimit(input.limit);
  const view = await context.directory.view(tenantId, userId, input.conversationId);
  const page = await context.messages.catchUp({ ...input, tenantId, userId, clearedSeq: view?.clearedSeq ?? SEQ_ZERO, limit });
  if (page.kind === 'reset') return { reset: true, epoch: page.epoch };
  const { records, amended, hasMore, nextAfter, nextAmendmentCursor, epoch } = page;
  return {
    reset: false,
    messages: messagesOf(records, page),
    amended: messagesOf(amended, page),
    hasMore,
    nextAfter,
    nextAmendmentCursor,
    epoch,
  };
}

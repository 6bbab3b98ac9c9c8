/** Pages of history: around a message of which only the sequence is known, and whether they go forward. */
import { HISTORY_PAGE_SIZE_DEFAULT } from '@qim/proto';
import type { SessionApi } from './api/session-api.js';
import { clientError, type QimClientError } from './errors.js';
import type { Timeline } from './timeline.js';
import type { HistoryPage } from './types.js';

/** Of each side of it. */
const HALF = HISTORY_PAGE_SIZE_DEFAULT / 2;

/** Whether the timeline covers this sequence, so that the message shows if history has it. */
export function isHeld({ messages, hasOlder, hasNewer, coveredTo }: Timeline, seq: number): boolean {
  const first = messages[0]?.conversationSeq ?? 0;
  return (!hasOlder || first <= seq) && (!hasNewer || seq <= coveredTo);
}

/** The message with this sequence and its neighbours. Cost: 2 calls, at the same time. @throws QimClientError */
export async function readAround(
  api: Pick<SessionApi, 'readHistory'>,
  conversationId: string,
  seq: number,
): Promise<{ readonly page: HistoryPage; readonly hasNewer: boolean }> {
  const [upTo, after] = await Promise.all([
    api.readHistory({ conversationId, beforeSeq: seq + 1, limit: HALF }),
    api.readHistory({ conversationId, afterSeq: seq, limit: HALF }),
  ]);
  if (upTo.epoch !== after.epoch) throw clientError('BAD_ANSWER', 'two pages of one moment are of two epochs');
  const page = { messages: [...upTo.messages, ...after.messages], hasMore: upTo.hasMore, epoch: after.epoch };
  return { page, hasNewer: after.hasMore };
}

/** @throws QimClientError BAD_ANSWER for a page that says there is more and moves nowhere: asking again would never end. */
export function lastSeq(page: HistoryPage, after: number): number {
  const last = page.messages.at(-1)?.conversationSeq ?? after;
  if (page.hasMore && last <= after) throw badAnswer();
  return last;
}

export function badAnswer(): QimClientError {
  return clientError('BAD_ANSWER', 'a page of history that does not go forward');
}

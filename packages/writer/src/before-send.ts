/**
 * Asks whether what a user says may be sent: the operator's own rules, such as words that a tenant does not want. Asked last
 * and only for what the store would take, as far as that can be told before; what the system says is not asked about.
 */
import { forbidden } from '@qim/proto';
import { unavailable } from '@qim/store';
import type { Draft, WriterDeps } from './ports.js';

/**
 * Undefined: it may be sent, or the commit refuses it anyway. Cost: none without a webhook; else the answer's time, and 1 for
 * what is sent to a conversation: of an edit the target was judged, and the membership with it.
 */
export async function refusedBefore(
  { beforeSend, messages }: Pick<WriterDeps, 'beforeSend' | 'messages'>,
  draft: Draft,
): Promise<{ readonly error: Error } | undefined> {
  if (beforeSend === undefined) return undefined;
  const { tenantId, userId } = draft.caller;
  if (draft.action === 'send' && 'conversationId' in draft.place) {
    const { member } = await messages.readConversation(tenantId, draft.place.conversationId, userId);
    if (member === undefined) return undefined;
  }
  const verdict = await beforeSend(draft);
  if (verdict === 'allowed') return undefined;
  return { error: verdict === 'denied' ? forbidden('the consent of the before-send webhook') : unavailable('the before-send webhook') };
}

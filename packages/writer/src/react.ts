/**
 * Reactions: beside the record, which stays as it is. The target is read and judged here; the step compares it with what was
 * judged, so that nothing lands on a message that was recalled meanwhile. Other reactions are no such change.
 */
import { AMEND_TRIES_MAX, type Caller, forbidden, type Message, MessageType, notFound } from '@qim/proto';
import { admitEmoji } from './admission.js';
import { changedAgain, refuseFinal } from './amend.js';
import type { SetReactionInput } from './contract.js';
import type { WriterDeps } from './ports.js';
import { readTarget } from './target.js';

/** Refusals come in the order of an amendment's. Cost: 3. */
export async function setReaction(deps: WriterDeps, caller: Caller, input: SetReactionInput): Promise<Message> {
  const { conversationId, emoji, on } = input;
  admitEmoji(emoji);
  for (let tries = 0; tries < AMEND_TRIES_MAX; tries += 1) {
    const { message } = await readTarget(deps, caller, conversationId, input);
    if (message === undefined) throw notFound();
    if (message.record.type === MessageType.Control) throw forbidden('a message that is not control');
    refuseFinal(message.record);
    const outcome = await deps.messages.react({ actor: caller.userId, target: message.record, emoji, on });
    if (outcome.kind === 'amended') return outcome.message;
  }
  throw changedAgain();
}

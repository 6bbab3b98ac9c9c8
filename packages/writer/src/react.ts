/**
 * Reactions: beside the record, which stays as it is. The target is read and judged here; the step compares it with what was
 * judged, so that nothing lands on a message that was recalled meanwhile. Other reactions are no such change.
 */
import { AMEND_TRIES_MAX, type Caller, forbidden, type Message, MessageType, notFound, type UserId } from '@qim/proto';
import { admitEmoji } from './admission.js';
import { changedAgain, refuseFinal } from './amend.js';
import type { SetReactionInput } from './contract.js';
import type { DirectGate } from './direct-gate.js';
import type { WriterDeps } from './ports.js';
import { readTarget } from './target.js';

/**
 * Refusals come in the order of an amendment's. Where one may say nothing, one may still take off, and learns that one's own
 * is set already. Cost: 3.
 */
export async function setReaction(deps: WriterDeps, gate: DirectGate, caller: Caller, input: SetReactionInput): Promise<Message> {
  const { conversationId, emoji, on } = input;
  admitEmoji(emoji);
  const asked = on ? gate.refusalIn(caller, conversationId) : undefined;
  for (let tries = 0; tries < AMEND_TRIES_MAX; tries += 1) {
    const [{ message }, closed] = await Promise.all([readTarget(deps, caller, conversationId, input), asked]);
    if (message === undefined) throw notFound();
    if (message.record.type === MessageType.Control) throw forbidden('a message that is not control');
    refuseFinal(message.record);
    if (closed !== undefined) {
      if (isSetBy(caller.userId, emoji, message)) return message;
      throw closed;
    }
    const outcome = await deps.messages.react({ actor: caller.userId, target: message.record, emoji, on });
    if (outcome.kind === 'amended') return outcome.message;
  }
  throw changedAgain();
}

function isSetBy(userId: UserId, emoji: string, { reactions }: Message): boolean {
  return reactions?.kinds.some((kind) => kind.emoji === emoji && kind.userIds.includes(userId)) ?? false;
}

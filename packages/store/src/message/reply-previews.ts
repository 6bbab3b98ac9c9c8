/** What a page shows of the messages that its messages reply to: as they are now, and only what the reader may see. */
import type { ConversationSeq, MessageRecord, Preview } from '@qim/proto';
import { checkIdentity, decodeHeader, previewOf } from './codec.js';
import type { ReplyPreviews } from './message-store.js';

/** The sequences that are named, each once; none at or below the floor. */
export function repliedTo(records: readonly MessageRecord[], floor: number): ConversationSeq[] {
  const named = records.flatMap(({ replyTo }) =>
    replyTo !== undefined && replyTo.conversationSeq > floor ? [replyTo.conversationSeq] : [],
  );
  return [...new Set(named)];
}

/** Undefined: there is none, or one that cannot be read, which is for those to hear who ask for it. */
export function previewFrom(
  { tenantId, conversationId }: Pick<MessageRecord, 'tenantId' | 'conversationId'>,
  sequence: ConversationSeq,
  bytes: Uint8Array | undefined,
): Preview | undefined {
  const header = bytes === undefined ? 'recordMissing' : decodeHeader(bytes);
  if (typeof header === 'string' || !checkIdentity(header, tenantId, conversationId, sequence)) return undefined;
  const preview = previewOf(header);
  return typeof preview === 'string' ? undefined : preview;
}

/** `previews` by the sequences of what is replied to. A place that another message has by now shows nothing. */
export function replyPreviews(
  records: readonly MessageRecord[],
  previews: ReadonlyMap<ConversationSeq, Preview | undefined>,
): ReplyPreviews {
  const found = new Map<ConversationSeq, Preview>();
  for (const { conversationSeq, replyTo } of records) {
    const preview = replyTo && previews.get(replyTo.conversationSeq);
    if (preview !== undefined && preview.messageId === replyTo?.messageId) found.set(conversationSeq, preview);
  }
  return found;
}

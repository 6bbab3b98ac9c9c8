/** How much fits one page of the reference model. */
import { HISTORY_PAGE_BYTES_MAX, type MessageContent, type MessageRecord, utf8Bytes } from '@qim/proto';
import type { MemoryConversation } from './state.js';

/** `begun`: something is on the page already; the first one always fits. */
export function pageIsFull(bytes: number, begun: boolean): boolean {
  return begun && bytes > HISTORY_PAGE_BYTES_MAX;
}

/** How many of them fit one page: at least one. */
export function pageLength(conversation: MemoryConversation, records: readonly MessageRecord[], limit: number): number {
  let bytes = 0;
  for (const [i, record] of records.entries()) {
    bytes += messageBytes(conversation, record);
    if (i === limit || pageIsFull(bytes, i > 0)) return i;
  }
  return records.length;
}

export function messageBytes({ reactions }: MemoryConversation, { conversationSeq, content }: MessageRecord): number {
  const names = (reactions.get(conversationSeq)?.kinds ?? []).flatMap(({ emoji, userIds }) => [emoji, ...userIds]);
  return names.reduce((sum, name) => sum + utf8Bytes(name), contentBytes(content));
}

function contentBytes(content: MessageContent): number {
  if (content.kind === 'text') return utf8Bytes(content.text);
  if (content.kind === 'data') return content.data.length;
  return content.kind === 'control' ? utf8Bytes(JSON.stringify(content.control)) : 0;
}

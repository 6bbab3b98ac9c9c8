/** Ends a page before HISTORY_PAGE_BYTES_MAX of content and reactions. */
import { HISTORY_PAGE_BYTES_MAX, type MessageContent, type MessageRecord, type Reactions, utf8Bytes } from '@qim/proto';
import { controlToJson } from './control-json.js';
import { reactionsBytes } from './reactions.js';

export class PageBudget {
  #bytes = 0;
  #taken = 0;

  /** Takes one more; false: it does not fit any more. The first one always does. */
  take(record: MessageRecord, reactions: Reactions | undefined): boolean {
    const bytes = this.#bytes + contentBytes(record.content) + reactionsBytes(reactions);
    if (this.#taken > 0 && bytes > HISTORY_PAGE_BYTES_MAX) return false;
    this.#bytes = bytes;
    this.#taken += 1;
    return true;
  }
}

function contentBytes(content: MessageContent): number {
  if (content.kind === 'text') return utf8Bytes(content.text);
  if (content.kind === 'data') return content.data.length;
  return content.kind === 'control' ? utf8Bytes(controlToJson(content.control)) : 0;
}

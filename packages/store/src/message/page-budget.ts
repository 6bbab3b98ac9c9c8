/** Ends a page before HISTORY_PAGE_BYTES_MAX of content. */
import { HISTORY_PAGE_BYTES_MAX, type MessageContent, type MessageRecord, utf8Bytes } from '@qim/proto';
import { controlToJson } from './control-json.js';

export class PageBudget {
  #bytes = 0;
  #taken = 0;

  /** Takes one more; false: it does not fit any more. The first one always does. */
  take(record: MessageRecord): boolean {
    const bytes = this.#bytes + contentBytes(record.content);
    if (this.#taken > 0 && bytes > HISTORY_PAGE_BYTES_MAX) return false;
    this.#bytes = bytes;
    this.#taken += 1;
    return true;
  }

  /** The first of them, as many as fit. */
  takeFrom(records: readonly MessageRecord[]): readonly MessageRecord[] {
    const end = records.findIndex((record) => !this.take(record));
    return end < 0 ? records : records.slice(0, end);
  }
}

function contentBytes(content: MessageContent): number {
  if (content.kind === 'text') return utf8Bytes(content.text);
  if (content.kind === 'data') return content.data.length;
  return content.kind === 'control' ? utf8Bytes(controlToJson(content.control)) : 0;
}

/** How much of a page of history is read and returned, in bytes of content. */
import { BODY_OVERHEAD_BYTES_MAX, HISTORY_PAGE_BYTES_MAX, type MessageContent, type MessageRecord, utf8Bytes } from '@qim/proto';
import type { RecordHeader } from '../message/codec.js';
import { controlToJson } from '../message/control-json.js';

/** How many of the records can be on the page at most, so that bodies past it are not read. At least 1. */
export function fetchAhead(headers: readonly RecordHeader[]): number {
  let bytes = 0;
  for (const [i, header] of headers.entries()) {
    bytes += header.bodyApart ? Math.max(header.bodyLength - BODY_OVERHEAD_BYTES_MAX, 0) : 0;
    // One past the page is read too: only its whole content tells that it does not fit.
    if (bytes > HISTORY_PAGE_BYTES_MAX) return i + 1;
  }
  return headers.length;
}

/** Ends a page before HISTORY_PAGE_BYTES_MAX of content, but never before its first record. */
export class PageBudget {
  readonly records: MessageRecord[] = [];
  #bytes = 0;

  /** False: it does not fit any more. */
  take(record: MessageRecord): boolean {
    this.#bytes += contentBytes(record.content);
    if (this.records.length > 0 && this.#bytes > HISTORY_PAGE_BYTES_MAX) return false;
    this.records.push(record);
    return true;
  }
}

function contentBytes(content: MessageContent): number {
  if (content.kind === 'text') return utf8Bytes(content.text);
  if (content.kind === 'data') return content.data.length;
  return content.kind === 'control' ? utf8Bytes(controlToJson(content.control)) : 0;
}

/** How far ahead of a page of history bodies are read. */
import { BODY_OVERHEAD_BYTES_MAX, HISTORY_PAGE_BYTES_MAX } from '@qim/proto';
import type { RecordHeader } from '../message/codec.js';

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

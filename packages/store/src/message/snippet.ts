/** What a list shows of a message: the beginning of its text, or its content type. */
import { type MessageContent, SNIPPET_BYTES_MAX } from '@qim/proto';
import { utf8 } from './bytes.js';

export interface Snippet {
  /** At most SNIPPET_BYTES_MAX bytes of UTF-8, on a character boundary; empty for Control and erased content. */
  readonly text: string;
  readonly truncated: boolean;
  readonly isContentType: boolean;
}

export function snippetOf(content: MessageContent): Snippet {
  switch (content.kind) {
    case 'text': {
      if (content.text.length <= SNIPPET_BYTES_MAX && Buffer.byteLength(content.text) <= SNIPPET_BYTES_MAX) {
        return { text: content.text, truncated: false, isContentType: false };
      }
      // The encoder stops before the first character that does not fit.
      const { read } = utf8.encodeInto(content.text, new Uint8Array(SNIPPET_BYTES_MAX));
      return { text: content.text.slice(0, read), truncated: read < content.text.length, isContentType: false };
    }
    case 'data':
      return { text: content.contentType, truncated: false, isContentType: true };
    case 'control':
    case 'none':
      return { text: '', truncated: false, isContentType: false };
  }
}

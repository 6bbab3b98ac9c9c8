/** The part that all keys of a conversation have in common (`ConversationKeys`), as bytes: a page needs it of each, and no string of it. */
import { CONVERSATION_ID_CHARS_MAX, type ConversationId, type TenantId } from '@qim/proto';
import { setAscii, TENANT_BYTES_MAX, viewOf } from '../message/bytes.js';
import { xxh32 } from '../message/xxh32.js';

/** Of `{tag}:`, and more than the longest. */
const TAG_BYTES_MAX = 16;
const COLON = 58;

export class PlaceBytes {
  readonly bytes = new Uint8Array(TAG_BYTES_MAX + TENANT_BYTES_MAX + CONVERSATION_ID_CHARS_MAX);
  readonly #view = viewOf(this.bytes);
  /** `{tag}:` of each partition. */
  readonly #tags: readonly string[];
  /** The place is [start, end) of `bytes`. */
  start = 0;
  end = 0;

  constructor(tags: readonly string[]) {
    this.#tags = tags.map((tag) => `{${tag}}:`);
  }

  /** Ids of conversations are ASCII, and nothing in them is encoded. */
  set(tenantId: TenantId, conversationId: ConversationId): this {
    const tenant = setAscii(this.bytes, TAG_BYTES_MAX, String(tenantId));
    this.bytes[tenant] = COLON;
    this.end = setAscii(this.bytes, tenant + 1, conversationId);
    const tag = this.#tags[xxh32(this.#view, TAG_BYTES_MAX, this.end, 0) % this.#tags.length] ?? '';
    this.start = TAG_BYTES_MAX - tag.length;
    setAscii(this.bytes, this.start, tag);
    return this;
  }
}

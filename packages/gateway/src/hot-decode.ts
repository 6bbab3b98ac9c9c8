/**
 * The hot frame of a client, read by hand: a call, and the request of SendMessage with text. Whatever is not the usual form
 * (another field, one twice, a text that is no UTF-8, a cut) is undefined: the library reads it, and judges it.
 */
import type { SendMessageRequest } from '@qim/proto/schema';
import type { FrameId } from './frames.js';

/** A tag of one byte: field and kind. */
const VARINT = 0;
const LENGTH = 2;
const tagOf = (field: number, kind: number): number => field * 8 + kind;

const FrameTag = { Id: tagOf(1, VARINT), Call: tagOf(3, LENGTH) } as const;
const CallTag = { Method: tagOf(1, LENGTH), Body: tagOf(2, LENGTH) } as const;
const SendTag = {
  ConversationId: tagOf(1, LENGTH),
  ToUserId: tagOf(2, LENGTH),
  ClientMessageId: tagOf(3, LENGTH),
  Type: tagOf(4, VARINT),
  Text: tagOf(5, LENGTH),
  MentionUserId: tagOf(8, LENGTH),
  MentionAll: tagOf(9, VARINT),
  ReadConversationSeq: tagOf(11, VARINT),
} as const;

/** Of one byte. */
const TAG_MAX = 0x7f;
const INT32_MAX = 2 ** 31 - 1;
const REPLACEMENT = '\ufffd';

/** Not the usual form. */
class Unusual extends Error {}
const UNUSUAL = new Unusual();

class Reader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;
  /** A bit for each field that was seen. */
  #seen = 0;

  constructor(bytes: Buffer, start = 0, end: number = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get done(): boolean {
    return this.#at === this.#end;
  }

  /** Of the next field; once each, but for `repeated`. */
  tag(repeated = -1): number {
    const tag = this.#bytes[this.#at++] ?? TAG_MAX + 1;
    const bit = 1 << (tag >>> 3);
    if (tag > TAG_MAX || ((this.#seen & bit) !== 0 && tag !== repeated)) throw UNUSUAL;
    this.#seen |= bit;
    return tag;
  }

  /** 0..2^53-1 */
  varint(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.#at < this.#end ? (this.#bytes[this.#at++] ?? 0) : -1;
      if (byte < 0) throw UNUSUAL;
      value += (byte & 0x7f) * factor;
      if (value > Number.MAX_SAFE_INTEGER) throw UNUSUAL;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
  }

  /** Where what has a length ends; it begins where the reader is. */
  #length(): number {
    const length = this.varint();
    if (length > this.#end - this.#at) throw UNUSUAL;
    return this.#at + length;
  }

  text(): string {
    const end = this.#length();
    const from = this.#at;
    this.#at = end;
    for (let i = from; i < end; i += 1) {
      if ((this.#bytes[i] ?? 0) < 0x80) continue;
      const text = this.#bytes.toString('utf8', from, end);
      // It may have been sent as it is, or stand for what is no UTF-8.
      if (text.includes(REPLACEMENT)) throw UNUSUAL;
      return text;
    }
    return this.#bytes.toString('latin1', from, end);
  }

  bytes(): Buffer {
    const end = this.#length();
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  nested(): Reader {
    const end = this.#length();
    const reader = new Reader(this.#bytes, this.#at, end);
    this.#at = end;
    return reader;
  }
}

function usual<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Unusual) return undefined;
    throw error;
  }
}

export interface HotCall {
  readonly id: FrameId;
  readonly method: string;
  readonly body: Buffer;
}

export function hotCall(data: Buffer): HotCall | undefined {
  return usual(() => {
    const frame = new Reader(data);
    let id = 0;
    let call: Omit<HotCall, 'id'> | undefined;
    while (!frame.done) {
      const tag = frame.tag();
      if (tag === FrameTag.Id) id = frame.varint();
      else if (tag === FrameTag.Call) call = readCall(frame.nested());
      else throw UNUSUAL;
    }
    return call && { id: BigInt(id), ...call };
  });
}

function readCall(reader: Reader): Omit<HotCall, 'id'> {
  let method = '';
  let body: Buffer = Buffer.alloc(0);
  while (!reader.done) {
    const tag = reader.tag();
    if (tag === CallTag.Method) method = reader.text();
    else if (tag === CallTag.Body) body = reader.bytes();
    else throw UNUSUAL;
  }
  return { method, body };
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export function hotSendRequest(body: Buffer): SendMessageRequest | undefined {
  return usual(() => {
    const reader = new Reader(body);
    const request: Mutable<SendMessageRequest> = {
      $typeName: 'qim.v1.SendMessageRequest',
      target: { case: undefined },
      clientMessageId: '',
      type: 0,
      body: { case: undefined },
      mentionUserIds: [],
      mentionAll: false,
      readConversationSeq: 0n,
    };
    while (!reader.done) readSendField(reader, request);
    return request;
  });
}

function readSendField(reader: Reader, request: Mutable<SendMessageRequest>): void {
  switch (reader.tag(SendTag.MentionUserId)) {
    case SendTag.ConversationId:
      request.target = only(request.target.case, { case: 'conversationId', value: reader.text() });
      return;
    case SendTag.ToUserId:
      request.target = only(request.target.case, { case: 'toUserId', value: reader.text() });
      return;
    case SendTag.ClientMessageId:
      request.clientMessageId = reader.text();
      return;
    case SendTag.Type:
      request.type = openType(reader.varint());
      return;
    case SendTag.Text:
      request.body = { case: 'text', value: reader.text() };
      return;
    case SendTag.MentionUserId:
      request.mentionUserIds.push(reader.text());
      return;
    case SendTag.MentionAll:
      request.mentionAll = reader.varint() !== 0;
      return;
    case SendTag.ReadConversationSeq:
      request.readConversationSeq = BigInt(reader.varint());
      return;
    default:
      throw UNUSUAL;
  }
}

function only<T>(before: string | undefined, value: T): T {
  if (before !== undefined) throw UNUSUAL;
  return value;
}

/** The enum is open: a number without a name is carried as it is. */
function openType(value: number): SendMessageRequest['type'] {
  if (value > INT32_MAX) throw UNUSUAL;
  return value as SendMessageRequest['type'];
}

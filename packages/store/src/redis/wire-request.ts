/** Commands in the form that Redis reads, put together as text of one character for each byte: one string, one write. */
import type { ConversationSeq } from '@qim/proto';

/** Of one round. */
export interface WireRequest {
  /** One character for each byte. */
  readonly text: string;
  readonly commands: number;
}

/** Of any text; its UTF-8 is what is sent. */
export function encodedCommand(args: readonly string[]): string {
  return `*${args.length}\r\n${args.map(bulk).join('')}`;
}

export function bulk(arg: string): string {
  return bytesBulk(oneCharacterEach(arg));
}

/** Of text that has one character for each byte already, as keys and numbers have. */
export function bytesBulk(bytes: string): string {
  return `$${bytes.length}\r\n${bytes}\r\n`;
}

function oneCharacterEach(text: string): string {
  return Buffer.from(text).toString('latin1');
}

const TWO_8 = 256;
const MEMBER_BYTES = 8;

/** The 8 bytes of a history member. */
export function memberBytes(seq: ConversationSeq): string {
  let text = '';
  for (let i = 0, rest: number = seq; i < MEMBER_BYTES; i += 1, rest = Math.floor(rest / TWO_8)) {
    text = String.fromCharCode(rest % TWO_8) + text;
  }
  return text;
}

/** The commands that reads of a conversation are made of, and what their replies mean. A wrong type of a key is damage. */
import type { ConversationSeq, CorruptReason, UserId } from '@qim/proto';
import { FACT_FIELDS, parseFacts, parseMember, type StoredFacts } from '../message/facts.js';
import type { RecordBytes } from '../message/summaries.js';
import type { MemberEntry } from '../message/summary.js';
import { type Command, isWrongType, type Reply } from './connection.js';
import { bucketOf, type ConversationKeys } from './keys.js';
import { asArray, asBuffer, asOptionalBuffer, asOptionalText, asText } from './replies.js';

export function factsCommand(keys: ConversationKeys): Command {
  return ['HMGET', keys.facts, ...FACT_FIELDS];
}

/** Undefined: no such conversation. */
export function factsFrom(reply: Reply | undefined): StoredFacts | CorruptReason | undefined {
  return isWrongType(reply) ? 'wrongType' : parseFacts(asArray(reply).map(asOptionalText));
}

export function memberCommand(keys: ConversationKeys, userId: UserId): Command {
  return ['HGET', keys.members, userId];
}

/** Undefined: not a member. */
export function memberFrom(reply: Reply | undefined): MemberEntry | CorruptReason | undefined {
  if (isWrongType(reply)) return 'wrongType';
  const text = asOptionalText(reply);
  return text === undefined ? undefined : parseMember(text);
}

/** The greatest history member with its score. */
export function newestCommand(keys: ConversationKeys): Command {
  return ['ZRANGE', keys.history, '-1', '-1', 'WITHSCORES'];
}

export function newestFrom(reply: Reply | undefined): { readonly member: Buffer; readonly score: number } | CorruptReason | undefined {
  if (isWrongType(reply)) return 'wrongType';
  const [member, score] = asArray(reply);
  return member === undefined ? undefined : { member: asBuffer(member), score: Number(asText(score)) };
}

/**
 * At most `limit` members past `after`. Only valid while all scores are equal, which costs no command to check: a
 * positive score puts its member at the very end, where `newestCommand` shows it; a negative one puts it before members
 * that are smaller, so a range that it falls into is out of order or lacks a link of the chain.
 */
export function membersAfterCommand(keys: ConversationKeys, after: ConversationSeq, limit: number): Command {
  return ['ZRANGEBYLEX', keys.history, bound('(', after), '+', 'LIMIT', '0', String(limit)];
}

/** The first member at or past `from`. */
export function memberFromCommand(keys: ConversationKeys, from: ConversationSeq): Command {
  return ['ZRANGEBYLEX', keys.history, bound('[', from), '+', 'LIMIT', '0', '1'];
}

/** At most `limit` members before `before` (undefined: the newest) and past `after`, the greatest first. */
export function membersBeforeCommand(
  keys: ConversationKeys,
  before: ConversationSeq | undefined,
  after: ConversationSeq,
  limit: number,
): Command {
  const end = before === undefined ? '+' : bound('(', before);
  return ['ZREVRANGEBYLEX', keys.history, end, bound('(', after), 'LIMIT', '0', String(limit)];
}

function bound(kind: '(' | '[', seq: ConversationSeq): Buffer {
  const bytes = Buffer.alloc(9);
  bytes.write(kind, 0, 'latin1');
  bytes.writeBigUInt64BE(BigInt(seq), 1);
  return bytes;
}

export function membersFrom(reply: Reply | undefined): readonly Buffer[] | CorruptReason {
  return isWrongType(reply) ? 'wrongType' : asArray(reply).map(asBuffer);
}

/** Of all that a message has beside its record. */
export function reactionsCommand(keys: ConversationKeys, sequences: readonly ConversationSeq[]): Command {
  return ['HMGET', keys.reactions, ...sequences.map(String)];
}

/** In the order of the sequences. */
export function reactionsFrom(reply: Reply | undefined, sequences: readonly ConversationSeq[]): RecordBytes[] {
  if (isWrongType(reply)) return sequences.map(() => 'wrongType');
  return asArray(reply).map(asOptionalBuffer);
}

export interface BucketRead {
  readonly commands: readonly Command[];
  /** The values in the order of the sequences, from the replies of `commands`. */
  readonly valuesFrom: (replies: readonly Reply[]) => RecordBytes[];
}

/** One HMGET for each bucket. `keyOf` names the hash of a bucket: records or bodies. */
export function bucketRead(keyOf: (bucket: number) => string, sequences: readonly ConversationSeq[]): BucketRead {
  const places = new Map<number, number[]>();
  for (const [i, seq] of sequences.entries()) {
    const bucket = bucketOf(seq);
    const group = places.get(bucket);
    if (group === undefined) places.set(bucket, [i]);
    else group.push(i);
  }
  return {
    commands: [...places].map(([bucket, group]) => ['HMGET', keyOf(bucket), ...group.map((i) => String(sequences[i]))]),
    valuesFrom: (replies) => {
      const values: RecordBytes[] = sequences.map(() => undefined);
      for (const [g, group] of [...places.values()].entries()) {
        const reply = replies[g];
        const found = isWrongType(reply) ? undefined : asArray(reply);
        for (const [j, i] of group.entries()) values[i] = found === undefined ? 'wrongType' : asOptionalBuffer(found[j]);
      }
      return values;
    },
  };
}

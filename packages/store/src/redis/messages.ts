/**
 * Whole messages: records with the bodies that are kept apart.
 *
 * A pipeline is not a snapshot, so an amendment may fall between record and body. What does not fit together is read
 * again in one atomic read; only what is still wrong there is damage.
 */
import { assert, type ConversationSeq, type CorruptReason, type Message, type MessageRecord, SEQ_ZERO, type UserId } from '@qim/proto';
import { corrupt } from '../errors.js';
import { sequenceToBytes } from '../message/bytes.js';
import { decodeRecord } from '../message/codec.js';
import type { StoredFacts } from '../message/facts.js';
import { decodeReactions } from '../message/reactions.js';
import type { RecordBytes } from '../message/summaries.js';
import type { MemberEntry } from '../message/summary.js';
import { type Command, isWrongType, type Reply } from './connection.js';
import type { RedisContext } from './context.js';
import type { ConversationKeys, ConversationPlace } from './keys.js';
import { bucketRead, factsCommand, factsFrom, memberCommand, memberFrom, reactionsCommand, reactionsFrom } from './reads.js';
import { asArray, toBuffer } from './replies.js';

interface Damage {
  readonly reason: CorruptReason;
  readonly sequence: ConversationSeq;
}

/** What is stored for one sequence. */
interface Row {
  readonly sequence: ConversationSeq;
  readonly record: RecordBytes;
  readonly body: RecordBytes;
  readonly reactions: RecordBytes;
  readonly indexed: boolean;
}

interface Stored {
  readonly facts: StoredFacts | CorruptReason | undefined;
  readonly member: MemberEntry | CorruptReason | undefined;
  readonly rows: readonly Row[] | CorruptReason;
}

/**
 * As MessageStore.readMessages; of a user who is not a member (`reader`; undefined: anyone) nothing is told.
 *
 * @throws CorruptRecord | UnsupportedVersion
 */
export async function readMessages(
  { connection, keys }: RedisContext,
  place: ConversationPlace,
  sequences: readonly ConversationSeq[],
  reader?: UserId,
): Promise<readonly (Message | undefined)[]> {
  if (sequences.length === 0) return [];
  const own = keys.conversation(place.tenantId, place.conversationId);
  const read = storedRead(own, sequences, reader);
  const hidden = sequences.map(() => undefined);
  let stored = read.storedFrom(await connection.pipeline(read.commands));
  if (reader !== undefined && stored.member === undefined) return hidden;
  let messages = messagesOf(place, stored);
  if (isDamage(messages)) {
    stored = read.storedFrom(await connection.atomically(read.commands));
    if (reader !== undefined && stored.member === undefined) return hidden;
    messages = messagesOf(place, stored);
  }
  if (isDamage(messages)) throw corrupt(place.tenantId, place.conversationId, messages.reason, messages.sequence);
  return messages;
}

function isDamage<T>(value: readonly T[] | Damage): value is Damage {
  return 'reason' in value;
}

function storedRead(keys: ConversationKeys, sequences: readonly ConversationSeq[], reader: UserId | undefined) {
  const records = bucketRead((bucket) => keys.records(bucket), sequences);
  const bodies = bucketRead((bucket) => keys.bodies(bucket), sequences);
  const index: Command = ['ZMSCORE', keys.history, ...sequences.map((seq) => toBuffer(sequenceToBytes(seq)))];
  const member = reader === undefined ? [] : [memberCommand(keys, reader)];
  const reactions = reactionsCommand(keys, sequences);
  const commands: Command[] = [factsCommand(keys), index, reactions, ...records.commands, ...bodies.commands, ...member];
  const storedFrom = (replies: readonly Reply[]): Stored => {
    const [facts, scores, held, ...rest] = replies;
    const reactionBytes = reactionsFrom(held, sequences);
    const recordBytes = records.valuesFrom(rest);
    const bodyBytes = bodies.valuesFrom(rest.slice(records.commands.length));
    const indexed = isWrongType(scores) ? undefined : asArray(scores).map((score) => score !== null);
    return {
      facts: factsFrom(facts),
      member: reader === undefined ? undefined : memberFrom(rest.at(-1)),
      rows:
        indexed === undefined
          ? 'wrongType'
          : sequences.map((sequence, i) => ({
              sequence,
              record: recordBytes[i],
              body: bodyBytes[i],
              reactions: reactionBytes[i],
              indexed: indexed[i] === true,
            })),
    };
  };
  return { commands, storedFrom };
}

function messagesOf(place: ConversationPlace, { facts, member, rows }: Stored): (Message | undefined)[] | Damage {
  for (const part of [facts, member, rows]) if (typeof part === 'string') return { reason: part, sequence: SEQ_ZERO };
  assert(typeof facts !== 'string' && typeof rows !== 'string', 'reasons were returned');
  const messages: (Message | undefined)[] = [];
  for (const row of rows) {
    const { sequence, indexed } = row;
    if (facts !== undefined && sequence < facts.retainedFrom) {
      messages.push(undefined);
      continue;
    }
    const record = wholeRecord(place, sequence, row.record, row.body);
    if (typeof record === 'string') return { reason: record, sequence };
    if (record === undefined && !indexed) {
      messages.push(undefined);
      continue;
    }
    if (facts === undefined) return { reason: 'factsMissing', sequence: SEQ_ZERO };
    if (record === undefined) return { reason: 'recordMissing', sequence };
    if (!indexed) return { reason: 'indexMissing', sequence };
    const reactions = typeof row.reactions === 'string' ? row.reactions : decodeReactions(record, row.reactions);
    if (typeof reactions === 'string') return { reason: reactions, sequence };
    messages.push({ record, epoch: facts.epoch, reactions });
  }
  return messages;
}

/** The record that was asked for, with its body; undefined: there is none. */
export function wholeRecord(
  { tenantId, conversationId }: ConversationPlace,
  sequence: ConversationSeq,
  record: RecordBytes,
  body: RecordBytes,
): MessageRecord | CorruptReason | undefined {
  if (record === undefined || typeof record === 'string') return record;
  if (typeof body === 'string') return body;
  const decoded = decodeRecord(record, body);
  if (typeof decoded === 'string') return decoded;
  const asked = decoded.tenantId === tenantId && decoded.conversationId === conversationId && decoded.conversationSeq === sequence;
  return asked ? decoded : 'recordMismatch';
}

/** Records and bodies of the same moment, in the order of the sequences. */
export async function readAtomically(
  { connection }: RedisContext,
  keys: ConversationKeys,
  sequences: readonly ConversationSeq[],
): Promise<readonly { readonly record: RecordBytes; readonly body: RecordBytes }[]> {
  const records = bucketRead((bucket) => keys.records(bucket), sequences);
  const bodies = bucketRead((bucket) => keys.bodies(bucket), sequences);
  const found = await connection.atomically([...records.commands, ...bodies.commands]);
  const bodyBytes = bodies.valuesFrom(found.slice(records.commands.length));
  return records.valuesFrom(found).map((record, i) => ({ record, body: bodyBytes[i] }));
}

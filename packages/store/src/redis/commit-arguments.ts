/** A commit as the arguments of commit.lua, whose header tells their order. What needs no reading is made here, once. */
import { ConversationKind, HistoryVisibility, MessageType, parseConversationSeq, Role, SEQ_ZERO } from '@qim/proto';
import { encodeRecord, RECORD_STAMP_BYTES, RECORD_STAMP_HEAD_OFFSET } from '../message/codec.js';
import { FACT_FIELDS, formatFacts, formatMember, formatSettings, initialFacts } from '../message/facts.js';
import { requestFingerprint } from '../message/fingerprint.js';
import type { CommitRequest, FactsChange, MembershipChange, NewConversation } from '../message/message-store.js';
import { committedRecord } from '../message/record.js';
import { outboxKind } from '../outbox/outbox.js';
import { dedupField } from './keys.js';

const SEQ_ONE = parseConversationSeq(1);
/** The script puts in what only it knows. */
const UNSTAMPED = { conversationSeq: SEQ_ZERO, prevSequence: SEQ_ZERO, committedAtMs: 0 };
const SETTINGS = { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false };
const INITIAL_FACTS = formatFacts(initialFacts(ConversationKind.Direct, '', SETTINGS, []));
/** Behind kind, title, settings and pair: what does not depend on the conversation. */
const INITIAL_NUMBERS = FACT_FIELDS.slice(4).map((field) => INITIAL_FACTS[field]);
export const LEAST_ROLE = { member: Role.Member, admin: Role.Admin, owner: Role.Owner } as const;

export interface CommitArguments {
  /** All its values. In one piece: each would else be one more for the client library to write. */
  readonly packed: Buffer;
  /** Of record and body. */
  readonly bytes: number;
}

export function commitArguments(request: CommitRequest): CommitArguments {
  const { sender, clientMessageId, needs, type, create, change } = request;
  const { record, body } = encodeRecord(committedRecord(request, UNSTAMPED));
  const values = [
    record.subarray(RECORD_STAMP_HEAD_OFFSET + RECORD_STAMP_BYTES, -RECORD_STAMP_BYTES),
    body ?? '',
    dedupField(sender.userId, clientMessageId),
    sender.userId,
    needs === 'post' || needs === 'system' ? needs : String(LEAST_ROLE[needs]),
    outboxKind(change),
    `${type === MessageType.Control ? '0' : '1'}${create?.onlyNew === true ? '1' : '0'}`,
    create === undefined ? '' : packedValues(creationArguments(create)),
    change === undefined ? '' : packedValues(changeArguments(change)),
  ];
  const packed = Buffer.concat([requestFingerprint(request), record.subarray(0, RECORD_STAMP_HEAD_OFFSET), packedValues(values)]);
  return { packed, bytes: record.length + (body?.length ?? 0) };
}

/** Of a value's length. */
const LENGTH_BYTES = 4;

/** One after the other, each behind its length. */
export function packedValues(values: readonly (string | Uint8Array)[]): Buffer {
  let bytes = 0;
  for (const value of values) bytes += LENGTH_BYTES + (typeof value === 'string' ? Buffer.byteLength(value) : value.length);
  const packed = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const value of values) {
    const start = at + LENGTH_BYTES;
    if (typeof value !== 'string') packed.set(value, start);
    const length = typeof value === 'string' ? packed.write(value, start) : value.length;
    packed.writeUInt32BE(length, at);
    at = start + length;
  }
  return packed;
}

function changeArguments(change: MembershipChange | FactsChange): string[] {
  switch (change.kind) {
    case 'title':
      return [change.kind, change.title];
    case 'settings':
      return [change.kind, formatSettings(change.before), formatSettings(change.settings)];
    case 'role':
      return [change.kind, String(change.role), ...change.userIds];
    case 'join':
    case 'leave':
      return [change.kind, ...change.userIds];
  }
}

function creationArguments({ kind, title, settings, members }: NewConversation): string[] {
  const pair = kind === ConversationKind.Direct ? members.map(({ userId }) => userId) : [];
  const values = [String(kind), title, formatSettings(settings), JSON.stringify(pair), ...INITIAL_NUMBERS];
  for (const { userId, role } of members) values.push(userId, formatMember({ role, joinedSeq: SEQ_ONE, visibleFrom: SEQ_ONE }));
  return values;
}

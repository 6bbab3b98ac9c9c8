/**
 * Damage and holes for tests, on a Redis that a server may be using: what a fault of the machine, of a program or of a
 * person would have done. Never for production data.
 */
import { assert, type ConversationSeq, parseConversationSeq, STORE_COMMAND_TIMEOUT_MS } from '@qim/proto';
import { sequenceFromBytes, sequenceToBytes } from '../message/bytes.js';
import type { FactField } from '../message/facts.js';
import { CONVERSATION_DAMAGE_KINDS, type ConversationTarget, type DamageKind, type DamageTarget } from '../testing/damage-kinds.js';
import { damagedBody, damagedRecord } from '../testing/damaged-bytes.js';
import { parseAddress } from './address.js';
import { openConnection } from './connect.js';
import type { Command, RedisConnection } from './connection.js';
import { bucketOf, type ConversationKeys, DEPLOYMENT_KEY, KeySpace } from './keys.js';
import { asArray, asBuffer, asDecimal, toBuffer } from './replies.js';

/** The next `count` sequences will not be given. */
export async function skipSequencesRedis(url: string, target: ConversationTarget, count: number): Promise<void> {
  await change(url, target, async (connection, keys) => {
    const [last = 0, reserved = 0] = asArray(await connection.call('HMGET', keys.facts, 'lastSequence', 'reservedThrough')).map(asDecimal);
    return [setFact(keys, 'reservedThrough', Math.max(last, reserved) + count)];
  });
}

export async function damageRedis(url: string, target: DamageTarget, kind: DamageKind): Promise<void> {
  await change(url, target, (connection, keys) => {
    const ofConversation: readonly DamageKind[] = CONVERSATION_DAMAGE_KINDS;
    if (ofConversation.includes(kind)) return conversationDamage(connection, keys, target, kind);
    assert(target.conversationSeq !== undefined, 'a damaged record is named by its sequence');
    return recordDamage(connection, keys, target.conversationSeq, kind);
  });
}

async function change(
  url: string,
  { tenantId, conversationId }: ConversationTarget,
  plan: (connection: RedisConnection, keys: ConversationKeys) => Promise<Command[]>,
): Promise<void> {
  const connection = await openConnection({ address: parseAddress(url), name: 'qim-damage', timeoutMs: STORE_COMMAND_TIMEOUT_MS });
  try {
    const keys = new KeySpace(asDecimal(await connection.call('HGET', DEPLOYMENT_KEY, 'partitions')));
    const commands = await plan(connection, keys.conversation(tenantId, conversationId));
    await connection.atomically(commands);
  } finally {
    await connection.close();
  }
}

const GARBAGE = 'no such form';
/** Far past any head. */
const NOWHERE = 2 ** 52;

async function conversationDamage(
  connection: RedisConnection,
  keys: ConversationKeys,
  target: DamageTarget,
  kind: DamageKind,
): Promise<Command[]> {
  const { history, facts } = keys;
  switch (kind) {
    case 'indexKeyMissing':
      return [['DEL', history]];
    case 'indexMemberExtra':
      return [['ZADD', history, '0', memberOf(parseConversationSeq((await newest(connection, keys)) + 1))]];
    case 'indexMemberShort': {
      const member = memberOf(await newest(connection, keys));
      return [
        ['ZREM', history, member],
        ['ZADD', history, '0', member.subarray(0, 7)],
      ];
    }
    case 'indexScoreNonZero':
      return [['ZADD', history, '1', memberOf(await newest(connection, keys))]];
    case 'indexWrongType':
      return [['SET', history, GARBAGE]];
    case 'factsMissing':
      return [['DEL', facts]];
    case 'factsUnreadable':
      return [['HSET', facts, 'epoch', GARBAGE]];
    case 'factsAhead':
    case 'factsBehind': {
      const last = asDecimal(await connection.call('HGET', facts, 'lastSequence'));
      return [setFact(keys, 'lastSequence', last + (kind === 'factsAhead' ? 1 : -1))];
    }
    case 'previewPointerWrong':
      return [setFact(keys, 'previewSequence', NOWHERE)];
    case 'memberUnreadable':
      assert(target.userId !== undefined, 'a damaged member entry is named by its user');
      return [['HSET', keys.members, target.userId, GARBAGE]];
    default:
      throw new Error(`${kind} is not of a conversation`);
  }
}

async function recordDamage(
  connection: RedisConnection,
  keys: ConversationKeys,
  seq: ConversationSeq,
  kind: DamageKind,
): Promise<Command[]> {
  const records = keys.records(bucketOf(seq));
  const bodies = keys.bodies(bucketOf(seq));
  const field = String(seq);
  const stored = asBuffer(await connection.call('HGET', records, field));
  switch (kind) {
    case 'recordMissing':
      return [['HDEL', records, field]];
    case 'recordOfAnother':
      return [['HSET', records, field, await neighbour(connection, keys, seq)]];
    case 'bodyMissing':
      return [['HDEL', bodies, field]];
    case 'bodyBitFlipped':
      return [['HSET', bodies, field, toBuffer(damagedBody(asBuffer(await connection.call('HGET', bodies, field))))]];
    case 'indexMemberMissing':
      return [['ZREM', keys.history, memberOf(seq)]];
    case 'recordTruncated':
    case 'recordBitFlipped':
    case 'recordOtherTenant':
    case 'recordOtherConversation':
    case 'recordOtherSequence':
    case 'recordUnknownStatus':
    case 'recordUnknownVersion':
      return [['HSET', records, field, toBuffer(damagedRecord(stored, kind))]];
    default:
      throw new Error(`${kind} is not of a record`);
  }
}

/** The bytes of the record before this one, or of the one after it. */
async function neighbour(connection: RedisConnection, keys: ConversationKeys, seq: ConversationSeq): Promise<Buffer> {
  const rank = Number(await connection.call('ZRANK', keys.history, memberOf(seq)));
  const at = String(rank === 0 ? 1 : rank - 1);
  const [member] = asArray(await connection.call('ZRANGE', keys.history, at, at));
  assert(member !== undefined, 'the record has a neighbour');
  const other = sequenceFromBytes(asBuffer(member));
  assert(other !== undefined, 'the neighbour is a member');
  return asBuffer(await connection.call('HGET', keys.records(bucketOf(other)), String(other)));
}

async function newest(connection: RedisConnection, keys: ConversationKeys): Promise<ConversationSeq> {
  const [member] = asArray(await connection.call('ZRANGE', keys.history, '-1', '-1'));
  const seq = member === undefined ? undefined : sequenceFromBytes(asBuffer(member));
  assert(seq !== undefined, 'the conversation has a record');
  return seq;
}

function memberOf(seq: ConversationSeq): Buffer {
  return toBuffer(sequenceToBytes(seq));
}

function setFact(keys: ConversationKeys, field: FactField, value: number): Command {
  return ['HSET', keys.facts, field, String(value)];
}

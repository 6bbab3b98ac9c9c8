/** Amendments and reactions on Redis: a compare-and-set on the target's activity id, in one script each. */
import {
  assert,
  type MessageRecord,
  REACTION_KINDS_MAX,
  REACTION_USERS_MAX,
  REACTIONS_BYTES_MAX,
  type Reactions,
  SEQ_MAX,
} from '@qim/proto';
import { corrupt } from '../errors.js';
import { setUuid } from '../message/bytes.js';
import { encodeRecord } from '../message/codec.js';
import type { AmendOutcome, AmendRequest, ReactRequest } from '../message/message-store.js';
import { decodeReactions } from '../message/reactions.js';
import { amendedRecord, changesNothing, isErased } from '../message/record.js';
import { LEAST_ROLE } from './commit-arguments.js';
import { refusal } from './commit-results.js';
import { isWrongType, type Reply } from './connection.js';
import type { RedisContext } from './context.js';
import { bucketOf } from './keys.js';
import { asArray, asBuffer, asDecimal, asText, toBuffer } from './replies.js';

/** @throws as MessageStore.amend */
export async function amend(context: RedisContext, request: AmendRequest): Promise<AmendOutcome> {
  const { target } = request;
  const { tenantId, conversationId, conversationSeq } = target;
  const idle = changesNothing(request);
  const record = idle ? target : amendedRecord(request, context.now() + context.clockOffsetMs());
  const encoded = idle ? undefined : encodeRecord(record);
  const keys = context.keys.conversation(tenantId, conversationId);
  const bucket = bucketOf(conversationSeq);
  const places = [keys.facts, keys.members, keys.history, keys.records(bucket), keys.bodies(bucket)];
  const reply = await context.scripts.run(
    'amend',
    [...places, keys.amendments, keys.outbox, keys.reactions, ...keys.guard],
    [
      String(conversationSeq),
      activityOf(target),
      request.actor,
      String(LEAST_ROLE[request.needs]),
      encoded === undefined ? '' : toBuffer(encoded.record),
      encoded?.body === undefined ? '' : toBuffer(encoded.body),
      String(tenantId),
      conversationId,
      String(SEQ_MAX),
      isErased(record.status) ? '1' : '0',
    ],
  );
  return outcomeOf(reply, target, record, request.needs);
}

/** @throws as MessageStore.react */
export async function react(context: RedisContext, { actor, target, emoji, on }: ReactRequest): Promise<AmendOutcome> {
  const { tenantId, conversationId, conversationSeq } = target;
  const keys = context.keys.conversation(tenantId, conversationId);
  const places = [keys.facts, keys.members, keys.history, keys.records(bucketOf(conversationSeq))];
  const limits = [SEQ_MAX, REACTION_KINDS_MAX, REACTION_USERS_MAX, REACTIONS_BYTES_MAX].map(String);
  const reply = await context.scripts.run(
    'react',
    [...places, keys.reactions, keys.amendments, keys.outbox, ...keys.guard],
    [String(conversationSeq), activityOf(target), actor, emoji, on ? '1' : '0', String(tenantId), conversationId, ...limits],
  );
  return outcomeOf(reply, target, target, 'member');
}

function activityOf({ conversationSeq, activityId }: MessageRecord): Buffer {
  assert(conversationSeq > 0, 'the target is a committed record');
  const activity = Buffer.alloc(16);
  setUuid(activity, 0, activityId);
  return activity;
}

/** `record`: as it is when the script says amended. */
function outcomeOf(reply: Reply, target: MessageRecord, record: MessageRecord, needs: string): AmendOutcome {
  const { tenantId, conversationId, conversationSeq } = target;
  if (isWrongType(reply)) throw corrupt(tenantId, conversationId, 'wrongType', conversationSeq);
  const [kind, ...values] = asArray(reply);
  switch (asText(kind)) {
    case 'amended': {
      const [epoch, value] = values;
      return { kind: 'amended', message: { record, epoch: asDecimal(epoch), reactions: reactionsFrom(record, asBuffer(value)) } };
    }
    case 'changed':
      return { kind: 'changed' };
    default:
      throw refusal(asText(kind), values, target, needs);
  }
}

/** Empty: none. @throws CorruptRecord | UnsupportedVersion */
function reactionsFrom(record: MessageRecord, value: Buffer): Reactions | undefined {
  const reactions = decodeReactions(record, value.length === 0 ? undefined : value);
  if (typeof reactions === 'string') throw corrupt(record.tenantId, record.conversationId, reactions, record.conversationSeq);
  return reactions;
}

/** Amendments on Redis: a compare-and-set on the target's activity id, in one script. */
import { assert, SEQ_MAX } from '@qim/proto';
import { corrupt } from '../errors.js';
import { setUuid } from '../message/bytes.js';
import { encodeRecord } from '../message/codec.js';
import type { AmendOutcome, AmendRequest } from '../message/message-store.js';
import { amendedRecord, changesNothing } from '../message/record.js';
import { LEAST_ROLE } from './commit-arguments.js';
import { refusal } from './commit-results.js';
import { isWrongType } from './connection.js';
import type { RedisContext } from './context.js';
import { bucketOf } from './keys.js';
import { asArray, asDecimal, asText, toBuffer } from './replies.js';

/** @throws as MessageStore.amend */
export async function amend(context: RedisContext, request: AmendRequest): Promise<AmendOutcome> {
  const { target } = request;
  const { tenantId, conversationId, conversationSeq } = target;
  const idle = changesNothing(request);
  const record = idle ? target : amendedRecord(request, context.now() + context.clockOffsetMs());
  const encoded = idle ? undefined : encodeRecord(record);
  assert(conversationSeq > 0, 'the target is a committed record');
  const keys = context.keys.conversation(tenantId, conversationId);
  const bucket = bucketOf(conversationSeq);
  const activity = Buffer.alloc(16);
  setUuid(activity, 0, target.activityId);
  const reply = await context.scripts.run(
    'amend',
    [keys.facts, keys.members, keys.history, keys.records(bucket), keys.bodies(bucket), keys.amendments, keys.outbox, ...keys.guard],
    [
      String(conversationSeq),
      activity,
      request.actor,
      String(LEAST_ROLE[request.needs]),
      encoded === undefined ? '' : toBuffer(encoded.record),
      encoded?.body === undefined ? '' : toBuffer(encoded.body),
      String(tenantId),
      conversationId,
      String(SEQ_MAX),
    ],
  );
  if (isWrongType(reply)) throw corrupt(tenantId, conversationId, 'wrongType', conversationSeq);
  const [kind, ...values] = asArray(reply);
  switch (asText(kind)) {
    case 'amended':
      return { kind: 'amended', message: { record, epoch: asDecimal(values[0]) } };
    case 'changed':
      return { kind: 'changed' };
    default:
      throw refusal(asText(kind), values, target, request.needs);
  }
}

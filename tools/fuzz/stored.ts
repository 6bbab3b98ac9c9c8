/** What reads the store's own bytes, and what other processes say: damage is an answer, never a crash and never another's record. */
import { LEGACY_TENANT_ID, type Message, parseUserId } from '@qim/proto';
import fc from 'fast-check';
import { decodeEvent, encodeEvent } from '../../packages/push/src/event-codec.js';
import { decodeEnvelope, encodeEnvelope, encodeHead } from '../../packages/store/src/bus/envelope.js';
import { decodeOutboxValue } from '../../packages/store/src/embedded/outbox-value.js';
import { decodeFacts } from '../../packages/store/src/embedded/values.js';
import { decodeRecord, encodeRecord } from '../../packages/store/src/message/codec.js';
import { decodeDedupEntry } from '../../packages/store/src/message/dedup-entry.js';
import { parseMember } from '../../packages/store/src/message/facts.js';
import { decodeMessage, encodeMessage } from '../../packages/store/src/message/message-bytes.js';
import { encodeReactions, readReactions } from '../../packages/store/src/message/reactions.js';
import { parseProfile, parseReport, parseWebPush } from '../../packages/store/src/users/stored.js';
import { GOLDEN } from '../../packages/store/tests/golden-records.js';
import { broken, brokenText, nastyJson, nastyText } from './hostile.js';
import { must, type Target, target } from './target.js';

const records = Object.values(GOLDEN);
const anyRecord = fc.constantFrom(...records);
const anyBytes = fc.uint8Array({ maxLength: 200 });
const message = (record: (typeof records)[number]): Message => ({ record, epoch: 1 });
const payloads = anyRecord.map((record) =>
  encodeEvent({ event: { kind: 'messageCommitted', message: message(record) }, except: undefined }),
);

export function storedTargets(): readonly Target[] {
  return [
    target({
      name: 'stored records and bodies',
      weight: 20,
      input: anyRecord.chain((record) => {
        const { header, body = new Uint8Array(0) } = piecesOf(record);
        return fc.record({ header: broken(fc.constant(header)), body: fc.option(broken(fc.constant(body)), { nil: undefined }) });
      }),
      holds: ({ header, body }) => {
        const found = decodeRecord(header, body);
        if (typeof found === 'string') return;
        const again = piecesOf(found);
        must(Buffer.compare(again.header, header) === 0, 'what is read is what is written again');
      },
    }),
    target({
      name: 'reactions, outbox, facts, members, profiles, reports, de-duplication',
      weight: 10,
      input: fc.oneof(
        broken(fc.constantFrom(...smallPieces())),
        anyBytes,
        brokenText(nastyJson.map((json) => JSON.stringify(json) ?? '')).map((text) => Buffer.from(text)),
        nastyText.map((text) => Buffer.from(text)),
      ),
      holds: (bytes) => {
        readReactions(bytes);
        decodeOutboxValue(bytes);
        decodeFacts(bytes);
        decodeDedupEntry(bytes);
        const text = Buffer.from(bytes).toString('utf8');
        parseMember(text);
        parseProfile(text);
        parseReport(text);
        parseWebPush(text);
      },
    }),
    target({
      name: 'events between processes',
      weight: 20,
      input: fc.oneof(
        broken(payloads.map((payload) => encodeEnvelope(encodeHead('one', LEGACY_TENANT_ID, [parseUserId('alice')]), payload))),
        broken(payloads),
        anyBytes,
        nastyJson.map(headAlone),
      ),
      holds: (bytes) => {
        const envelope = decodeEnvelope(bytes);
        if (envelope !== undefined) must(envelope.userIds.length > 0, 'an event is for somebody');
        decodeEvent(envelope?.payload ?? bytes);
        decodeMessage(bytes);
      },
    }),
  ];
}

function piecesOf(record: (typeof records)[number]) {
  const encoded = encodeRecord(record);
  return { header: encoded.record, ...(encoded.body === undefined ? {} : { body: encoded.body }) };
}

function smallPieces(): readonly Uint8Array[] {
  const [first] = records;
  if (first === undefined) throw new Error('there are records');
  const kinds = [{ emoji: '👍', userIds: [parseUserId('alice')], count: 1 }];
  return [encodeReactions(first.messageId, { revision: 1, kinds }), Buffer.from('1 1 1'), encodeMessage(message(first))];
}

/** An event whose head is any JSON. */
function headAlone(json: unknown): Uint8Array {
  const head = Buffer.from(JSON.stringify(json) ?? '');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head]);
}

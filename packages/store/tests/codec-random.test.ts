import {
  type Control,
  ControlKind,
  HistoryVisibility,
  MESSAGE_TYPE_MAX,
  type MessageContent,
  type MessageRecord,
  MessageStatus,
  parseActivityId,
  parseClientMessageId,
  parseConversationId,
  parseDeviceId,
  parseMessageId,
  parseTenantId,
  parseUserId,
  Role,
  SEQ_MAX,
  TENANT_ID_MAX,
  utf8Bytes,
} from '@qim/proto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeRecord, encodeRecord } from '../src/message/codec.js';
import { decodeDedupEntry, encodeDedupEntry } from '../src/message/dedup-entry.js';
import { requestFingerprint } from '../src/message/fingerprint.js';
import { snippetOf } from '../src/message/snippet.js';
import { seq } from './records.js';

const wellFormed = (text: string) => !/\p{Surrogate}/u.test(text);
const anyText = (maxLength: number) => fc.string({ unit: 'binary', maxLength }).filter(wellFormed);
const idText = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((text) => text.length > 0 && utf8Bytes(text) <= 64 && !/[\p{Cc}\u2028\u2029]|\p{Surrogate}/u.test(text));
const userId = idText.map((text) => parseUserId(text));
const userIds = fc.uniqueArray(userId, { maxLength: 100 });
const uuid = fc.uuid();
const bytes = fc.uint8Array({ maxLength: 3_000 });
const title = anyText(80);

const control: fc.Arbitrary<Control> = fc.oneof(
  fc.record({ kind: fc.constant(ControlKind.Created), title, userIds }),
  fc.record({ kind: fc.constantFrom(ControlKind.Joined, ControlKind.Left, ControlKind.Removed), userIds }),
  fc.record({ kind: fc.constant(ControlKind.Title), title }),
  fc.record({ kind: fc.constant(ControlKind.Role), userIds, role: fc.constantFrom(...Object.values(Role)) }),
  fc.record({
    kind: fc.constant(ControlKind.Settings),
    settings: fc.record({ historyVisibility: fc.constantFrom(...Object.values(HistoryVisibility)), onlyAdminsPost: fc.boolean() }),
  }),
  fc.record({ kind: fc.constant(ControlKind.App), appType: title, appData: bytes }),
);

const content: fc.Arbitrary<MessageContent> = fc.oneof(
  fc.record({ kind: fc.constant('text' as const), text: anyText(2_000) }),
  fc.record({ kind: fc.constant('data' as const), contentType: fc.string({ maxLength: 127 }), data: bytes }),
  fc.record({ kind: fc.constant('control' as const), control }),
  fc.record({ kind: fc.constant('none' as const) }),
);

const record: fc.Arbitrary<MessageRecord> = fc
  .record({
    tenantId: fc.integer({ min: 0, max: TENANT_ID_MAX }).map((value) => parseTenantId(value)),
    conversationId: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/).map((text) => parseConversationId(text)),
    conversationSeq: fc.integer({ min: 1, max: SEQ_MAX }),
    behind: fc.integer({ min: 1, max: 1_000 }),
    messageId: uuid,
    activityId: uuid,
    sender: fc.record({
      userId,
      deviceId: fc.option(
        idText.map((text) => parseDeviceId(text)),
        { nil: undefined },
      ),
    }),
    clientMessageId: idText.map((text) => parseClientMessageId(text)),
    type: fc.integer({ min: 1, max: MESSAGE_TYPE_MAX }),
    status: fc.constantFrom(...Object.values(MessageStatus)),
    revision: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    committedAtMs: fc.integer({ min: 0, max: SEQ_MAX }),
    amendedAtMs: fc.integer({ min: 0, max: SEQ_MAX }),
    mentions: fc.record({ userIds, all: fc.boolean() }),
    replyTo: fc.option(
      fc.record({ conversationSeq: fc.integer({ min: 1, max: SEQ_MAX }).map(seq), messageId: uuid.map((id) => parseMessageId(id)) }),
      {
        nil: undefined,
      },
    ),
    content,
  })
  .filter(({ messageId, activityId }) => messageId !== activityId)
  .map(({ behind, ...rest }) => ({
    ...rest,
    conversationSeq: seq(rest.conversationSeq),
    prevSequence: seq(Math.max(0, rest.conversationSeq - behind)),
    messageId: parseMessageId(rest.messageId),
    activityId: parseActivityId(rest.activityId),
  }));

test('any record is read as it was written', () => {
  fc.assert(
    fc.property(record, (written) => {
      const encoded = encodeRecord(written);
      expect(decodeRecord(encoded.record, encoded.body)).toEqual(written);
      // Redis answers with Buffers that lie in larger ones.
      const buffer = (part: Uint8Array | undefined) => part && Buffer.concat([Buffer.from('xyz'), part]).subarray(3);
      expect(decodeRecord(buffer(encoded.record) ?? Buffer.alloc(0), buffer(encoded.body))).toEqual(written);
    }),
    { numRuns: 300 },
  );
});

test('random bytes are no record', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (noise, versioned) => {
      if (versioned) noise.set([1, 254].slice(0, noise.length));
      expect(typeof decodeRecord(noise, undefined)).toBe('string');
    }),
    { numRuns: 2_000 },
  );
});

test('a snippet is the beginning of the text, whole characters, at most 256 bytes', () => {
  fc.assert(
    fc.property(anyText(400), (text) => {
      const snippet = snippetOf({ kind: 'text', text });
      expect(text.startsWith(snippet.text)).toBe(true);
      expect(wellFormed(snippet.text)).toBe(true);
      expect(utf8Bytes(snippet.text)).toBeLessThanOrEqual(256);
      expect(snippet.truncated).toBe(utf8Bytes(text) > 256);
      if (snippet.truncated) expect(utf8Bytes(snippet.text)).toBeGreaterThan(252);
    }),
    { numRuns: 300 },
  );
});

test('two requests have one fingerprint exactly when they say the same', () => {
  const request = record.map(({ type, content: said, mentions, replyTo }) => ({ type, content: said, mentions, replyTo }));
  fc.assert(
    fc.property(request, request, (a, b) => {
      expect(requestFingerprint(a)).toEqual(requestFingerprint(structuredClone(a)));
      expect(requestFingerprint(a)).toHaveLength(16);
      expect(requestFingerprint(a)).not.toEqual(requestFingerprint(b));
    }),
    { numRuns: 100 },
  );
});

test('parts that run together differently have other fingerprints', () => {
  const base = { type: 1, content: { kind: 'text', text: 'a' }, mentions: { userIds: [], all: false }, replyTo: undefined } as const;
  const forms = [
    base,
    { ...base, content: { kind: 'text', text: '' } },
    { ...base, content: { kind: 'none' } },
    { ...base, content: { kind: 'data', contentType: 'a', data: new Uint8Array(0) } },
    { ...base, content: { kind: 'data', contentType: '', data: Uint8Array.of(97) } },
    { ...base, mentions: { userIds: ['a', 'b'].map((id) => parseUserId(id)), all: false } },
    { ...base, mentions: { userIds: ['ab'].map((id) => parseUserId(id)), all: false } },
    { ...base, mentions: { userIds: ['b', 'a'].map((id) => parseUserId(id)), all: false } },
    { ...base, mentions: { userIds: [], all: true } },
    { ...base, type: 2 },
  ] as const;
  const fingerprints = forms.map((form) => Buffer.from(requestFingerprint(form)).toString('hex'));
  expect(new Set(fingerprints).size).toBe(forms.length);
});

test('a de-duplication entry is 64 bytes, read as it was written, and nothing else', () => {
  const entry = record.map(({ conversationSeq, messageId, activityId, committedAtMs, ...said }) => ({
    ...{ conversationSeq, messageId, activityId, committedAtMs },
    fingerprint: new Uint8Array(requestFingerprint(said)),
  }));
  fc.assert(
    fc.property(entry, (written) => {
      const stored = encodeDedupEntry(written);
      expect(stored).toHaveLength(64);
      expect(decodeDedupEntry(stored)).toEqual(written);
      expect(decodeDedupEntry(stored.subarray(1))).toBe('dedupUnreadable');
      expect(decodeDedupEntry(Uint8Array.of(...stored, 0))).toBe('dedupUnreadable');
    }),
    { numRuns: 100 },
  );
  expect(decodeDedupEntry(new Uint8Array(64))).toBe('dedupUnreadable');
});

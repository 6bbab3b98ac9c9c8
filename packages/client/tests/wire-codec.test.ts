/** The SDK's own codec, held against the library for every message that the SDK exchanges. */
import { readFileSync } from 'node:fs';
import { create, type DescField, type DescMessage, fromBinary, type Message, ScalarType, toBinary } from '@bufbuild/protobuf';
import { MessageType as DomainType } from '@qim/proto';
import * as wire from '@qim/proto/schema';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TABLES_FILE, wireTables } from '../../../tools/client-package/wire-tables.js';
import { TABLES } from '../src/gen/tables.js';
import { MessageType } from '../src/message-type.js';
import { decode, encode } from '../src/wire/codec.js';

const SEED = 20_261_130;
const schemas = new Map<string, DescMessage>(
  Object.values(wire).flatMap((one) => (typeof one === 'object' && 'kind' in one && one.kind === 'message' ? [[one.name, one]] : [])),
);
const names = Object.keys(TABLES);

/** Without what the library adds to say what it is. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const entries = Object.entries(value).filter(([key, part]) => !key.startsWith('$') && part !== undefined);
  return Object.fromEntries(entries.map(([key, part]) => [key, plain(part)]));
}

function scalarOf(type: ScalarType | undefined): fc.Arbitrary<unknown> {
  switch (type) {
    case ScalarType.STRING:
      return fc.string({ unit: 'grapheme', maxLength: 200 });
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 300 });
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.INT64:
      return fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: 0n, max: 2n ** 53n }), fc.constant(0n));
    default:
      return fc.oneof(fc.integer(), fc.constant(0));
  }
}

function fieldValue(field: DescField): fc.Arbitrary<unknown> {
  if (field.message !== undefined) return anyOf(field.message);
  return scalarOf(field.scalar);
}

function anyOf(schema: DescMessage): fc.Arbitrary<Record<string, unknown>> {
  const parts: Record<string, fc.Arbitrary<unknown>> = {};
  for (const member of schema.members) {
    if (member.kind === 'oneof') {
      const cases = member.fields.map((field) => fieldValue(field).map((value) => ({ case: field.localName, value })));
      parts[member.localName] = fc.oneof(fc.constant({ case: undefined }), ...cases);
    } else if (member.fieldKind === 'list') parts[member.localName] = fc.array(fieldValue(member), { maxLength: 4 });
    else parts[member.localName] = fc.option(fieldValue(member), { nil: undefined });
  }
  return fc.record(parts);
}

describe.each(names)('%s', (name) => {
  const schema = schemas.get(name) as DescMessage;

  test('is read as the library reads it, and written as the library can read it', () => {
    const property = fc.property(anyOf(schema), (init) => {
      const message = create(schema, init as never) as Message;
      expect(plain(decode(name, toBinary(schema, message)))).toEqual(plain(message));
      expect(plain(fromBinary(schema, encode(name, init)))).toEqual(plain(message));
    });
    fc.assert(property, { seed: SEED, numRuns: 40 });
  });
});

test('the tables are those of the schema: npm run gen writes them', () => {
  expect(readFileSync(TABLES_FILE, 'utf8')).toBe(wireTables());
});

test('fields of a newer server are passed over, of every wire type', () => {
  // Fields 100 to 103: a number, eight bytes, a text, four bytes.
  const newer = [0xa0, 0x06, 0x96, 0x01, 0xa9, 0x06, 1, 2, 3, 4, 5, 6, 7, 8, 0xb2, 0x06, 2, 65, 66, 0xbd, 0x06, 1, 2, 3, 4];
  const bytes = new Uint8Array([...newer, ...encode('Hello', { token: 'x', device: 'y' }), ...newer]);
  expect(decode('Hello', bytes)).toEqual({ token: 'x', device: 'y' });
});

test('a field that has another type than the table says is passed over', () => {
  expect(decode('Hello', new Uint8Array([0x08, 5]))).toEqual({ token: '', device: '' });
});

test('bytes that are cut off or make no sense throw a RangeError, and never hang', () => {
  const whole = encode('Message', {
    messageId: 'm',
    conversationId: 'g',
    epoch: 2n ** 60n,
    text: 'x',
    body: { case: 'text', value: 'hello' },
  });
  for (let length = 0; length < whole.length; length += 1) {
    try {
      decode('Message', whole.slice(0, length));
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
    }
  }
  expect(() => decode('Message', new Uint8Array(11).fill(0xff))).toThrow(RangeError);
  expect(() => decode('Message', new Uint8Array([0x0b]))).toThrow(RangeError);
  const property = fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
    try {
      decode('ServerFrame', bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
    }
  });
  fc.assert(property, { seed: SEED, numRuns: 2_000 });
});

test.each([
  ['Hello', { token: 5 }],
  ['Hello', { token: new Uint8Array([1]) }],
  ['CatchUpRequest', { epoch: 5 }],
  ['CatchUpRequest', { limit: 1.5 }],
  ['SendMessageRequest', { replyTo: 'text' }],
])('%s with a value of another type is refused: %j', (name, value) => {
  expect(() => encode(name, value)).toThrow(TypeError);
});

test('the named message types are those of the schema', () => {
  expect(MessageType).toEqual(DomainType);
});

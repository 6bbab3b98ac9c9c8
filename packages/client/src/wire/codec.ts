/**
 * Messages of the schema to bytes and back, by tables (src/gen/tables.ts): a few hundred bytes where a general library
 * would be half of the SDK. Values have the form of the generated types: `bigint` for 64 bits, `{case, value}` for a choice.
 * Tests hold every message against the library itself.
 */
import { TABLES } from '../gen/tables.js';
import { WireReader, WireType } from './reader.js';
import { WireWriter } from './writer.js';

interface Field {
  readonly no: number;
  readonly name: string;
  /** string, bytes, bool, int32 (an enum's too), int64, or the name of a table. */
  readonly type: string;
  /** repeated: an array. optional: undefined when it is absent, where others are 0 or empty. */
  readonly rule?: 'repeated' | 'optional';
  /** The choice that it is one of. */
  readonly oneof?: string;
}

type Values = Record<string, unknown>;
interface Choice {
  readonly case: string | undefined;
  readonly value?: unknown;
}

/** What is absent or has its default is not written. @throws TypeError for a value of another type */
export function encode(name: string, message: object): Uint8Array<ArrayBuffer> {
  const writer = new WireWriter();
  const values = message as Values;
  for (const field of fieldsOf(name)) {
    if (field.oneof !== undefined) {
      const choice = values[field.oneof] as Choice | undefined;
      if (choice?.case === field.name) write(writer, field, choice.value);
      continue;
    }
    const value = values[field.name];
    if (field.rule === 'repeated') for (const one of (value ?? []) as readonly unknown[]) write(writer, field, one);
    else if (value !== undefined && (field.rule === 'optional' || !isDefault(value))) write(writer, field, value);
  }
  return writer.finish();
}

/** Fields that the table does not know are passed over. @throws RangeError for bytes that are no message */
export function decode(name: string, bytes: Uint8Array): object {
  const fields = fieldsOf(name);
  const values: Values = {};
  for (const field of fields) {
    if (field.oneof !== undefined) values[field.oneof] = { case: undefined };
    else values[field.name] = field.rule === 'repeated' ? [] : field.rule === 'optional' ? undefined : defaultOf(field.type);
  }
  const reader = new WireReader(bytes);
  while (!reader.done) {
    const { field: no, wireType } = reader.tag();
    const field = fields.find((one) => one.no === no);
    if (field === undefined || wireType !== wireTypeOf(field.type)) {
      reader.skip(wireType);
      continue;
    }
    const value = read(reader, field.type);
    if (field.oneof !== undefined) values[field.oneof] = { case: field.name, value };
    else if (field.rule === 'repeated') (values[field.name] as unknown[]).push(value);
    else values[field.name] = value;
  }
  return values;
}

function fieldsOf(name: string): readonly Field[] {
  const fields = (TABLES as Readonly<Record<string, readonly Field[]>>)[name];
  if (fields === undefined) throw new TypeError(`no message ${name}`);
  return fields;
}

function write(writer: WireWriter, { no, name, type }: Field, value: unknown): void {
  writer.tag(no, wireTypeOf(type));
  if (type === 'string' && typeof value === 'string') writer.text(value);
  else if (type === 'bytes' && value instanceof Uint8Array) writer.bytes(value);
  else if (type === 'bool' && typeof value === 'boolean') writer.varint(value ? 1 : 0);
  else if (type === 'int32' && Number.isInteger(value)) writer.signed(BigInt(value as number));
  else if (type === 'int64' && typeof value === 'bigint') writer.signed(value);
  else if (type in TABLES && typeof value === 'object' && value !== null) writer.bytes(encode(type, value));
  else throw new TypeError(`${name} must be of type ${type}`);
}

function read(reader: WireReader, type: string): unknown {
  switch (type) {
    case 'string':
      return reader.text();
    case 'bytes':
      // Of its own: the rest of the frame is not held with it.
      return reader.bytes().slice();
    case 'bool':
      return reader.varint() !== 0n;
    case 'int32':
      return Number(BigInt.asIntN(32, reader.varint()));
    case 'int64':
      return BigInt.asIntN(64, reader.varint());
    default:
      return decode(type, reader.bytes());
  }
}

function wireTypeOf(type: string): number {
  return type === 'bool' || type === 'int32' || type === 'int64' ? WireType.Varint : WireType.Bytes;
}

function defaultOf(type: string): unknown {
  switch (type) {
    case 'string':
      return '';
    case 'bytes':
      return new Uint8Array();
    case 'bool':
      return false;
    case 'int32':
      return 0;
    case 'int64':
      return 0n;
    default:
      return undefined;
  }
}

function isDefault(value: unknown): boolean {
  return value === '' || value === 0 || value === 0n || value === false || (value instanceof Uint8Array && value.length === 0);
}

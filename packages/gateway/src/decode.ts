/**
 * From bytes or JSON to a request message, with the field's name in every refusal.
 *
 * A member of a JSON object that the schema does not name is ignored, as an unknown field of the binary form is: fields are
 * only ever added, and a newer client may speak to an older server. An enum name that the schema does not have is refused,
 * since ignoring it would quietly mean the default.
 */
import {
  type DescField,
  type DescMessage,
  type DescOneof,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf';
import { isFieldError } from '@bufbuild/protobuf/reflect';
import { invalidArgument } from '@qim/proto';

/** @throws InvalidArgument (body): a broken protobuf message has no field that could be named */
export function decodeBinary(desc: DescMessage, bytes: Uint8Array): Message {
  try {
    return fromBinary(desc, bytes);
  } catch {
    throw invalidArgument('body', `a ${desc.typeName} in protobuf's binary form`);
  }
}

/** @throws InvalidArgument (body) for what is no JSON, else as `decodeJson` */
export function decodeJsonText(desc: DescMessage, text: string): Message {
  return decodeJson(desc, parseJson(text) ?? null);
}

/** Undefined: it is no JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** @throws InvalidArgument with the path of the field, such as `replyTo.messageId` */
export function decodeJson(desc: DescMessage, json: JsonValue): Message {
  const known = knownOf(desc, json, '');
  try {
    return fromJson(desc, known);
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (!isFieldError(cause)) throw invalidArgument('body', `a ${desc.typeName} in protobuf's JSON form`);
    throw refusalOf(desc, cause.field());
  }
}

/**
 * The members that the schema names, with those checks made whose failure protobuf would not tell by field. `prefix` is
 * empty, or the path down to here with its last dot.
 */
function knownOf(desc: DescMessage, json: JsonValue, prefix: string): JsonValue {
  if (!isObject(json)) throw invalidArgument(prefix === '' ? 'body' : prefix.slice(0, -1), 'a JSON object');
  const known: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(json)) {
    const field = desc.fields.find(({ name, jsonName }) => name === key || jsonName === key);
    if (field !== undefined) known.push([key, knownValue(field, value, prefix + field.jsonName)]);
  }
  return Object.fromEntries(known);
}

function knownValue(field: DescField, value: JsonValue, path: string): JsonValue {
  if (value === null) return null;
  if (field.fieldKind === 'message') return knownOf(field.message, value, `${path}.`);
  if (field.fieldKind === 'list' && field.listKind === 'message' && Array.isArray(value)) {
    return value.map((item) => knownOf(field.message, item, `${path}.`));
  }
  if (field.fieldKind === 'enum' && !isEnumValue(field, value)) throw invalidArgument(path, allowedFor(field));
  return value;
}

/** Enums are int32. */
const ENUM_MAX = 2 ** 31 - 1;

function isEnumValue(field: DescField & { fieldKind: 'enum' }, value: JsonValue): boolean {
  // A number that no name stands for is the handler's to judge: the enum of message types is open.
  return typeof value === 'number'
    ? Number.isInteger(value) && Math.abs(value) <= ENUM_MAX
    : field.enum.values.some(({ name }) => name === value);
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function refusalOf(root: DescMessage, fault: DescField | DescOneof): Error {
  if (fault.kind === 'oneof') {
    const names = fault.fields.map(({ jsonName }) => jsonName);
    return invalidArgument(names[0] ?? fault.name, `given alone: at most one of ${names.join(', ')}`);
  }
  return invalidArgument(pathTo(root, fault) ?? fault.jsonName, allowedFor(fault));
}

/** Requests nest a level or two, and no message of theirs is within itself. */
function pathTo(desc: DescMessage, target: DescField): string | undefined {
  for (const field of desc.fields) {
    if (field === target) return field.jsonName;
    const below = field.message === undefined ? undefined : pathTo(field.message, target);
    if (below !== undefined) return `${field.jsonName}.${below}`;
  }
  return undefined;
}

function allowedFor(field: DescField): string {
  if (field.fieldKind === 'enum') return `one of ${field.enum.values.map(({ name }) => name).join(', ')}, or a number`;
  if (field.fieldKind === 'scalar') return SCALARS[field.scalar] ?? 'of another type';
  if (field.fieldKind === 'list') return `a list of ${field.listKind === 'scalar' ? 'text' : 'objects'}`;
  return 'a JSON object';
}

/** The kinds that requests have. */
const SCALARS: Partial<Record<ScalarType, string>> = {
  [ScalarType.STRING]: 'text in well-formed Unicode, given once',
  [ScalarType.BOOL]: 'true or false, given once',
  [ScalarType.INT32]: 'an integer of 32 bits, given once',
  [ScalarType.INT64]: 'an integer of 64 bits, in text or as a number, given once',
  [ScalarType.BYTES]: 'bytes in base64, given once',
};

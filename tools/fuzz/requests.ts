/** Requests of every method, made from the schema itself: mostly of the right form, here and there of another. */
import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import * as schema from '@qim/proto/schema';
import fc from 'fast-check';
import { broken, nastyJson, nastyNumber, nastyText } from './hostile.js';

/** Ids that mean something where the requests go; may be empty. */
export type Known = Readonly<Partial<Record<string, readonly JsonValue[]>>>;

export interface MethodForm {
  /** Such as `qim.v1.MessageService/SendMessage`. */
  readonly name: string;
  readonly input: DescMessage;
}

export const METHODS: readonly MethodForm[] = Object.values(schema)
  .filter((value) => typeof value === 'object' && 'kind' in value && value.kind === 'service')
  .flatMap((service) =>
    service.methods
      .filter(({ methodKind }) => methodKind === 'unary')
      .map(({ name, input }) => ({ name: `${service.typeName}/${name}`, input })),
  );

/** Optional members, each mostly of its type. */
export function requestJson(desc: DescMessage, known: Known): fc.Arbitrary<JsonObject> {
  const members = Object.fromEntries(desc.fields.map((field) => [field.jsonName, memberOf(field, known)]));
  return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
}

function memberOf(field: DescField, known: Known): fc.Arbitrary<JsonValue> {
  const ids = known[field.jsonName] ?? known[field.jsonName.replace(/s$/, '')] ?? [];
  const right = field.fieldKind === 'list' ? fc.array(single(field, known, ids), { maxLength: 4 }) : single(field, known, ids);
  return fc.oneof({ arbitrary: right, weight: 12 }, { arbitrary: nastyJson as fc.Arbitrary<JsonValue>, weight: 1 });
}

function single(field: DescField, known: Known, ids: readonly JsonValue[]): fc.Arbitrary<JsonValue> {
  const typed = typedValue(field, known);
  return ids.length === 0 ? typed : fc.oneof({ arbitrary: fc.constantFrom(...ids), weight: 4 }, { arbitrary: typed, weight: 1 });
}

function typedValue(field: DescField, known: Known): fc.Arbitrary<JsonValue> {
  if (field.message !== undefined) return requestJson(field.message, known);
  if (field.enum !== undefined) return fc.oneof(fc.constantFrom(...field.enum.values.map(({ name }) => name)), nastyNumber);
  switch (field.scalar) {
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.INT32:
    case ScalarType.UINT32:
      return fc.oneof(fc.integer({ min: 0, max: 200 }), nastyNumber);
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('base64'));
    case ScalarType.STRING:
      return nastyText;
    default:
      return fc.oneof(fc.nat(20).map(String), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }).map(String), nastyNumber);
  }
}

/** In protobuf's binary form, mostly sound, and then broken in some places. */
export function requestBytes(desc: DescMessage, known: Known): fc.Arbitrary<Uint8Array> {
  return broken(requestJson(desc, known).map((json) => toBinary(desc, soundMessage(desc, json))));
}

/** Empty where the JSON is not of the type. */
function soundMessage(desc: DescMessage, json: JsonObject) {
  try {
    return fromJson(desc, json);
  } catch {
    return create(desc);
  }
}

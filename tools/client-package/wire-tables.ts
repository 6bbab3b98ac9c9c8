/** The SDK's tables of the schema (packages/client/src/gen/tables.ts), made from the generated descriptors. */
import { type DescField, type DescMessage, type DescService, ScalarType } from '@bufbuild/protobuf';
import * as wire from '@qim/proto/schema';

export const TABLES_FILE = 'packages/client/src/gen/tables.ts';

const SERVICES: readonly DescService[] = [
  wire.MessageService,
  wire.SessionService,
  wire.ConversationService,
  wire.ProfileService,
  wire.EventService,
  wire.ModerationService,
];
const FRAMES: readonly DescMessage[] = [wire.ClientFrameSchema, wire.ServerFrameSchema];

const SCALARS: Readonly<Partial<Record<ScalarType, string>>> = {
  [ScalarType.STRING]: 'string',
  [ScalarType.BYTES]: 'bytes',
  [ScalarType.BOOL]: 'bool',
  [ScalarType.INT32]: 'int32',
  [ScalarType.INT64]: 'int64',
};

/** The file's text. @throws for what the SDK's codec cannot: a map, or a type that the schema does not use yet */
export function wireTables(): string {
  const messages = new Map<string, DescMessage>();
  const methods = SERVICES.map((service) => {
    const lines = service.methods
      .filter(({ methodKind }) => methodKind === 'unary')
      .map(({ localName, name, input, output }) => {
        for (const message of [input, output]) collect(message, messages);
        return `    ${localName}: ['${service.typeName}/${name}', '${input.name}', '${output.name}'],\n`;
      });
    return `  ${service.name}: {\n${lines.join('')}  },\n`;
  });
  for (const frame of FRAMES) collect(frame, messages);
  const tables = [...messages.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(tableOf);
  const reasons = wire.ErrorReasonSchema.values.map(({ number, name }) => `  ${number}: '${name}',\n`);
  return [
    '// Made by `npm run gen`; do not edit.\n',
    '/** Message -> its fields. */',
    `export const TABLES = {\n${tables.join('')}} as const;\n`,
    '/** Service -> method -> its name on the wire, and the messages that it takes and gives. */',
    `export const METHODS = {\n${methods.join('')}} as const;\n`,
    `export const ERROR_REASONS: Readonly<Record<number, string>> = {\n${reasons.join('')}};\n`,
  ].join('\n');
}

function collect(message: DescMessage, into: Map<string, DescMessage>): void {
  if (into.has(message.name)) return;
  into.set(message.name, message);
  for (const { message: part } of message.fields) if (part !== undefined) collect(part, into);
}

function tableOf({ name, fields }: DescMessage): string {
  if (fields.length === 0) return `  ${name}: [],\n`;
  return `  ${name}: [\n${fields.map((field) => `    ${fieldOf(field)},\n`).join('')}  ],\n`;
}

function fieldOf(field: DescField): string {
  const { number, localName, oneof } = field;
  const isOptional = field.proto.proto3Optional && field.message === undefined;
  const rule = field.fieldKind === 'list' ? `, rule: 'repeated'` : isOptional ? `, rule: 'optional'` : '';
  return `{ no: ${number}, name: '${localName}', type: '${typeOf(field)}'${rule}${oneof === undefined ? '' : `, oneof: '${oneof.localName}'`} }`;
}

function typeOf(field: DescField): string {
  const kind = field.fieldKind === 'list' ? field.listKind : field.fieldKind;
  const isPacked = field.fieldKind === 'list' && field.packed;
  const type =
    kind === 'message'
      ? field.message?.name
      : kind === 'enum'
        ? 'int32'
        : kind === 'scalar'
          ? SCALARS[field.scalar as ScalarType]
          : undefined;
  if (type === undefined || isPacked) throw new Error(`the SDK's codec does not know the type of ${field.toString()}`);
  return type;
}

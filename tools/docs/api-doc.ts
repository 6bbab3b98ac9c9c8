/**
 * docs/api.md from the schema: every service, method, message and enum with the comments that stand in the `.proto` files.
 * `npm run docs:api` writes it, a test says whether it is current.
 *
 * It reads the form that `buf format` leaves: one thing a line, comments above what they are about.
 */
export interface Documented {
  readonly name: string;
  /** Lines joined by a space; '' without one. */
  readonly comment: string;
}

export interface Method extends Documented {
  readonly input: string;
  readonly output: string;
  readonly streams: boolean;
}

export interface Field extends Documented {
  readonly type: string;
  readonly number: number;
  /** Of which choice it is one. */
  readonly choice: string;
}

export interface Block extends Documented {
  readonly kind: 'service' | 'message' | 'enum';
  readonly methods: readonly Method[];
  /** Of a message, or the values of an enum, whose type is ''. */
  readonly fields: readonly Field[];
}

const OPEN = /^(service|message|enum) (\w+) \{(\})?$/;
const METHOD = /^ {2}rpc (\w+)\((\w+)\) returns \((stream )?(\w+)\);$/;
const CHOICE = /^ {2}oneof (\w+) \{$/;
const FIELD = /^ {2,4}((?:optional |repeated )?[\w.]+) (\w+) = (\d+)(?: \[.*\])?;$/;
const VALUE = /^ {2}(\w+) = (\d+);$/;

/** @throws when a line is none that it knows: the document must not leave out what it does not understand */
export function readProto(text: string): Block[] {
  const blocks: Block[] = [];
  let comment: string[] = [];
  let open: { readonly block: Block; readonly methods: Method[]; readonly fields: Field[] } | undefined;
  let choice = '';
  const taken = (): string => comment.splice(0).join(' ');
  for (const line of text.split('\n')) {
    const words = /^ *\/\/ ?(.*)$/.exec(line)?.[1];
    if (words !== undefined) {
      comment.push(words);
      continue;
    }
    if (line === '') comment = [];
    const [, kind, name, closed] = OPEN.exec(line) ?? [];
    if (kind !== undefined && name !== undefined) {
      const [methods, fields]: [Method[], Field[]] = [[], []];
      const block: Block = { kind: kind as Block['kind'], name, comment: taken(), methods, fields };
      blocks.push(block);
      open = closed === undefined ? { block, methods, fields } : undefined;
      continue;
    }
    if (line === '  }') choice = '';
    else if (line === '}') open = undefined;
    else if (open !== undefined && line !== '') choice = readMember(line, open, choice, taken);
    else if (!/^(syntax|package|import|option) |^$/.test(line)) throw new Error(`a line of the schema is not understood: ${line}`);
  }
  return blocks;
}

/** The choice that what follows belongs to. */
function readMember(
  line: string,
  open: { readonly methods: Method[]; readonly fields: Field[] },
  choice: string,
  taken: () => string,
): string {
  const method = METHOD.exec(line);
  const field = FIELD.exec(line);
  const value = VALUE.exec(line);
  const begun = CHOICE.exec(line)?.[1];
  if (begun !== undefined) {
    taken();
    return begun;
  }
  if (method !== null) {
    const [, name = '', input = '', streams, output = ''] = method;
    open.methods.push({ name, input, output, streams: streams !== undefined, comment: taken() });
  } else if (value !== null) {
    open.fields.push({ name: value[1] ?? '', type: '', number: Number(value[2]), choice: '', comment: taken() });
  } else if (field !== null) {
    const [, type = '', name = '', number] = field;
    open.fields.push({ name: jsonName(name), type, number: Number(number), choice, comment: taken() });
  } else if (!/^ {2}(reserved|option) /.test(line)) throw new Error(`a line of the schema is not understood: ${line}`);
  return choice;
}

function jsonName(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

const HEAD = `# The API

Generated from \`packages/proto/schema/qim/v1/\` by \`npm run docs:api\`; a test says when it is not current. How a call goes over HTTP and over the
WebSocket is in [protocol.md](protocol.md), what a call may fail with in [errors.md](errors.md), limits in \`packages/proto/src/consts.ts\`.

Names are those of JSON. \`int64\` is text in JSON. What is \`optional\` is left out when it is absent; everything else is always there.
`;

/** The whole document. */
export function apiDoc(blocks: readonly Block[]): string {
  const of = (kind: Block['kind']): Block[] => blocks.filter((block) => block.kind === kind);
  const known = new Set(blocks.filter(({ kind }) => kind !== 'service').map(({ name }) => name));
  const services = of('service').map((block) => service(block));
  const messages = of('message').map((block) => `### ${block.name}\n\n${sentence(block.comment)}${table(block, known)}`);
  const enums = of('enum').map((block) => `### ${block.name}\n\n${sentence(block.comment)}${values(block)}`);
  return [HEAD, '## Methods\n', ...services, '## Messages\n', ...messages, '## Enums\n', ...enums].join('\n');
}

function service({ name, comment, methods }: Block): string {
  const rows = methods.map(
    (method) =>
      `| ${method.name} | ${link(method.input)} | ${method.streams ? 'stream of ' : ''}${link(method.output)} | ${cell(method.comment)} |`,
  );
  return `### qim.v1.${name}\n\n${sentence(comment)}| method | takes | gives | |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function table({ fields }: Block, known: ReadonlySet<string>): string {
  if (fields.length === 0) return 'Empty.\n';
  const rows = fields.map(({ name, type, choice, comment }) => {
    const shown = type.replace(/\w+$/, (last) => (known.has(last) ? link(last) : last));
    const words = [choice === '' ? '' : `One of ${choice}.`, cell(comment)].filter((part) => part !== '').join(' ');
    return `| ${name} | ${shown} | ${words} |`;
  });
  return `| field | type | |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

function values({ fields }: Block): string {
  const rows = fields.map(({ name, number, comment }) => `| ${name} | ${number} | ${cell(comment)} |`);
  return `| name | number | |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

function sentence(comment: string): string {
  return comment === '' ? '' : `${cell(comment)}\n\n`;
}

function link(name: string): string {
  return `[${name}](#${name.toLowerCase()})`;
}

/** A comment is prose: nothing of it may become a column or a tag. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

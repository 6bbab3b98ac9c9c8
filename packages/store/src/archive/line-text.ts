/** Lines of an archive as text: one JSON object each, bytes in base64. Reading takes the very form that writing gives. */
import {
  isQimError,
  parseClientMessageId,
  parseConversationId,
  parseConversationSeq,
  parseDeviceId,
  parseTenantId,
  parseUserId,
} from '@qim/proto';
import { Malformed } from '../message/bytes.js';
import { FACT_FIELDS, formatFacts, formatMember, parseFacts, parseMember, type StoredFacts } from '../message/facts.js';
import type { OutboxKind } from '../outbox/outbox.js';
import type { ArchiveLine } from './line.js';

type Fields = Readonly<Record<string, unknown>>;

export function formatLine(line: ArchiveLine): string {
  return JSON.stringify(fieldsOf(line));
}

function fieldsOf(line: ArchiveLine): Fields {
  switch (line.kind) {
    case 'conversation': {
      const { kind, tenantId, conversationId, facts } = line;
      return {
        kind,
        tenant: tenantId,
        conversation: conversationId,
        ...(facts === undefined ? { continued: true } : { facts: formatFacts(facts) }),
      };
    }
    case 'user':
      return { kind: line.kind, tenant: line.tenantId, user: line.userId, ...(line.continued ? { continued: true } : {}) };
    case 'record': {
      const { kind, sequence, indexed, record, body } = line;
      return { kind, sequence, ...(indexed ? {} : { indexed }), record: base64(record), body: base64(body) };
    }
    case 'member':
      return { kind: line.kind, user: line.userId, entry: formatMember(line.entry) };
    case 'reactions':
      return { kind: line.kind, sequence: line.sequence, bytes: base64(line.bytes) };
    case 'dedup': {
      const { kind, sender, clientMessageId, week, bytes } = line;
      return { kind, sender, clientMessageId, week, bytes: base64(bytes) };
    }
    case 'aside':
      return { kind: line.kind, id: line.id, bytes: base64(line.bytes) };
    case 'entry': {
      const { kind, conversationId, ...entry } = line;
      return { kind, conversation: conversationId, ...entry };
    }
    case 'blocked':
      return { kind: line.kind, user: line.userId };
    case 'left':
    case 'groupRequest': {
      const { kind, tenantId, userId, conversationId, ...rest } = line;
      return { kind, tenant: tenantId, user: userId, conversation: conversationId, ...rest };
    }
    case 'report': {
      const { kind, tenantId, number, text } = line;
      return { kind, tenant: tenantId, number, text };
    }
    case 'untold': {
      const { kind, tenantId, conversationId, of, conversationSeq, committedAtMs } = line;
      return { kind, tenant: tenantId, conversation: conversationId, of, sequence: conversationSeq, committedAtMs };
    }
    case 'undelivered': {
      const { kind, tenantId, conversationId, of, conversationSeq } = line;
      return { kind, tenant: tenantId, conversation: conversationId, of, sequence: conversationSeq };
    }
    case 'amendment':
    case 'skipped':
    case 'profile':
    case 'suspended':
      return { ...line };
  }
}

function base64(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

/** Undefined: no such line. */
export function parseLine(fields: Fields): ArchiveLine | undefined {
  try {
    return lineFrom(fields);
  } catch (error) {
    if (error instanceof Malformed || isQimError(error)) return undefined;
    throw error;
  }
}

function lineFrom(fields: Fields): ArchiveLine | undefined {
  const { kind } = fields;
  switch (kind) {
    case 'conversation':
      return {
        kind,
        tenantId: tenantIn(fields),
        conversationId: conversationIn(fields),
        facts: fields.continued === true ? undefined : factsIn(fields),
      };
    case 'user':
      return { kind, tenantId: tenantIn(fields), userId: userIn(fields), continued: fields.continued === true };
    case 'record':
      return {
        kind,
        sequence: sequenceIn(fields),
        indexed: fields.indexed !== false,
        record: optionalBytes(fields, 'record'),
        body: optionalBytes(fields, 'body'),
      };
    case 'member':
      return { kind, userId: userIn(fields), entry: memberIn(fields) };
    case 'amendment':
      return { kind, sequence: sequenceIn(fields), number: numberIn(fields, 'number') };
    case 'reactions':
      return { kind, sequence: sequenceIn(fields), bytes: bytesIn(fields) };
    case 'dedup':
      return {
        kind,
        sender: userIn(fields, 'sender'),
        clientMessageId: parseClientMessageId(textIn(fields, 'clientMessageId')),
        week: numberIn(fields, 'week'),
        bytes: bytesIn(fields),
      };
    case 'skipped':
      return { kind, epoch: numberIn(fields, 'epoch'), from: numberIn(fields, 'from'), through: numberIn(fields, 'through') };
    case 'aside':
      return { kind, id: textIn(fields, 'id'), bytes: bytesIn(fields) };
    default:
      return userLineFrom(fields);
  }
}

function userLineFrom(fields: Fields): ArchiveLine | undefined {
  const { kind } = fields;
  switch (kind) {
    case 'entry':
      return {
        kind,
        conversationId: conversationIn(fields),
        view: optional(fields, 'view', textIn),
        listedAtMs: optional(fields, 'listedAtMs', numberIn),
        readMark: optional(fields, 'readMark', textIn),
        pinnedAtMs: optional(fields, 'pinnedAtMs', numberIn),
      };
    case 'profile':
      return { kind, text: textIn(fields, 'text') };
    case 'blocked':
      return { kind, userId: userIn(fields) };
    case 'suspended': {
      const device = textIn(fields, 'device');
      return { kind, device: device === '' ? device : parseDeviceId(device) };
    }
    case 'left':
      return {
        kind,
        tenantId: tenantIn(fields),
        userId: userIn(fields),
        conversationId: conversationIn(fields),
        atMs: numberIn(fields, 'atMs'),
      };
    case 'groupRequest':
      return {
        kind,
        tenantId: tenantIn(fields),
        userId: userIn(fields),
        clientRequestId: textIn(fields, 'clientRequestId'),
        week: numberIn(fields, 'week'),
        conversationId: conversationIn(fields),
      };
    case 'report':
      return { kind, tenantId: tenantIn(fields), number: numberIn(fields, 'number'), text: textIn(fields, 'text') };
    case 'untold':
    case 'undelivered': {
      const entry = {
        tenantId: tenantIn(fields),
        conversationId: conversationIn(fields),
        of: outboxKindIn(fields),
        conversationSeq: sequenceIn(fields),
      };
      return kind === 'undelivered' ? { kind, ...entry } : { kind, ...entry, committedAtMs: numberIn(fields, 'committedAtMs') };
    }
    default:
      return undefined;
  }
}

const OUTBOX_KINDS = ['created', 'committed', 'amended', 'membership'] as const satisfies readonly OutboxKind[];

function outboxKindIn(fields: Fields): OutboxKind {
  const kind = OUTBOX_KINDS.find((known) => known === fields.of);
  if (kind === undefined) throw new Malformed('no known kind');
  return kind;
}

function tenantIn(fields: Fields) {
  return parseTenantId(fields.tenant);
}

function userIn(fields: Fields, name = 'user') {
  return parseUserId(textIn(fields, name));
}

function conversationIn(fields: Fields) {
  return parseConversationId(textIn(fields, 'conversation'));
}

function sequenceIn(fields: Fields) {
  return parseConversationSeq(numberIn(fields, 'sequence'));
}

function factsIn({ facts }: Fields): StoredFacts {
  if (typeof facts !== 'object' || facts === null) throw new Malformed('no facts');
  const given = new Map<string, unknown>(Object.entries(facts));
  const parsed = parseFacts(
    FACT_FIELDS.map((name) => {
      const field = given.get(name);
      return typeof field === 'string' ? field : undefined;
    }),
  );
  if (typeof parsed !== 'object') throw new Malformed('facts that cannot be read');
  return parsed;
}

function memberIn(fields: Fields) {
  const entry = parseMember(textIn(fields, 'entry'));
  if (typeof entry === 'string') throw new Malformed('no entry of a member');
  return entry;
}

function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new Malformed('not a text');
  return value;
}

function numberIn(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new Malformed('not a number');
  return value;
}

function bytesIn(fields: Fields, name = 'bytes'): Uint8Array {
  return Buffer.from(textIn(fields, name), 'base64');
}

function optionalBytes(fields: Fields, name: string): Uint8Array | undefined {
  return fields[name] === undefined ? undefined : bytesIn(fields, name);
}

function optional<T>(fields: Fields, name: string, read: (fields: Fields, name: string) => T): T | undefined {
  return fields[name] === undefined ? undefined : read(fields, name);
}

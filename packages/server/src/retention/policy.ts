/**
 * Which messages go, by whom it is said: for one conversation, for a tenant, or for all. The nearest rule holds as a whole
 * and takes nothing from the others; an empty one keeps everything.
 */
import { readFile } from 'node:fs/promises';
import {
  type ConversationId,
  isQimError,
  parseConversationId,
  parseTenantId,
  RETENTION_DAYS_MAX,
  RETENTION_MESSAGES_MAX,
  type TenantId,
} from '@qim/proto';
import { StartError, systemCode } from '../errors.js';
import type { Config } from '../settings.js';

/** Both undefined: everything is kept. */
export interface RetentionRule {
  /** Messages that are older go. */
  readonly days: number | undefined;
  /** All but so many of the newest of a conversation go. */
  readonly messages: number | undefined;
}

export interface RetentionPolicies {
  ruleFor(tenantId: TenantId, conversationId: ConversationId): RetentionRule;
}

const KEEP_EVERYTHING: RetentionRule = { days: undefined, messages: undefined };

/**
 * Undefined: no rule is set, and nothing is to be swept.
 *
 * @throws StartError BadConfiguration: the file cannot be read or understood, or flags and file both say what holds for all
 */
export async function readRetention({
  retentionDays: days,
  retentionMessages: messages,
  retentionFile,
}: Pick<Config, 'retentionDays' | 'retentionMessages' | 'retentionFile'>): Promise<RetentionPolicies | undefined> {
  const general = days === undefined && messages === undefined ? undefined : { days, messages };
  if (retentionFile === undefined) return general && policies(general, new Map());
  const text = await readFile(retentionFile, 'utf8').catch((error: unknown) => {
    throw bad(retentionFile, `it cannot be read (${systemCode(error) ?? 'it failed'})`);
  });
  const { all, named } = parseFile(retentionFile, text);
  if (all !== undefined && general !== undefined) {
    throw bad(retentionFile, 'its default and --retention-days or --retention-messages say the same: give one of them');
  }
  return policies(all ?? general ?? KEEP_EVERYTHING, named);
}

/** `named`: by `tenant` or `tenant:conversation`. */
function policies(all: RetentionRule, named: ReadonlyMap<string, RetentionRule>): RetentionPolicies {
  return {
    ruleFor: (tenantId, conversationId) => named.get(`${tenantId}:${conversationId}`) ?? named.get(String(tenantId)) ?? all,
  };
}

function parseFile(file: string, text: string): { readonly all: RetentionRule | undefined; readonly named: Map<string, RetentionRule> } {
  const members = membersOf(file, '', parseJson(file, text), ['default', 'tenants', 'conversations']);
  const all = members.default === undefined ? undefined : ruleOf(file, 'default', members.default);
  const named = new Map<string, RetentionRule>();
  for (const [name, value] of entriesOf(file, 'tenants', members.tenants)) {
    named.set(placeOf(file, 'tenants', name, /^(\d{1,10})$/), ruleOf(file, `tenants.${name}`, value));
  }
  for (const [name, value] of entriesOf(file, 'conversations', members.conversations)) {
    named.set(placeOf(file, 'conversations', name, /^(\d{1,10}):(.+)$/), ruleOf(file, `conversations.${name}`, value));
  }
  return { all, named };
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw bad(file, 'it is not JSON');
  }
}

function entriesOf(file: string, path: string, value: unknown): [string, unknown][] {
  return value === undefined ? [] : Object.entries(membersOf(file, path, value));
}

/** The tenant, and the conversation where the name has one, written as the store does. */
function placeOf(file: string, path: string, name: string, form: RegExp): string {
  const [, tenant, conversation] = form.exec(name) ?? [];
  try {
    if (tenant === undefined) throw bad(file, `${path}.${name} is not named by ${path === 'tenants' ? 'a tenant' : 'tenant:conversation'}`);
    const tenantId = parseTenantId(Number(tenant));
    return conversation === undefined ? String(tenantId) : `${tenantId}:${parseConversationId(conversation)}`;
  } catch (error) {
    if (isQimError(error)) throw bad(file, `${path}.${name}: ${error.message}`);
    throw error;
  }
}

function ruleOf(file: string, path: string, value: unknown): RetentionRule {
  const { days, messages } = membersOf(file, path, value, ['days', 'messages']);
  return {
    days: days === undefined ? undefined : countOf(file, `${path}.days`, days, RETENTION_DAYS_MAX),
    messages: messages === undefined ? undefined : countOf(file, `${path}.messages`, messages, RETENTION_MESSAGES_MAX),
  };
}

function countOf(file: string, path: string, value: unknown, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw bad(file, `${path} must be an integer 1..${max}`);
}

/** `known`: no other member is taken; a misspelt one would keep what should go. */
function membersOf(file: string, path: string, value: unknown, known?: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw bad(file, `${path === '' ? 'it' : path} must be a JSON object`);
  const members = Object.entries(value);
  const unknown = members.find(([name]) => known !== undefined && !known.includes(name));
  if (unknown !== undefined) throw bad(file, `${path === '' ? '' : `${path}.`}${unknown[0]} is not known here`);
  return Object.fromEntries(members);
}

function bad(file: string, what: string): StartError {
  return new StartError('BadConfiguration', `--retention-file ${file}: ${what}`);
}

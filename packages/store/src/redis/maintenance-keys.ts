/**
 * Redis keys read backwards, and the one key that repairs add. A key that has our form but lies under another partition's
 * tag is reached by nothing, and is passed over like any foreign key.
 */
import { isQimError, parseConversationId, parseTenantId, parseUserId } from '@qim/proto';
import type { ConversationPlace, UserPlace } from '../verify/finding.js';
import { type ConversationKeys, encodePart, type KeySpace, userKeys } from './keys.js';

const CONVERSATION_NAMES = {
  msgfacts: 'facts',
  msghistory: 'index',
  msgmembers: 'member',
  msgamend: 'amendment',
  msgreact: 'reaction',
  msgrecord: 'record',
  msgbody: 'body',
  msgdedup: 'dedup',
} as const;
const USER_NAMES = {
  view: 'view',
  convs: 'list',
  read: 'readMark',
  pins: 'pin',
  profile: 'profile',
  blocks: 'blocks',
  suspended: 'suspended',
  webpush: 'webPush',
} as const;
const QUARANTINE = 'msgquarantine';

export interface ConversationKey {
  readonly kind: 'conversation';
  readonly part: (typeof CONVERSATION_NAMES)[keyof typeof CONVERSATION_NAMES];
  readonly place: ConversationPlace;
  /** Bucket or week; undefined: the key has none. */
  readonly number: number | undefined;
}

export interface UserKey {
  readonly kind: 'user';
  readonly part: (typeof USER_NAMES)[keyof typeof USER_NAMES];
  readonly user: UserPlace;
}

/** Undefined: no such key. */
export function parseKey(key: string, space: KeySpace): ConversationKey | UserKey | undefined {
  const [, name = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(key) ?? [];
  const part = own(CONVERSATION_NAMES, name);
  if (part !== undefined) {
    const found = parsePlace(rest);
    if (found === undefined) return undefined;
    const keys = space.conversation(found.place.tenantId, found.place.conversationId);
    return rest.startsWith(commonPart(keys)) ? { kind: 'conversation', part, ...found } : undefined;
  }
  const userPart = own(USER_NAMES, name);
  const user = userPart === undefined ? undefined : parseUser(rest);
  return userPart === undefined || user === undefined ? undefined : { kind: 'user', part: userPart, user };
}

function own<T extends object>(names: T, name: string): T[keyof T] | undefined {
  return Object.hasOwn(names, name) ? names[name as keyof T] : undefined;
}

function parsePlace(rest: string): { readonly place: ConversationPlace; readonly number: number | undefined } | undefined {
  const [, tenant, conversation, number] = /^\{[^{}]+\}:(\d{1,10}):([^:]+)(?::(\d{1,16}))?$/.exec(rest) ?? [];
  return orUndefined(() => ({
    place: { tenantId: parseTenantId(Number(tenant)), conversationId: parseConversationId(conversation ?? '') },
    number: number === undefined ? undefined : Number(number),
  }));
}

/** From `{tag}`; undefined: no tag of a user. */
export function parseUser(rest: string): UserPlace | undefined {
  const [, tenant = '0', encoded = ''] = /^\{(?:(\d{1,10}):)?([^:{}]+)\}$/.exec(rest) ?? [];
  const user = orUndefined(() => ({ tenantId: parseTenantId(Number(tenant)), userId: parseUserId(decodeURIComponent(encoded)) }));
  const same = user !== undefined && encodePart(user.userId) === encoded && userKeys(user.tenantId, user.userId).view.endsWith(rest);
  return same ? user : undefined;
}

function orUndefined<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof URIError || isQimError(error)) return undefined;
    throw error;
  }
}

/** `{tag}:tenant:conversation`. */
function commonPart(keys: ConversationKeys): string {
  return keys.facts.slice(keys.facts.indexOf('{'));
}

/** HASH: id -> what a repair put aside (verify/quarantine.ts). */
export function quarantineKey(keys: ConversationKeys): string {
  return `${QUARANTINE}:${commonPart(keys)}`;
}

export const QUARANTINE_PATTERN = `${QUARANTINE}:*`;

export function quarantinePlace(key: string): ConversationPlace | undefined {
  return key.startsWith(`${QUARANTINE}:`) ? parsePlace(key.slice(QUARANTINE.length + 1))?.place : undefined;
}

/** Everything of one conversation, for SCAN. Its parts hold nothing that a pattern would read as one. */
export function conversationPattern(keys: ConversationKeys): string {
  return `msg*:${commonPart(keys)}*`;
}

/**
 * The only place where a Redis key is spelled. The forms and what they hold are listed in docs/storage.md, Redis keys.
 *
 * In keys, ids are percent-encoded except `A-Z a-z 0-9 _ -` and parts are separated by a colon, which the encoding
 * never yields: no two id lists make one key. What is between braces is the hash tag: all keys of one conversation, and
 * all keys of one user, lie in one slot each.
 */
import {
  assert,
  type ClientMessageId,
  type ConversationId,
  type ConversationSeq,
  isQimError,
  parseConversationId,
  parseTenantId,
  RECORD_BUCKET_SIZE,
  type TenantId,
  type UserId,
} from '@qim/proto';
import { utf8 } from '../message/bytes.js';
import { partitionOf, partitionTags } from './partitions.js';
import { PlaceBytes } from './place-bytes.js';

/** Of the whole deployment: how it was made. The only key that is not tagged. */
export const DEPLOYMENT_KEY = 'qim:deployment';

/** Fields of it while an import is under way: how far it has come, and which servers had the data then. */
export const IMPORT_FIELDS = ['import', 'importServers'] as const;

/** Of the whole deployment: who follows the outbox. */
export const OWNERS_KEY = 'outboxowners';

const SAFE = /^[A-Za-z0-9_-]*$/;

/** `text` with every byte of its UTF-8 as %XX, except A-Z a-z 0-9 _ -. */
export function encodePart(text: string): string {
  if (SAFE.test(text)) return text;
  let encoded = '';
  for (const byte of utf8.encode(text)) {
    const char = String.fromCharCode(byte);
    encoded += SAFE.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}

/** The bucket of a sequence: a number from 0. */
export function bucketOf(seq: ConversationSeq | number): number {
  return Math.floor(seq / RECORD_BUCKET_SIZE);
}

/** Of the facts of all conversations, for SCAN. */
export const FACTS_PATTERN = 'msgfacts:*';

/** Of what else is kept of users and tenants, for SCAN, with the form of a key: its tag or tenant, and its week. */
export const OTHER_KEYS = {
  left: { pattern: 'left:*', form: /^left:(\{.*\})()$/s },
  groupRequests: { pattern: 'groupreq:*', form: /^groupreq:(\{.*\}):(\d{1,16})$/s },
  reports: { pattern: 'reports:*', form: /^reports:\{(\d{1,10})\}$/ },
} as const;

/** Which conversation of which tenant. */
export interface ConversationPlace {
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
}

/** Field of a de-duplication entry; one for each (sender, clientMessageId). */
export function dedupField(sender: UserId, clientMessageId: ClientMessageId): string {
  return `${encodePart(sender)}:${encodePart(clientMessageId)}`;
}

/** What a key of a conversation begins with; its place follows, and where there are buckets, a colon and the bucket. */
export const KEY_NAMES = { facts: 'msgfacts:', history: 'msghistory:', members: 'msgmembers:', records: 'msgrecord:' } as const;

/** The keys of one conversation. */
export class ConversationKeys {
  readonly partition: number;
  readonly outbox: string;
  readonly #partitionKey: string;
  /** `{tag}:tenant:conversation`, what all keys of the conversation have in common. */
  readonly #place: string;

  constructor(partition: number, tag: string, tenantId: TenantId, conversationId: ConversationId) {
    this.partition = partition;
    this.outbox = outboxKey(tag);
    this.#partitionKey = partitionKey(tag);
    this.#place = `{${tag}}:${tenantId}:${encodePart(conversationId)}`;
  }

  get facts(): string {
    return `${KEY_NAMES.facts}${this.#place}`;
  }
  /** The conversation whose facts lie under a key; undefined: it is no such key. */
  static placeOf(factsKey: string): ConversationPlace | undefined {
    const [, tenant, conversation] = /^msgfacts:\{[a-z0-9]+\}:(\d+):([^:]+)$/.exec(factsKey) ?? [];
    if (tenant === undefined || conversation === undefined) return undefined;
    try {
      // An id of a conversation has nothing that must be encoded.
      return { tenantId: parseTenantId(Number(tenant)), conversationId: parseConversationId(conversation) };
    } catch (error) {
      if (isQimError(error)) return undefined;
      throw error;
    }
  }

  get members(): string {
    return `${KEY_NAMES.members}${this.#place}`;
  }
  get history(): string {
    return `${KEY_NAMES.history}${this.#place}`;
  }
  get amendments(): string {
    return `msgamend:${this.#place}`;
  }
  records(bucket: number): string {
    return `${KEY_NAMES.records}${this.#place}:${bucket}`;
  }
  bodies(bucket: number): string {
    return `msgbody:${this.#place}:${bucket}`;
  }
  /** The last two keys of every script that writes to a partition (includes/partition-guard.lua). */
  get guard(): readonly [reserved: string, partition: string] {
    return [this.reserved, this.#partitionKey];
  }
  /** Sequences that were skipped when the partition was taken over. */
  get reserved(): string {
    return `msgreserved:${this.#place}`;
  }
  get reactions(): string {
    return `msgreact:${this.#place}`;
  }
  /** `week`: whole weeks since the Unix epoch by the store's clock. */
  dedup(week: number): string {
    return `msgdedup:${this.#place}:${week}`;
  }
}

/** The keys of one partition's outbox. */
export interface OutboxKeys {
  readonly outbox: string;
  readonly lease: string;
  readonly poison: string;
  /** Of the webhook: what waits, and what is given up. */
  readonly hooks: string;
  readonly deadHooks: string;
}

/** All key forms of a deployment with a given number of partitions. */
export class KeySpace {
  readonly partitionCount: number;
  readonly #tags: readonly string[];

  constructor(partitionCount: number) {
    this.partitionCount = partitionCount;
    this.#tags = partitionTags(partitionCount);
  }

  conversation(tenantId: TenantId, conversationId: ConversationId): ConversationKeys {
    const partition = partitionOf(tenantId, conversationId, this.partitionCount);
    return new ConversationKeys(partition, this.#tagOf(partition), tenantId, conversationId);
  }

  /** To be set to one conversation after the other. */
  placeBytes(): PlaceBytes {
    return new PlaceBytes(this.#tags);
  }

  #tagOf(partition: number): string {
    const tag = this.#tags[partition];
    assert(tag !== undefined, 'every conversation has a partition');
    return tag;
  }

  allOutboxes(): readonly string[] {
    return this.#tags.map(outboxKey);
  }

  /** Of all partitions: which server takes their writes. */
  allPartitions(): readonly string[] {
    return this.#tags.map(partitionKey);
  }

  /** Of all partitions, in order. */
  outboxes(): readonly OutboxKeys[] {
    return this.#tags.map((_, partition) => this.outbox(partition));
  }

  /** `partition` 0..partitionCount-1. */
  outbox(partition: number): OutboxKeys {
    const tag = this.#tags[partition];
    assert(tag !== undefined, 'a partition is one of the deployment');
    return {
      outbox: outboxKey(tag),
      lease: `outboxlease:{${tag}}`,
      poison: `outboxpoison:{${tag}}`,
      hooks: `hooks:{${tag}}`,
      deadHooks: `hooksdead:{${tag}}`,
    };
  }
}

function outboxKey(tag: string): string {
  return `outbox:{${tag}}`;
}

function partitionKey(tag: string): string {
  return `partition:{${tag}}`;
}

/**
 * The sharded channel of a partition's tag. Channels of a Redis do not belong to its databases, so each names its own.
 */
export function eventChannel(tag: string, database: number): string {
  return `events:{${tag}}:${database}`;
}

/** The hash tag of a user: exactly `user` for tenant 0, which is the seed's form; others have the tenant inside. */
function userTag(tenantId: TenantId, userId: UserId): string {
  return tenantId === 0 ? `{${encodePart(userId)}}` : `{${tenantId}:${encodePart(userId)}}`;
}

/** The keys of one user. */
export interface UserKeys {
  readonly conversations: string;
  readonly read: string;
  readonly view: string;
  readonly left: string;
  readonly pins: string;
  readonly profile: string;
  readonly blocks: string;
  readonly suspended: string;
  readonly webPush: string;
}

export function userKeys(tenantId: TenantId, userId: UserId): UserKeys {
  const tag = userTag(tenantId, userId);
  return {
    conversations: `convs:${tag}`,
    read: `read:${tag}`,
    view: `view:${tag}`,
    left: `left:${tag}`,
    pins: `pins:${tag}`,
    profile: `profile:${tag}`,
    blocks: `blocks:${tag}`,
    suspended: `suspended:${tag}`,
    webPush: `webpush:${tag}`,
  };
}

/** What was reported to the admins of a tenant. */
export function reportsKey(tenantId: TenantId): string {
  return `reports:{${tenantId}}`;
}

/** Of what is counted in windows of so many seconds; what follows names what, its parts encoded. Not tagged. */
export function ratePrefix(seconds: number): string {
  return `rate:${seconds}`;
}

/** `week` as in `ConversationKeys.dedup`. */
export function groupRequestKey(tenantId: TenantId, userId: UserId, week: number): string {
  return `groupreq:${userTag(tenantId, userId)}:${week}`;
}

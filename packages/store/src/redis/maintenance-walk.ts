/**
 * Every conversation and every user of a Redis, by SCAN: in steps, beside whatever else goes on, and in no order.
 *
 * A conversation is met at its facts. A first round of steps looks for what has no facts, and for records where the facts
 * would not look for them; both are damage, so there are few, and they alone are remembered.
 */
import { FSCK_FINDINGS_KEPT_MAX, FSCK_PAGE_KEYS, parseConversationId } from '@qim/proto';
import type { ConversationPlace, UserPlace } from '../verify/finding.js';
import type { Walk, WalkFilter } from '../verify/scanner.js';
import type { Command, RedisConnection } from './connection.js';
import { FACTS_PATTERN, type KeySpace, userKeys } from './keys.js';
import { bucketSpan, isIn } from './maintenance-buckets.js';
import { type ConversationKey, conversationPattern, parseKey, type UserKey } from './maintenance-keys.js';
import { factsCommand, factsFrom, newestCommand, newestFrom } from './reads.js';
import { keyCount, scanStep } from './scan.js';

export interface WalkDeps {
  readonly connection: RedisConnection;
  readonly keys: KeySpace;
  /** Buckets that lie outside what facts and index span, by the key of the facts. */
  readonly strays: Map<string, Set<number>>;
}

interface ScanPage {
  readonly keys: readonly string[];
  /** 0..1. */
  readonly done: number;
  /** Undefined: this was the last one. */
  readonly next: string | undefined;
}

/** Some FSCK_PAGE_KEYS keys at a time; a key may come twice. `from`: the `next` of a page with the same pattern. */
export async function* scanKeys(connection: RedisConnection, pattern: string | undefined, from?: string): AsyncGenerator<ScanPage> {
  const total = await keyCount(connection);
  const match = pattern === undefined ? [] : ['MATCH', pattern];
  let seen = 0;
  for (let cursor = from; ; ) {
    const { keys, next } = await scanStep(connection, cursor, [...match, 'COUNT', String(FSCK_PAGE_KEYS)]);
    cursor = next;
    seen += FSCK_PAGE_KEYS;
    yield { keys: [...new Set(keys)], done: cursor === undefined ? 1 : Math.min(1, seen / Math.max(1, total)), next: cursor };
    if (cursor === undefined) return;
  }
}

export async function* walkConversations(deps: WalkDeps, filter: WalkFilter, from?: string): AsyncGenerator<Walk<ConversationPlace>> {
  const { connection, keys } = deps;
  deps.strays.clear();
  const exact = exactPlace(deps, filter);
  const orphans = new Map<string, ConversationPlace>();
  for await (const page of scanKeys(connection, exact?.pattern)) {
    const parts = conversationKeys(page.keys, keys, filter);
    await noteStrays(deps, parts, orphans);
    yield { found: [], done: page.done / 2 };
  }
  for await (const page of scanKeys(connection, exact?.facts ?? FACTS_PATTERN, from)) {
    const found = conversationKeys(page.keys, keys, filter).flatMap(({ part, place }) => (part === 'facts' ? [place] : []));
    yield { found, done: 0.5 + page.done / 2, next: page.next };
  }
  yield { found: [...orphans.values()], done: 1 };
}

/** Of one conversation alone, the keys need not be parsed one by one. */
function exactPlace({ keys }: WalkDeps, { tenantId, id }: WalkFilter): { readonly pattern: string; readonly facts: string } | undefined {
  if (tenantId === undefined || id === undefined) return undefined;
  const own = keys.conversation(tenantId, parseConversationId(id));
  return { pattern: conversationPattern(own), facts: own.facts };
}

function conversationKeys(names: readonly string[], space: KeySpace, { tenantId, id }: WalkFilter): ConversationKey[] {
  return names.flatMap((name) => {
    const parsed = parseKey(name, space);
    if (parsed?.kind !== 'conversation') return [];
    const { place } = parsed;
    const wanted = (tenantId === undefined || tenantId === place.tenantId) && (id === undefined || id === place.conversationId);
    return wanted ? [parsed] : [];
  });
}

/** Of parts of conversations: which have no facts, and which buckets lie where nothing would look. */
async function noteStrays(deps: WalkDeps, parts: readonly ConversationKey[], orphans: Map<string, ConversationPlace>): Promise<void> {
  const places = new Map<string, ConversationKey[]>();
  for (const part of parts) {
    if (part.part === 'facts') continue;
    const { facts } = deps.keys.conversation(part.place.tenantId, part.place.conversationId);
    const group = places.get(facts);
    if (group === undefined) places.set(facts, [part]);
    else group.push(part);
  }
  const groups = [...places];
  const commands = groups.flatMap(([, [first]]): Command[] => {
    const own = first && deps.keys.conversation(first.place.tenantId, first.place.conversationId);
    return own === undefined ? [] : [factsCommand(own), newestCommand(own)];
  });
  const replies = await deps.connection.pipeline(commands);
  for (const [i, [name, group]] of groups.entries()) {
    const facts = factsFrom(replies[2 * i]);
    const [first] = group;
    if (facts === undefined && first !== undefined && orphans.size < FSCK_FINDINGS_KEPT_MAX) orphans.set(name, first.place);
    const span = bucketSpan(facts, newestFrom(replies[2 * i + 1]));
    // Without a span the keys are searched when the conversation is looked at.
    if (span === undefined) continue;
    for (const { part, number } of group) {
      const bucket = part === 'record' || part === 'body' ? number : undefined;
      if (bucket !== undefined && !isIn(span, bucket)) noteStray(deps, name, bucket);
    }
  }
}

function noteStray({ strays }: WalkDeps, name: string, bucket: number): void {
  const known = strays.get(name);
  if (known !== undefined && known.size < FSCK_FINDINGS_KEPT_MAX) known.add(bucket);
  else if (known === undefined && strays.size < FSCK_FINDINGS_KEPT_MAX) strays.set(name, new Set([bucket]));
}

/** A user is met at the first of its keys that there is. */
export async function* walkUsers(
  { connection, keys }: WalkDeps,
  { tenantId, id }: WalkFilter,
  from?: string,
): AsyncGenerator<Walk<UserPlace>> {
  for await (const page of scanKeys(connection, undefined, from)) {
    const parts = page.keys.flatMap((name) => {
      const parsed = parseKey(name, keys);
      if (parsed?.kind !== 'user') return [];
      const { user } = parsed;
      return (tenantId === undefined || tenantId === user.tenantId) && (id === undefined || id === user.userId) ? [parsed] : [];
    });
    const replies = await connection.pipeline(parts.map(({ part, user }) => earlierExist(part, user)));
    yield { found: parts.flatMap(({ user }, i) => (replies[i] === 0 ? [user] : [])), done: page.done, next: page.next };
  }
}

/** How many of the keys are there at which the user is met before this one. */
function earlierExist(part: UserKey['part'], { tenantId, userId }: UserPlace): Command {
  const keys = userKeys(tenantId, userId);
  const order: readonly (readonly [UserKey['part'], string])[] = [
    ['view', keys.view],
    ['list', keys.conversations],
    ['readMark', keys.read],
    ['pin', keys.pins],
    ['profile', keys.profile],
    ['blocks', keys.blocks],
    ['suspended', keys.suspended],
    ['webPush', keys.webPush],
  ];
  const earlier = order.slice(
    0,
    order.findIndex(([name]) => name === part),
  );
  // A name that no key has: nothing comes before the view.
  return ['EXISTS', ...(earlier.length === 0 ? [''] : earlier.map(([, key]) => key))];
}

/** The Directory on Redis. Every change is one script in the user's slot; pages and views are reads of one moment. */
import {
  type ConversationId,
  type ConversationSeq,
  DEDUP_WEEK_MS,
  isQimError,
  PINS_MAX,
  parseConversationId,
  parseConversationSeq,
  resourceLimit,
  SEQ_ZERO,
  type TenantId,
  TOMBSTONES_CLEARED_MAX,
  TOUCH_USERS_PER_CALL_MAX,
  type UserId,
} from '@qim/proto';
import type {
  Activity,
  ConversationFlags,
  ConversationView,
  Directory,
  DirectoryCursor,
  DirectoryPage,
  FlagsChange,
  HeldPage,
  JoinedUser,
} from '../directory/directory.js';
import { cursorAt } from '../directory/pages.js';
import { changedFlags, flagsOf, parseViewEntry, UNREADABLE_VIEW, type ViewEntry, ViewFlag, ViewState } from '../directory/view-entry.js';
import { unavailable } from '../errors.js';
import { Malformed } from '../message/bytes.js';
import { parseDecimal } from '../message/decimal.js';
import { type Command, isWrongType, type Reply } from './connection.js';
import type { RedisContext } from './context.js';
import { groupRequestKey, userKeys } from './keys.js';
import { asArray, asDecimal, asOptionalText, asSequence, asText, rightTypeOf } from './replies.js';
import type { ScriptCall, ScriptName } from './scripts.js';

/** As long as de-duplication entries live, so that a retry of what came before the leave finds the tombstone. */
const TOMBSTONE_MS = 2 * DEDUP_WEEK_MS;
const PAGE_FIELDS = 5;
/** What `user-page` says of an entry's place. */
const AMONG_PINS = 2;
/** A user's key of a wrong type is no conversation's damage: nothing of that user's list can be told. */
const rightType = rightTypeOf('the directory');

export class RedisDirectory implements Directory {
  readonly #context: RedisContext;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  async page(tenantId: TenantId, userId: UserId, limit: number, cursor: DirectoryCursor | undefined): Promise<DirectoryPage> {
    const { conversations, read, view, pins } = userKeys(tenantId, userId);
    let after = pageArguments(cursor);
    for (;;) {
      const reply = await this.#run('user-page', [conversations, read, view, pins], [String(limit), ...after, String(PINS_MAX)]);
      const [more, pinsThrough, ...fields] = asArray(reply);
      const through = asText(pinsThrough);
      const entries = listedEntries(fields, Number(through));
      const last = entries.at(-1)?.cursor;
      if (more !== 1 || last !== undefined) {
        return { views: entries.flatMap(({ shown }) => shown ?? []), next: more === 1 ? last : undefined };
      }
      // Nothing but names that are no ids: there is no cursor among them to go on from, but a place.
      const [place, name, activity] = fields.slice(-PAGE_FIELDS);
      after = [place === AMONG_PINS ? '1' : '0', asText(activity), asText(name), through];
    }
  }

  async view(tenantId: TenantId, userId: UserId, conversationId: ConversationId): Promise<ConversationView | undefined> {
    const { read, view, pins } = userKeys(tenantId, userId);
    const replies = await this.#context.connection.atomically([
      ['HGET', read, conversationId],
      ['HGET', view, conversationId],
      ['ZSCORE', pins, conversationId],
    ]);
    const [mark, entry, pin] = replies.map(rightType);
    if (entry === null) return undefined;
    const parsed = readView(entry) ?? UNREADABLE_VIEW;
    return parsed.state === ViewState.Tombstone ? undefined : viewOf(conversationId, readMark(mark), parsed, pin !== null);
  }

  async clearedSeqs(tenantId: TenantId, conversationId: ConversationId, userIds: readonly UserId[]): Promise<readonly ConversationSeq[]> {
    const reads = userIds.map((userId): Command => ['HGET', userKeys(tenantId, userId).view, conversationId]);
    const entries = (await this.#context.connection.pipeline(reads)).map(rightType);
    return entries.map((entry) => readView(entry)?.clearedSeq ?? SEQ_ZERO);
  }

  async raiseRead(tenantId: TenantId, userId: UserId, conversationId: ConversationId, readSeq: ConversationSeq): Promise<ConversationSeq> {
    const { read, view } = userKeys(tenantId, userId);
    return asSequence(await this.#run('user-raise-read', [read, view], [conversationId, String(readSeq)]));
  }

  async clear(tenantId: TenantId, userId: UserId, conversationId: ConversationId, upToSeq: ConversationSeq): Promise<ConversationSeq> {
    return asSequence(await this.#run('user-clear', [userKeys(tenantId, userId).view], [conversationId, String(upToSeq)]));
  }

  async setFlags(
    tenantId: TenantId,
    userId: UserId,
    conversationId: ConversationId,
    change: FlagsChange,
    head: Activity,
  ): Promise<ConversationFlags | undefined> {
    const { conversations, view, pins } = userKeys(tenantId, userId);
    const pin = change.pinned === undefined ? '' : change.pinned ? '1' : '0';
    const bits = [changedFlags(0, change), ViewFlag.All & ~changedFlags(ViewFlag.All, change)].map(String);
    const limits = [String(PINS_MAX), String(this.#context.clockOffsetMs())];
    const args = [conversationId, ...bits, pin, String(head.conversationSeq), String(head.activityAtMs), ...limits];
    const reply = await this.#run('user-flags', [conversations, view, pins], args);
    if (!Array.isArray(reply)) {
      if (asText(reply) === 'full') throw resourceLimit('pinned conversations', PINS_MAX);
      return undefined;
    }
    const [flags, pinned] = asArray(reply);
    return flagsOf(Number(flags), pinned === 1);
  }

  async touch(tenantId: TenantId, conversationId: ConversationId, userIds: readonly UserId[], activity: Activity): Promise<void> {
    const { conversationSeq, activityAtMs } = activity;
    const args = [conversationId, String(conversationSeq), String(activityAtMs)];
    const keysOf = userIds.map((userId) => {
      const { conversations, view } = userKeys(tenantId, userId);
      return [conversations, view];
    });
    const together = this.#context.callsTogether === 'always' ? TOUCH_USERS_PER_CALL_MAX : 1;
    const calls: ScriptCall[] = [];
    for (let from = 0; from < keysOf.length; from += together) calls.push({ keys: keysOf.slice(from, from + together).flat(), args });
    if (calls.length === 0) return;
    const replies = await this.#context.scripts.runAll('user-touch', calls);
    if (together > 1 && replies.some(isWrongType)) {
      // One user's broken key is nothing to the others.
      const alone = keysOf.map((keys): ScriptCall => ({ keys, args }));
      await this.#runAll('user-touch', alone);
    } else replies.forEach(rightType);
  }

  async join(tenantId: TenantId, conversationId: ConversationId, users: readonly JoinedUser[], activity: Activity): Promise<void> {
    const calls = users.map(({ userId, joinedSeq, visibleFrom }) => {
      const { conversations, view, left } = userKeys(tenantId, userId);
      const args = [conversationId, String(joinedSeq), String(visibleFrom), String(activity.activityAtMs)];
      return { keys: [conversations, view, left], args };
    });
    await this.#runAll('user-join', calls);
  }

  async leave(tenantId: TenantId, conversationId: ConversationId, userIds: readonly UserId[], memberSeq: ConversationSeq): Promise<void> {
    const limits = [String(this.#context.clockOffsetMs()), String(TOMBSTONE_MS), String(TOMBSTONES_CLEARED_MAX)];
    const args = [conversationId, String(memberSeq), ...limits];
    const calls = userIds.map((userId) => {
      const { conversations, view, left, pins } = userKeys(tenantId, userId);
      return { keys: [conversations, view, left, pins], args };
    });
    await this.#runAll('user-leave', calls);
  }

  async held(tenantId: TenantId, userId: UserId, cursor: string | undefined, limit: number): Promise<HeldPage> {
    const command = ['HSCAN', userKeys(tenantId, userId).view, cursor ?? '0', 'COUNT', String(limit)] as const;
    const [next, fields] = asArray(rightType(await this.#context.connection.call(...command)));
    const pairs = asArray(fields);
    const conversationIds: ConversationId[] = [];
    for (let i = 0; i < pairs.length; i += 2) {
      const conversationId = conversationIdFrom(asText(pairs[i]));
      const { state } = readView(pairs[i + 1]) ?? UNREADABLE_VIEW;
      if (conversationId !== undefined && state === ViewState.Listed) conversationIds.push(conversationId);
    }
    return { conversationIds, next: asText(next) === '0' ? undefined : asText(next) };
  }

  async forget(tenantId: TenantId, userId: UserId): Promise<void> {
    const { read, pins } = userKeys(tenantId, userId);
    await this.#context.connection.call('DEL', read, pins);
  }

  async groupForRequest(tenantId: TenantId, userId: UserId, clientRequestId: string, candidate: ConversationId): Promise<ConversationId> {
    const { weeks, clockOffsetMs } = this.#context;
    // Twice at most: the second guess is the server's own word, wrong only when the week ended meanwhile.
    for (let tries = 0; tries < 3; tries += 1) {
      const week = weeks.week();
      const keys = [week, week - 1, week + 1].map((each) => groupRequestKey(tenantId, userId, each));
      const args = [clientRequestId, candidate, String(week), String(clockOffsetMs()), String(DEDUP_WEEK_MS)];
      const [kind, value] = asArray(await this.#run('group-request', keys, args));
      if (asText(kind) === 'ok') return parseConversationId(asText(value));
      weeks.learn(asDecimal(value));
    }
    throw unavailable('the clocks of server and store do not agree');
  }

  async #run(name: ScriptName, keys: readonly string[], args: readonly string[]): Promise<Reply> {
    return rightType(await this.#context.scripts.run(name, keys, args));
  }

  async #runAll(name: ScriptName, calls: readonly ScriptCall[]): Promise<void> {
    if (calls.length > 0) (await this.#context.scripts.runAll(name, calls)).forEach(rightType);
  }
}

interface ListedEntry {
  readonly cursor: DirectoryCursor;
  /** Undefined: a tombstone that is listed, as is only done by hand. The user did leave. */
  readonly shown: ConversationView | undefined;
}

/** Arguments 2 to 5 of user-page. */
function pageArguments(cursor: DirectoryCursor | undefined): string[] {
  if (cursor === undefined) return ['0', '', '', ''];
  const { activityAtMs, conversationId, pinned, pinsThroughMs } = cursor;
  return [pinned ? '1' : '0', String(activityAtMs), conversationId, String(pinsThroughMs ?? 0)];
}

/** From the fields of user-page. A name that is no conversation id is passed over: there is nothing to list. */
function listedEntries(fields: readonly Reply[], pinsThroughMs: number): ListedEntry[] {
  const entries: ListedEntry[] = [];
  for (let i = 0; i < fields.length; i += PAGE_FIELDS) {
    const [place, name, activity, mark, entry] = fields.slice(i, i + PAGE_FIELDS);
    const conversationId = conversationIdFrom(asText(name));
    if (conversationId === undefined) continue;
    const view = readView(entry) ?? UNREADABLE_VIEW;
    const shown = view.state === ViewState.Tombstone ? undefined : viewOf(conversationId, readMark(mark), view, place !== 0);
    const cursor = cursorAt(Number(asText(activity)), conversationId, place === AMONG_PINS, pinsThroughMs);
    entries.push({ cursor, shown });
  }
  return entries;
}

function conversationIdFrom(text: string): ConversationId | undefined {
  try {
    return parseConversationId(text);
  } catch (error) {
    if (isQimError(error)) return undefined;
    throw error;
  }
}

/** Undefined: absent or unreadable. */
function readView(entry: Reply | undefined): ViewEntry | undefined {
  const text = asOptionalText(entry);
  const parsed = text === undefined ? undefined : parseViewEntry(text);
  return typeof parsed === 'string' ? undefined : parsed;
}

/** A mark that is no number counts as none: unread messages then show again, and none is hidden. */
function readMark(reply: Reply | undefined): ConversationSeq {
  const text = asOptionalText(reply);
  if (text === undefined) return SEQ_ZERO;
  try {
    return parseConversationSeq(parseDecimal(text));
  } catch (error) {
    if (error instanceof Malformed) return SEQ_ZERO;
    throw error;
  }
}

function viewOf(conversationId: ConversationId, readSeq: ConversationSeq, entry: ViewEntry, pinned: boolean): ConversationView {
  const { joinedSeq, visibleFrom, clearedSeq, memberSeq, flags } = entry;
  return { conversationId, readSeq, joinedSeq, visibleFrom, clearedSeq, memberSeq, flags: flagsOf(flags, pinned) };
}

/**
 * The directory on LMDB. A user's list is an ordered key space, so that a page is one range; beside it stand the time
 * under which each conversation is listed, the view and the read mark. Each user's change is a plan of its own.
 */
import {
  type ConversationId,
  type ConversationSeq,
  PINS_MAX,
  parseConversationSeq,
  resourceLimit,
  SEQ_ZERO,
  type TenantId,
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
import { cursorAt, nextPinTime, type Pin, pagePins } from '../directory/pages.js';
import { changedFlags, flagsOf, parseViewEntry, UNREADABLE_VIEW, type ViewEntry, ViewFlag, ViewState } from '../directory/view-entry.js';
import { Malformed } from '../message/bytes.js';
import { parseDecimal } from '../message/decimal.js';
import type { Environment, FaultHook, Snapshot, Write } from './environment.js';
import { conversationIdFrom, everythingUnder, justAfter, UserKeys } from './keys.js';
import { listWrites, storedView, touchWrites, unlistWrites, viewWrite } from './list-writes.js';
import { counterFrom, counterValue, textFrom, weekOf } from './values.js';

export interface EmbeddedDirectoryOptions {
  readonly environment: Environment;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly faults: FaultHook | undefined;
}

const NOTHING = new Uint8Array(0);
const TIME_BYTES = 8;
export class EmbeddedDirectory implements Directory {
  readonly #options: EmbeddedDirectoryOptions;

  constructor(options: EmbeddedDirectoryOptions) {
    this.#options = options;
  }

  async page(tenantId: TenantId, userId: UserId, limit: number, cursor: DirectoryCursor | undefined): Promise<DirectoryPage> {
    const keys = new UserKeys(tenantId, userId);
    const { start, end } = everythingUnder(keys.listPrefix);
    return this.#options.environment.read((snapshot) => {
      const { throughMs, following, first, among } = pagePins(pinsOf(snapshot, keys), cursor);
      const pinned = following.map(({ conversationId, pinnedAtMs }) => cursorAt(pinnedAtMs, conversationId, true, throughMs));
      const before = cursor === undefined || among ? end : keys.list(cursor.activityAtMs, cursor.conversationId);
      // One more than is shown, and those that are left out because they came first.
      const listed = snapshot.keys({ start, end: before }, limit + 1 + first.size, 'descending');
      const others = listed.map((key) => positionOf(start.length, key)).filter((at) => at === undefined || !first.has(at.conversationId));
      const places = [...pinned, ...others.map((at) => at && cursorAt(at.activityAtMs, at.conversationId, false, throughMs))];
      const positions = places.slice(0, limit).filter((place) => place !== undefined);
      const views = positions.map(({ conversationId }) => viewOf(snapshot, keys, conversationId, UNREADABLE_VIEW));
      return {
        views: views.filter((view) => view !== undefined),
        next: places.length > limit ? positions.at(-1) : undefined,
      };
    });
  }

  async view(tenantId: TenantId, userId: UserId, conversationId: ConversationId): Promise<ConversationView | undefined> {
    const keys = new UserKeys(tenantId, userId);
    return this.#options.environment.read((snapshot) => viewOf(snapshot, keys, conversationId, undefined));
  }

  async clearedSeqs(tenantId: TenantId, conversationId: ConversationId, userIds: readonly UserId[]): Promise<readonly ConversationSeq[]> {
    return this.#options.environment.read((snapshot) =>
      userIds.map((userId) => storedView(snapshot, new UserKeys(tenantId, userId), conversationId)?.clearedSeq ?? SEQ_ZERO),
    );
  }

  raiseRead(tenantId: TenantId, userId: UserId, conversationId: ConversationId, readSeq: ConversationSeq): Promise<ConversationSeq> {
    const keys = new UserKeys(tenantId, userId);
    return this.#write('raiseRead', (snapshot) => {
      const before = readMark(snapshot, keys, conversationId);
      const result = readSeq > before ? readSeq : before;
      const view = storedView(snapshot, keys, conversationId);
      const writes: Write[] = [];
      if (result > before) writes.push({ key: keys.readMark(conversationId), value: Buffer.from(String(result)) });
      if (view !== undefined && (view.flags & ViewFlag.MarkedUnread) !== 0) {
        writes.push(viewWrite(keys, conversationId, { ...view, flags: view.flags & ~ViewFlag.MarkedUnread }));
      }
      return { result, writes };
    });
  }

  clear(tenantId: TenantId, userId: UserId, conversationId: ConversationId, upToSeq: ConversationSeq): Promise<ConversationSeq> {
    const keys = new UserKeys(tenantId, userId);
    return this.#write('clear', (snapshot) => {
      // No view: a tombstone that any join replaces, and that keeps what was cleared. One that cannot be read is listed.
      const absent = snapshot.get(keys.view(conversationId)) === undefined;
      const before = storedView(snapshot, keys, conversationId) ?? {
        ...UNREADABLE_VIEW,
        state: absent ? ViewState.Tombstone : ViewState.Listed,
      };
      const clearedSeq = upToSeq > before.clearedSeq ? upToSeq : before.clearedSeq;
      return { result: clearedSeq, writes: [viewWrite(keys, conversationId, { ...before, clearedSeq })] };
    });
  }

  setFlags(
    tenantId: TenantId,
    userId: UserId,
    conversationId: ConversationId,
    change: FlagsChange,
    head: Activity,
  ): Promise<ConversationFlags | undefined> {
    const keys = new UserKeys(tenantId, userId);
    return this.#write<ConversationFlags | undefined>('setFlags', (snapshot) => {
      const listed = snapshot.get(keys.listedAt(conversationId)) !== undefined;
      const before = storedView(snapshot, keys, conversationId) ?? (listed ? UNREADABLE_VIEW : undefined);
      if (before?.state !== ViewState.Listed) return { result: undefined, writes: [] };
      const pins = pinsOf(snapshot, keys);
      const was = pins.some((pin) => pin.conversationId === conversationId);
      const pinned = change.hidden === true ? false : (change.pinned ?? was);
      if (pinned && !was && pins.length >= PINS_MAX) throw resourceLimit('pinned conversations', PINS_MAX);
      const flags = changedFlags(before.flags, change);
      const hiddenSeq = change.hidden === true ? head.conversationSeq : before.hiddenSeq;
      const writes = [viewWrite(keys, conversationId, { ...before, flags, hiddenSeq })];
      if ((flags & ViewFlag.Hidden) !== 0) writes.push(...unlistWrites(snapshot, keys, conversationId));
      else if ((before.flags & ViewFlag.Hidden) !== 0) writes.push(...listWrites(snapshot, keys, conversationId, head.activityAtMs));
      if (pinned !== was) {
        const value = pinned ? counterValue(nextPinTime(pins, this.#options.now())) : undefined;
        writes.push({ key: keys.pin(conversationId), value });
      }
      return { result: flagsOf(flags, pinned), writes };
    });
  }

  async touch(tenantId: TenantId, conversationId: ConversationId, userIds: readonly UserId[], activity: Activity): Promise<void> {
    await this.#forEach('touch', userIds, (snapshot, userId) =>
      touchWrites(snapshot, new UserKeys(tenantId, userId), conversationId, activity),
    );
  }

  async join(tenantId: TenantId, conversationId: ConversationId, users: readonly JoinedUser[], activity: Activity): Promise<void> {
    await this.#forEach('join', users, (snapshot, { userId, joinedSeq, visibleFrom }) => {
      const keys = new UserKeys(tenantId, userId);
      const before = storedView(snapshot, keys, conversationId);
      const known = before !== undefined && before.memberSeq >= joinedSeq;
      // The same join again moves it up; a later join or leave stands.
      if (known && (before.state !== ViewState.Listed || before.memberSeq > joinedSeq)) return [];
      const listed = listWrites(snapshot, keys, conversationId, activity.activityAtMs);
      if (known) return (before.flags & ViewFlag.Hidden) === 0 ? listed : [];
      // What the user cleared and chose before leaving holds after coming back.
      const { clearedSeq, hiddenSeq, flags } = before ?? UNREADABLE_VIEW;
      const kept = { clearedSeq, hiddenSeq, flags: flags & ~ViewFlag.Hidden };
      return [
        viewWrite(keys, conversationId, { ...kept, joinedSeq, visibleFrom, memberSeq: joinedSeq, state: ViewState.Listed }),
        ...listed,
      ];
    });
  }

  async leave(tenantId: TenantId, conversationId: ConversationId, userIds: readonly UserId[], memberSeq: ConversationSeq): Promise<void> {
    await this.#forEach('leave', userIds, (snapshot, userId) => {
      const keys = new UserKeys(tenantId, userId);
      const before = storedView(snapshot, keys, conversationId);
      if (before !== undefined && before.memberSeq >= memberSeq) return [];
      const tombstone = { ...(before ?? UNREADABLE_VIEW), memberSeq, state: ViewState.Tombstone };
      return [
        viewWrite(keys, conversationId, tombstone),
        { key: keys.tombstone(weekOf(this.#options.now()), conversationId), value: NOTHING },
        { key: keys.pin(conversationId), value: undefined },
        ...unlistWrites(snapshot, keys, conversationId),
      ];
    });
  }

  async held(tenantId: TenantId, userId: UserId, cursor: string | undefined, limit: number): Promise<HeldPage> {
    const { viewPrefix } = new UserKeys(tenantId, userId);
    const { start, end } = everythingUnder(viewPrefix);
    return this.#options.environment.read((snapshot) => {
      const from = cursor === undefined ? start : justAfter(Buffer.from(cursor, 'latin1'));
      const keys = snapshot.keys({ start: from, end }, limit);
      const conversationIds = keys.flatMap((key) => {
        const value = snapshot.get(key);
        const view = value === undefined ? undefined : parseViewEntry(textFrom(value));
        if (typeof view === 'object' && view.state === ViewState.Tombstone) return [];
        return conversationIdFrom(key.subarray(viewPrefix.length)) ?? [];
      });
      return { conversationIds, next: keys.length < limit ? undefined : keys.at(-1)?.toString('latin1') };
    });
  }

  forget(tenantId: TenantId, userId: UserId): Promise<void> {
    const keys = new UserKeys(tenantId, userId);
    return this.#write<undefined>('forget', (snapshot) => {
      const own = [keys.pinPrefix, keys.readMarkPrefix].flatMap((prefix) =>
        snapshot.keys(everythingUnder(prefix), Number.MAX_SAFE_INTEGER),
      );
      return { result: undefined, writes: own.map((key) => ({ key, value: undefined })) };
    });
  }

  groupForRequest(tenantId: TenantId, userId: UserId, clientRequestId: string, candidate: ConversationId): Promise<ConversationId> {
    const keys = new UserKeys(tenantId, userId);
    return this.#write('groupForRequest', (snapshot) => {
      const week = weekOf(this.#options.now());
      // The week after this one as well: the clock may have been set back since.
      for (const each of [week, week - 1, week + 1]) {
        const value = each >= 0 ? snapshot.get(keys.groupRequest(each, clientRequestId)) : undefined;
        const made = value === undefined ? undefined : conversationIdFrom(value);
        if (made !== undefined) return { result: made, writes: [] };
      }
      return { result: candidate, writes: [{ key: keys.groupRequest(week, clientRequestId), value: Buffer.from(candidate) }] };
    });
  }

  #write<T>(
    operation: string,
    plan: Parameters<Environment['write']>[1] & ((snapshot: Snapshot) => { result: T; writes: Write[] }),
  ): Promise<T> {
    return this.#options.environment.write<T>(operation, plan, this.#options.faults);
  }

  /** One plan for each; those that wait together share transactions. */
  async #forEach<T>(operation: string, items: readonly T[], writes: (snapshot: Snapshot, item: T) => Write[]): Promise<void> {
    await Promise.all(items.map((item) => this.#write(operation, (snapshot) => ({ result: undefined, writes: writes(snapshot, item) }))));
  }
}

/** Of a key of the list, past its prefix of `at` bytes. Undefined for a key that no code of ours wrote. */
function positionOf(at: number, key: Buffer): DirectoryCursor | undefined {
  const conversationId = conversationIdFrom(key.subarray(at + TIME_BYTES));
  if (conversationId === undefined) return undefined;
  return { conversationId, activityAtMs: counterFrom(key.subarray(at, at + TIME_BYTES)) };
}

/** `otherwise` stands for a view that is absent or unreadable. */
function viewOf(
  snapshot: Snapshot,
  keys: UserKeys,
  conversationId: ConversationId,
  otherwise: ViewEntry | undefined,
): ConversationView | undefined {
  const view = storedView(snapshot, keys, conversationId) ?? otherwise;
  if (view?.state !== ViewState.Listed) return undefined;
  const { joinedSeq, visibleFrom, clearedSeq, memberSeq } = view;
  const readSeq = readMark(snapshot, keys, conversationId);
  const pinned = snapshot.get(keys.pin(conversationId)) !== undefined;
  return { conversationId, readSeq, joinedSeq, visibleFrom, clearedSeq, memberSeq, flags: flagsOf(view.flags, pinned) };
}

/** At most PINS_MAX, in no order. */
function pinsOf(snapshot: Snapshot, keys: UserKeys): Pin[] {
  const { start, end } = everythingUnder(keys.pinPrefix);
  return snapshot.keys({ start, end }, PINS_MAX).flatMap((key) => {
    const conversationId = conversationIdFrom(key.subarray(keys.pinPrefix.length));
    const value = snapshot.get(key);
    return conversationId === undefined || value === undefined ? [] : [{ conversationId, pinnedAtMs: counterFrom(value) }];
  });
}

/** A mark that cannot be read counts as none: more is shown as unread then, never less. */
function readMark(snapshot: Snapshot, keys: UserKeys, conversationId: ConversationId): ConversationSeq {
  const value = snapshot.get(keys.readMark(conversationId));
  if (value === undefined) return SEQ_ZERO;
  try {
    return parseConversationSeq(parseDecimal(textFrom(value)));
  } catch (error) {
    if (error instanceof Malformed) return SEQ_ZERO;
    throw error;
  }
}

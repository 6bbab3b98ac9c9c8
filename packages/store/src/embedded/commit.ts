/**
 * The plan of a commit (data-model, Commit). Order of checks: de-duplication, membership and role, the change's
 * preconditions, that index and facts agree; then everything that is written, as one list.
 */
import {
  assert,
  ConversationKind,
  type ConversationSeq,
  forbidden,
  type Message,
  MessageType,
  notMember,
  parseConversationSeq,
  Role,
  resourceLimit,
  SEQ_MAX,
  SEQ_ZERO,
} from '@qim/proto';
import { aborted, idempotencyConflict } from '../errors.js';
import { type EncodedRecord, encodeRecord, stampRecord } from '../message/codec.js';
import { type DedupEntry, decodeDedupEntry, encodeDedupEntry, sameFingerprint } from '../message/dedup-entry.js';
import { initialFacts, type StoredFacts } from '../message/facts.js';
import { requestFingerprint } from '../message/fingerprint.js';
import type { CommitOutcome, CommitRequest } from '../message/message-store.js';
import { type CommitStamp, committedRecord } from '../message/record.js';
import { outboxKind } from '../outbox/outbox.js';
import { memberWrite, planChange } from './commit-change.js';
import type { CommitSeries } from './commit-series.js';
import { ConversationReads, nothingKnown } from './conversation-reads.js';
import type { Plan, Snapshot, Write } from './environment.js';
import { ConversationKeys, setWeek, UserKeys } from './keys.js';
import { touchWrites } from './list-writes.js';
import { outboxWrite } from './outbox.js';
import { weekOf } from './values.js';

const SEQ_ONE = parseConversationSeq(1);

/** What of a commit needs no reading, made before its turn comes. */
export interface PreparedCommit {
  readonly request: CommitRequest;
  readonly keys: ConversationKeys;
  /** Stamped in the plan, in place. */
  readonly encoded: EncodedRecord;
  readonly fingerprint: Uint8Array;
  /** Put into the week that is meant, in place. */
  readonly dedupKey: Buffer;
}

export function prepareCommit(request: CommitRequest): PreparedCommit {
  const unstamped = { conversationSeq: SEQ_ZERO, prevSequence: SEQ_ZERO, committedAtMs: 0 };
  const keys = new ConversationKeys(request.tenantId, request.conversationId);
  return {
    request,
    keys,
    encoded: encodeRecord(committedRecord(request, unstamped)),
    fingerprint: requestFingerprint(request),
    dedupKey: keys.dedup(0, request.sender.userId, request.clientMessageId),
  };
}

/** Where and when a commit is planned. */
export interface CommitPlace {
  readonly snapshot: Snapshot;
  readonly series: CommitSeries;
  /** Unix milliseconds. */
  readonly now: number;
}

/** @throws as MessageStore.commit */
export function planCommit(prepared: PreparedCommit, { snapshot, series, now }: CommitPlace): Plan<CommitOutcome> {
  const { request, keys } = prepared;
  const followed = series.conversation(keys);
  const known = followed ?? nothingKnown();
  const reads = new ConversationReads(snapshot, request.tenantId, request.conversationId, keys, known);
  const week = weekOf(now);
  const remembered = rememberedCommit(snapshot, reads, prepared.dedupKey, week);
  if (remembered !== undefined) return { result: duplicateOf(reads, prepared, remembered), writes: [] };

  const existing = factsFor(reads, request);
  const created = existing === undefined;
  if (created) refuseUnlessNew(reads, request);
  else refuseUnlessAllowed(reads, request, existing);
  const facts = existing ?? factsOfNew(request);
  const next = nextSequence(reads, facts, followed !== undefined);
  const changed = created ? { facts, writes: firstMembers(reads, request) } : planChange(reads, request, facts, next);

  const stamp = { conversationSeq: next, prevSequence: facts.lastSequence, committedAtMs: Math.max(now, facts.lastCommittedAtMs) };
  const kind = created ? 'created' : outboxKind(request.change);
  // Whoever makes it has no list entry yet.
  const touches = request.touchSender === true && !created;
  const after = factsAfter(changed.facts, request, stamp);
  const entryNumber = series.lastEntry(snapshot) + 1;
  const entry = { kind, tenantId: request.tenantId, conversationId: request.conversationId, conversationSeq: next, atMs: now };
  const writes = [
    ...recordWrites(prepared, stamp),
    ...changed.writes,
    dedupWrite(prepared, stamp, week),
    outboxWrite(series.partition, entryNumber, entry),
    ...(touches ? senderTouch(snapshot, request, stamp) : []),
  ];
  const outcome = outcomeOf(request, stamp, created, facts.epoch);
  const applied = (): void => {
    const { members } = changed.writes.length === 0 ? known : nothingKnown();
    series.committed({ keys, facts: after, members }, entryNumber);
  };
  return { result: touches ? { ...outcome, senderTouched: true } : outcome, writes, applied };
}

function senderTouch(snapshot: Snapshot, request: CommitRequest, { conversationSeq, committedAtMs }: CommitStamp): readonly Write[] {
  const keys = new UserKeys(request.tenantId, request.sender.userId);
  return touchWrites(snapshot, keys, request.conversationId, { conversationSeq, activityAtMs: committedAtMs });
}

function rememberedCommit(snapshot: Snapshot, reads: ConversationReads, key: Buffer, week: number): DedupEntry | undefined {
  // The week after this one as well: the clock may have been set back since.
  for (const each of [week, week - 1, week + 1]) {
    if (each < 0) continue;
    setWeek(key, each);
    if (snapshot.peek(key) === undefined) continue;
    const entry = decodeDedupEntry(snapshot.get(key) ?? NOTHING);
    if (entry === 'dedupUnreadable') throw reads.damage(entry);
    return entry;
  }
  return undefined;
}

function duplicateOf(reads: ConversationReads, { request, fingerprint }: PreparedCommit, entry: DedupEntry): CommitOutcome {
  if (!sameFingerprint(entry.fingerprint, fingerprint)) {
    throw idempotencyConflict();
  }
  const { conversationSeq, messageId, activityId, committedAtMs } = entry;
  const mayRead = request.needs === 'system' || reads.member(request.sender.userId) !== undefined;
  const message = mayRead ? rememberedMessage(reads, entry) : undefined;
  return { duplicate: true, conversationSeq, messageId, activityId, committedAtMs, created: false, message };
}

/** Undefined: retention took it. @throws CorruptRecord (among others dedupUnreadable: it is another message) | UnsupportedVersion */
function rememberedMessage(reads: ConversationReads, { conversationSeq, messageId }: DedupEntry): Message | undefined {
  const facts = reads.facts();
  if (facts === undefined) throw reads.damage('factsMissing');
  if (conversationSeq < facts.retainedFrom) return undefined;
  const record = reads.record(conversationSeq);
  if (record === undefined) throw reads.damage('recordMissing', conversationSeq);
  if (!reads.hasIndexMember(conversationSeq)) throw reads.damage('indexMissing', conversationSeq);
  if (record.messageId !== messageId) throw reads.damage('dedupUnreadable', conversationSeq);
  return reads.messageOf(record, facts.epoch);
}

/** Undefined: there are none. Whoever has no member entry and makes nothing is told no more, whatever they look like. */
function factsFor(reads: ConversationReads, request: CommitRequest): StoredFacts | undefined {
  const facts = reads.storedFacts();
  if (typeof facts === 'object') return facts;
  if (request.create === undefined && reads.member(request.sender.userId) === undefined) throw notMember();
  return reads.facts();
}

/** Facts are absent: nothing else may be there, and the request must say what to make. */
function refuseUnlessNew(reads: ConversationReads, request: CommitRequest): void {
  if (reads.newestMember() !== undefined || reads.hasMembers()) throw reads.damage('factsMissing');
  if (request.create === undefined) throw notMember();
  assert(
    request.needs === 'system' || request.create.members.some(({ userId }) => userId === request.sender.userId),
    'the maker of a conversation is among its members',
  );
}

function refuseUnlessAllowed(reads: ConversationReads, request: CommitRequest, facts: StoredFacts): void {
  if (request.create?.onlyNew) throw aborted();
  const { needs } = request;
  if (needs === 'system') return;
  const member = reads.member(request.sender.userId);
  if (member === undefined) throw notMember();
  const least = needs === 'post' ? (facts.settings.onlyAdminsPost ? 'admin' : 'member') : needs;
  if (member.role < LEAST_ROLE[least]) throw forbidden(least);
}

export const LEAST_ROLE = { member: Role.Member, admin: Role.Admin, owner: Role.Owner } as const;

function factsOfNew(request: CommitRequest): StoredFacts {
  const { create } = request;
  assert(create !== undefined, 'a new conversation says what it is');
  const pair = create.kind === ConversationKind.Direct ? create.members.map(({ userId }) => userId) : [];
  return initialFacts(create.kind, create.title, create.settings, pair);
}

/** Index, facts and the place of the next record agree. `follows`: on a commit that has left the index so. @throws CorruptRecord */
function nextSequence(reads: ConversationReads, facts: StoredFacts, follows: boolean): ConversationSeq {
  if (!follows) refuseUnlessIndexEndsAt(reads, facts.lastSequence);
  const last = Math.max(facts.lastSequence, facts.reservedThrough);
  if (last >= SEQ_MAX) throw resourceLimit('sequences', SEQ_MAX);
  const next = parseConversationSeq(last + 1);
  if (reads.hasRecord(next)) throw reads.damage('recordUnexpected', next);
  return next;
}

function refuseUnlessIndexEndsAt(reads: ConversationReads, last: ConversationSeq): void {
  const newest = reads.newestMember();
  const head = newest === undefined ? SEQ_ZERO : reads.sequenceOf(newest);
  if (head < last) throw reads.damage(newest === undefined ? 'indexMissing' : 'indexBehindFacts', last);
  if (head > last) throw reads.damage('recordUnexpected', head);
}

function firstMembers({ keys }: ConversationReads, request: CommitRequest): Write[] {
  const members = request.create?.members ?? [];
  return members.map(({ userId, role }) => memberWrite(keys, userId, { role, joinedSeq: SEQ_ONE, visibleFrom: SEQ_ONE }));
}

function recordWrites({ keys, encoded }: PreparedCommit, stamp: CommitStamp): Write[] {
  const { conversationSeq } = stamp;
  stampRecord(encoded, stamp);
  const body = encoded.body === undefined ? [] : [{ key: keys.body(conversationSeq), value: encoded.body }];
  return [{ key: keys.record(conversationSeq), value: encoded.record }, ...body, { key: keys.index(conversationSeq), value: NOTHING }];
}

/** The index is in the keys. */
const NOTHING = new Uint8Array(0);

function factsAfter(facts: StoredFacts, request: CommitRequest, { conversationSeq, committedAtMs }: CommitStamp): StoredFacts {
  const previewSequence = request.type === MessageType.Control ? facts.previewSequence : conversationSeq;
  return { ...facts, lastSequence: conversationSeq, lastCommittedAtMs: committedAtMs, previewSequence };
}

function dedupWrite({ request, dedupKey, fingerprint }: PreparedCommit, stamp: CommitStamp, week: number): Write {
  const { messageId, activityId } = request;
  const { conversationSeq, committedAtMs } = stamp;
  setWeek(dedupKey, week);
  return {
    key: dedupKey,
    value: encodeDedupEntry({ conversationSeq, messageId, activityId, committedAtMs, fingerprint }),
  };
}

function outcomeOf(request: CommitRequest, stamp: CommitStamp, created: boolean, epoch: number): CommitOutcome {
  const record = committedRecord(request, stamp);
  const { conversationSeq, committedAtMs } = stamp;
  const { messageId, activityId } = request;
  return { duplicate: false, conversationSeq, messageId, activityId, committedAtMs, created, message: { record, epoch } };
}

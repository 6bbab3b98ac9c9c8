/** The reads that every operation on a conversation begins with. All of one call come from one snapshot. */
import {
  type ConversationId,
  type ConversationSeq,
  type CorruptReason,
  GROUP_MEMBERS_MAX,
  type Message,
  type MessageRecord,
  notMember,
  type Reactions,
  type TenantId,
  type UserId,
} from '@qim/proto';
import { corrupt } from '../errors.js';
import { sequenceFromBytes } from '../message/bytes.js';
import { decodeRecord } from '../message/codec.js';
import { parseMember, type StoredFacts } from '../message/facts.js';
import { decodeReactions } from '../message/reactions.js';
import type { MemberEntry } from '../message/summary.js';
import type { Snapshot } from './environment.js';
import { ConversationKeys, everythingUnder, justAfter, type KeyRange, userIdFrom } from './keys.js';
import { decodeFacts, textFrom } from './values.js';

/** What the transaction is known to hold of a conversation, which need not be read again. */
export interface KnownConversation {
  readonly facts: StoredFacts | undefined;
  /** Those of its members that were read; more are added. */
  readonly members: Map<UserId, MemberEntry>;
}

export function nothingKnown(): KnownConversation {
  return { facts: undefined, members: new Map<UserId, MemberEntry>() };
}

export class ConversationReads {
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
  readonly keys: ConversationKeys;
  readonly #snapshot: Snapshot;
  readonly #known: KnownConversation | undefined;

  constructor(
    snapshot: Snapshot,
    tenantId: TenantId,
    conversationId: ConversationId,
    keys = new ConversationKeys(tenantId, conversationId),
    known?: KnownConversation,
  ) {
    this.#snapshot = snapshot;
    this.#known = known;
    this.tenantId = tenantId;
    this.conversationId = conversationId;
    this.keys = keys;
  }

  damage(reason: CorruptReason, seq?: ConversationSeq): Error {
    return corrupt(this.tenantId, this.conversationId, reason, seq);
  }

  storedFacts(): StoredFacts | CorruptReason | undefined {
    return this.#known?.facts ?? decodeFacts(this.#snapshot.peek(this.keys.facts));
  }

  /** Undefined: no such conversation. @throws CorruptRecord | UnsupportedVersion, as do the methods below */
  facts(): StoredFacts | undefined {
    const facts = this.storedFacts();
    if (typeof facts === 'string') throw this.damage(facts);
    return facts;
  }

  storedMember(userId: UserId): MemberEntry | CorruptReason | undefined {
    const known = this.#known?.members.get(userId);
    if (known !== undefined) return known;
    const value = this.#snapshot.peek(this.keys.member(userId));
    const member = value === undefined ? undefined : parseMember(textFrom(value));
    if (typeof member === 'object') this.#known?.members.set(userId, member);
    return member;
  }

  member(userId: UserId): MemberEntry | undefined {
    const member = this.storedMember(userId);
    if (typeof member === 'string') throw this.damage(member);
    return member;
  }

  /** Whoever has no entry learns nothing, whatever the facts look like. @throws NotMember | CorruptRecord */
  membership(userId: UserId): { readonly facts: StoredFacts; readonly member: MemberEntry } {
    const member = this.member(userId);
    if (member === undefined) throw notMember();
    const facts = this.facts();
    if (facts === undefined) throw this.damage('factsMissing');
    return { facts, member };
  }

  /** In the byte order of their user ids. */
  members(): Map<UserId, MemberEntry> {
    const { memberPrefix } = this.keys;
    const members: [UserId, MemberEntry][] = [];
    for (const { key, value } of this.#snapshot.entries(everythingUnder(memberPrefix), GROUP_MEMBERS_MAX)) {
      const userId = userIdFrom(key.subarray(memberPrefix.length));
      const entry = parseMember(textFrom(value));
      if (userId === undefined || typeof entry === 'string') throw this.damage('memberUnreadable');
      members.push([userId, entry]);
    }
    return new Map(members.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
  }

  memberCount(): number {
    return this.#snapshot.count(everythingUnder(this.keys.memberPrefix));
  }

  hasMembers(): boolean {
    return this.#snapshot.keys(everythingUnder(this.keys.memberPrefix), 1).length > 0;
  }

  /** What stands at the end of the index, whatever it is; undefined: there is no index. */
  newestMember(): Uint8Array | undefined {
    return this.#members(everythingUnder(this.keys.indexPrefix), 1, 'descending')[0];
  }

  /** Index members past `seq` in ascending order, as they stand: damage may have left any bytes. */
  membersAfter(seq: ConversationSeq, limit: number): Uint8Array[] {
    const { end } = everythingUnder(this.keys.indexPrefix);
    return this.#members({ start: justAfter(this.keys.index(seq)), end }, limit, 'ascending');
  }

  /** Index members past `floor` and before the key `end`, in descending order. */
  membersBefore(end: Buffer, floor: ConversationSeq, limit: number): Uint8Array[] {
    return this.#members({ start: justAfter(this.keys.index(floor)), end }, limit, 'descending');
  }

  /** The first index member at or past `seq`. */
  memberFrom(seq: ConversationSeq): Uint8Array | undefined {
    const { end } = everythingUnder(this.keys.indexPrefix);
    return this.#members({ start: this.keys.index(seq), end }, 1, 'ascending')[0];
  }

  #members(range: KeyRange, limit: number, order: 'ascending' | 'descending'): Uint8Array[] {
    const at = this.keys.indexPrefix.length;
    return this.#snapshot.keys(range, limit, order).map((key) => key.subarray(at));
  }

  /** Cost: proportional to it. */
  indexCount(): number {
    return this.#snapshot.count(everythingUnder(this.keys.indexPrefix));
  }

  /** By number: which sequence, as it stands. A number that is none is undefined. */
  amendmentsAfter(number: number, limit: number): { readonly number: number | undefined; readonly member: Uint8Array }[] {
    const { amendmentPrefix } = this.keys;
    const { end } = everythingUnder(amendmentPrefix);
    return this.#snapshot.entries({ start: justAfter(this.keys.amendment(number)), end }, limit).map(({ key, value }) => ({
      number: sequenceFromBytes(key.subarray(amendmentPrefix.length)),
      member: value,
    }));
  }

  hasIndexMember(seq: ConversationSeq): boolean {
    return this.#snapshot.peek(this.keys.index(seq)) !== undefined;
  }

  hasRecord(seq: ConversationSeq): boolean {
    return this.#snapshot.peek(this.keys.record(seq)) !== undefined;
  }

  recordBytes(seq: ConversationSeq): Uint8Array | undefined {
    return this.#snapshot.get(this.keys.record(seq));
  }

  bodyBytes(seq: ConversationSeq): Uint8Array | undefined {
    return this.#snapshot.get(this.keys.body(seq));
  }

  /** Whole, with its body, and the one that was asked for; undefined: there is none. */
  record(seq: ConversationSeq): MessageRecord | undefined {
    const record = this.recordOrReason(seq);
    if (record === 'recordMissing') return undefined;
    if (typeof record === 'string') throw this.damage(record, seq);
    return record;
  }

  /** The same, with what is wrong as an answer. */
  recordOrReason(seq: ConversationSeq): MessageRecord | CorruptReason {
    const bytes = this.recordBytes(seq);
    if (bytes === undefined) return 'recordMissing';
    const record = decodeRecord(bytes, this.bodyBytes(seq));
    if (typeof record === 'string') return record;
    const asked = record.tenantId === this.tenantId && record.conversationId === this.conversationId && record.conversationSeq === seq;
    return asked ? record : 'recordMismatch';
  }

  /** Of a record that was read; undefined: it has none. */
  reactions(record: MessageRecord): Reactions | undefined {
    const reactions = decodeReactions(record, this.#snapshot.get(this.keys.reactions(record.conversationSeq)));
    if (typeof reactions === 'string') throw this.damage(reactions, record.conversationSeq);
    return reactions;
  }

  messageOf(record: MessageRecord, epoch: number): Message {
    return { record, epoch, reactions: this.reactions(record) };
  }

  /** @throws CorruptRecord (indexMemberInvalid) */
  sequenceOf(member: Uint8Array): ConversationSeq {
    const seq = sequenceFromBytes(member);
    if (seq === undefined) throw this.damage('indexMemberInvalid');
    return seq;
  }
}

/**
 * Bytes of one conversation, read and written behind the store's back, so that the damage matrix can break anything in any
 * way. `src/testing/damage-kinds.ts` names the ways that other packages need; what is here is for the store's tests alone.
 */
import { type ConversationId, type ConversationSeq, EMBEDDED_MAP_BYTES_DEFAULT, type TenantId, type UserId } from '@qim/proto';
import { enterFolder } from '../src/embedded/folders.js';
import { ConversationKeys as EmbeddedKeys, UserKeys } from '../src/embedded/keys.js';
import { counterFrom, counterValue, weekOf } from '../src/embedded/values.js';
import { sequenceToBytes } from '../src/message/bytes.js';
import { FACT_FIELDS } from '../src/message/facts.js';
import type { CommitRequest } from '../src/message/message-store.js';
import { bucketOf, DEPLOYMENT_KEY, dedupField, KeySpace, userKeys } from '../src/redis/keys.js';
import { type RawClient, rawClient } from './redis-backend.js';

export interface Place {
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
}

/** Undefined as a value: taken away. */
export interface Tamper {
  record(place: Place, seq: ConversationSeq): Promise<Uint8Array>;
  setRecord(place: Place, seq: ConversationSeq, bytes: Uint8Array | undefined): Promise<void>;
  body(place: Place, seq: ConversationSeq): Promise<Uint8Array>;
  setBody(place: Place, seq: ConversationSeq, bytes: Uint8Array | undefined): Promise<void>;
  addIndexMember(place: Place, member: Uint8Array): Promise<void>;
  removeIndexMember(place: Place, member: Uint8Array): Promise<void>;
  setMemberEntry(place: Place, userId: UserId, text: string | undefined): Promise<void>;
  /** Of this or the last week. */
  dedup(request: CommitRequest): Promise<Uint8Array>;
  setDedup(request: CommitRequest, bytes: Uint8Array | undefined): Promise<void>;
  /** The one entry of a record that was amended once. */
  setAmendment(place: Place, seq: ConversationSeq, member: Uint8Array | undefined): Promise<void>;
  reactions(place: Place, seq: ConversationSeq): Promise<Uint8Array>;
  setReactions(place: Place, seq: ConversationSeq, bytes: Uint8Array | undefined): Promise<void>;
  setReadMark(place: Place, userId: UserId, text: string | undefined): Promise<void>;
  setView(place: Place, userId: UserId, text: string | undefined): Promise<void>;
  setListed(place: Place, userId: UserId, listed: boolean): Promise<void>;
  setPin(place: Place, userId: UserId, pinnedAtMs: number | undefined): Promise<void>;
  setProfile(place: Place, userId: UserId, text: string | undefined): Promise<void>;
  /** What only this backend has, each with what it is. */
  readonly own: readonly OwnDamage[];
  close(): Promise<void>;
}

export interface OwnDamage {
  readonly what: string;
  apply(place: Place): Promise<void>;
}

function found(value: Uint8Array | null | undefined, what: string): Uint8Array {
  if (value === undefined || value === null) throw new Error(`there is no ${what} to damage`);
  return new Uint8Array(value);
}

export async function tamperEmbedded(folder: string, nowMs: () => number): Promise<Tamper> {
  const { environment, leave } = await enterFolder(folder, false, EMBEDDED_MAP_BYTES_DEFAULT);
  const put = (key: Buffer, value: Uint8Array | undefined): Promise<void> =>
    environment.write('tamper', () => ({ result: undefined, writes: [{ key, value }] }));
  const get = (key: Buffer) => environment.read((snapshot) => snapshot.get(key));
  const keys = ({ tenantId, conversationId }: Place) => new EmbeddedKeys(tenantId, conversationId);
  const user = ({ tenantId }: Place, userId: UserId) => new UserKeys(tenantId, userId);
  const textOr = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text));
  const dedupKey = (request: CommitRequest) => keys(request).dedup(weekOf(nowMs()), request.sender.userId, request.clientMessageId);
  return {
    record: async (place, seq) => found(get(keys(place).record(seq)), 'record'),
    setRecord: (place, seq, bytes) => put(keys(place).record(seq), bytes),
    body: async (place, seq) => found(get(keys(place).body(seq)), 'body'),
    setBody: (place, seq, bytes) => put(keys(place).body(seq), bytes),
    addIndexMember: (place, member) => put(keys(place).indexMember(member), new Uint8Array(0)),
    removeIndexMember: (place, member) => put(keys(place).indexMember(member), undefined),
    setMemberEntry: (place, userId, text) => put(keys(place).member(userId), textOr(text)),
    dedup: async (request) => found(get(dedupKey(request)), 'entry'),
    setDedup: (request, bytes) => put(dedupKey(request), bytes),
    async setAmendment(place, seq, member) {
      const own = keys(place);
      const number = counterFrom(get(own.amendmentOf(seq)));
      await put(own.amendment(number), member);
    },
    reactions: async (place, seq) => found(get(keys(place).reactions(seq)), 'value'),
    setReactions: (place, seq, bytes) => put(keys(place).reactions(seq), bytes),
    setReadMark: (place, userId, text) => put(user(place, userId).readMark(place.conversationId), textOr(text)),
    setView: (place, userId, text) => put(user(place, userId).view(place.conversationId), textOr(text)),
    setPin: (place, userId, at) => put(user(place, userId).pin(place.conversationId), at === undefined ? undefined : counterValue(at)),
    setProfile: (place, userId, text) => put(user(place, userId).profile, textOr(text)),
    async setListed(place, userId, listed) {
      const own = user(place, userId);
      const at = get(own.listedAt(place.conversationId));
      const time = at === undefined ? nowMs() : counterFrom(at);
      await put(own.list(time, place.conversationId), listed ? new Uint8Array(0) : undefined);
      await put(own.listedAt(place.conversationId), listed ? counterValue(time) : undefined);
    },
    own: factsBytes(get, put, keys),
    close: leave,
  };
}

/** Facts are one value with a checksum. */
function factsBytes(
  get: (key: Buffer) => Buffer | undefined,
  put: (key: Buffer, value: Uint8Array | undefined) => Promise<void>,
  keys: (place: Place) => EmbeddedKeys,
): OwnDamage[] {
  const change = (what: string, to: (bytes: Uint8Array) => Uint8Array): OwnDamage => ({
    what,
    apply: (place) => put(keys(place).facts, to(found(get(keys(place).facts), 'facts'))),
  });
  return [
    change('facts cut to half', (bytes) => bytes.subarray(0, bytes.length / 2)),
    change('facts empty', () => new Uint8Array(0)),
    change('facts, a bit flipped', (bytes) => bytes.map((byte, i) => (i === bytes.length - 5 ? byte ^ 1 : byte))),
    change('facts of an unknown version', (bytes) => bytes.map((byte, i) => (i === 0 ? 2 : i === 1 ? 0xfd : byte))),
  ];
}

export async function tamperRedis(url: string, nowMs: () => Promise<number>): Promise<Tamper> {
  const raw = await rawClient(url);
  const partitions = Number(await raw.sendCommand<Buffer>(['HGET', DEPLOYMENT_KEY, 'partitions']));
  const space = new KeySpace(partitions);
  const keys = ({ tenantId, conversationId }: Place) => space.conversation(tenantId, conversationId);
  const field = async (key: string, name: string, value: Uint8Array | string | undefined): Promise<void> => {
    if (value === undefined) await raw.sendCommand(['HDEL', key, name]);
    else await raw.sendCommand(['HSET', key, name, typeof value === 'string' ? value : Buffer.from(value)]);
  };
  const read = async (key: string, name: string, what: string) => found(await raw.sendCommand<Buffer | null>(['HGET', key, name]), what);
  const dedupKey = async (request: CommitRequest) => keys(request).dedup(weekOf(await nowMs()));
  const dedupName = ({ sender, clientMessageId }: CommitRequest) => dedupField(sender.userId, clientMessageId);
  const user = ({ tenantId }: Place, userId: UserId) => userKeys(tenantId, userId);
  return {
    record: (place, seq) => read(keys(place).records(bucketOf(seq)), String(seq), 'record'),
    setRecord: (place, seq, bytes) => field(keys(place).records(bucketOf(seq)), String(seq), bytes),
    body: (place, seq) => read(keys(place).bodies(bucketOf(seq)), String(seq), 'body'),
    setBody: (place, seq, bytes) => field(keys(place).bodies(bucketOf(seq)), String(seq), bytes),
    addIndexMember: async (place, member) => void (await raw.sendCommand(['ZADD', keys(place).history, '0', Buffer.from(member)])),
    removeIndexMember: async (place, member) => void (await raw.sendCommand(['ZREM', keys(place).history, Buffer.from(member)])),
    setMemberEntry: (place, userId, text) => field(keys(place).members, userId, text),
    dedup: async (request) => read(await dedupKey(request), dedupName(request), 'entry'),
    setDedup: async (request, bytes) => field(await dedupKey(request), dedupName(request), bytes),
    async setAmendment(place, seq, member) {
      const key = keys(place).amendments;
      const packed = Buffer.from(sequenceToBytes(seq));
      const score = await raw.sendCommand<Buffer>(['ZSCORE', key, packed]);
      await raw.sendCommand(['ZREM', key, packed]);
      if (member !== undefined) await raw.sendCommand(['ZADD', key, score, Buffer.from(member)]);
    },
    reactions: (place, seq) => read(keys(place).reactions, String(seq), 'value'),
    setReactions: (place, seq, bytes) => field(keys(place).reactions, String(seq), bytes),
    setReadMark: (place, userId, text) => field(user(place, userId).read, place.conversationId, text),
    setView: (place, userId, text) => field(user(place, userId).view, place.conversationId, text),
    async setPin(place, userId, at) {
      const { pins } = user(place, userId);
      if (at === undefined) await raw.sendCommand(['ZREM', pins, place.conversationId]);
      else await raw.sendCommand(['ZADD', pins, String(at), place.conversationId]);
    },
    async setProfile(place, userId, text) {
      const { profile } = user(place, userId);
      await raw.sendCommand(text === undefined ? ['DEL', profile] : ['SET', profile, text]);
    },
    async setListed(place, userId, listed) {
      const { conversations } = user(place, userId);
      if (listed) await raw.sendCommand(['ZADD', conversations, String(await nowMs()), place.conversationId]);
      else await raw.sendCommand(['ZREM', conversations, place.conversationId]);
    },
    own: [...factFields(raw, (place) => keys(place).facts), ...scores(raw, (place) => keys(place).history), ...wrongTypes(raw, keys)],
    close: async () => raw.destroy(),
  };
}

function factFields(raw: RawClient, key: (place: Place) => string): OwnDamage[] {
  return FACT_FIELDS.flatMap((name) => [
    { what: `facts without ${name}`, apply: async (place: Place) => void (await raw.sendCommand(['HDEL', key(place), name])) },
    ...(name === 'title'
      ? []
      : [
          {
            what: `facts, ${name} unreadable`,
            apply: async (place: Place) => void (await raw.sendCommand(['HSET', key(place), name, '?'])),
          },
        ]),
  ]);
}

function scores(raw: RawClient, key: (place: Place) => string): OwnDamage[] {
  const at = (what: string, seq: number, score: number): OwnDamage => ({
    what,
    apply: async (place) =>
      void (await raw.sendCommand(['ZADD', key(place), String(score), Buffer.from(sequenceToBytes(seq as ConversationSeq))])),
  });
  return [
    at('index, a score of 1 in the middle', 3, 1),
    at('index, a score of -1 in the middle', 3, -1),
    at('index, a score of 0.5 on the first', 1, 0.5),
  ];
}

function wrongTypes(raw: RawClient, keys: (place: Place) => ReturnType<KeySpace['conversation']>): OwnDamage[] {
  const parts = {
    facts: (place: Place) => keys(place).facts,
    members: (place: Place) => keys(place).members,
    records: (place: Place) => keys(place).records(0),
    bodies: (place: Place) => keys(place).bodies(0),
    reactions: (place: Place) => keys(place).reactions,
  };
  return Object.entries(parts).map(([what, key]) => ({
    what: `${what} of a wrong type`,
    apply: async (place) => void (await raw.sendCommand(['SET', key(place), 'no such form'])),
  }));
}

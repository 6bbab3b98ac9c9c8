import { readdirSync, readFileSync } from 'node:fs';
import {
  COMMIT_PARTITIONS_DEFAULT,
  COMMIT_PARTITIONS_MAX,
  LEGACY_TENANT_ID,
  parseClientMessageId,
  parseConversationId,
  parseTenantId,
  parseUserId,
  RECORD_BUCKET_SIZE,
} from '@qim/proto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bucketOf, dedupField, encodePart, groupRequestKey, KeySpace, userKeys } from '../src/redis/keys.js';
import { partitionOf, partitionTags, SLOTS, slotOf } from '../src/redis/partitions.js';

const T7 = parseTenantId(7);
const CHAT = parseConversationId('g_0190b5e0-0000-7000-8000-000000000001');
const ALICE = parseUserId('alice');
const tagOf = (key: string): string | undefined => /\{([^}]*)\}/.exec(key)?.[1];

describe('keys of a conversation', () => {
  const keys = new KeySpace(64).conversation(T7, CHAT);
  const all = [keys.facts, keys.members, keys.history, keys.amendments, keys.records(3), keys.bodies(3), keys.dedup(2_900)];

  test('have the literal forms of the data model', () => {
    const place = `{${tagOf(keys.history)}}:7:${CHAT}`;
    expect(all).toEqual([
      `msgfacts:${place}`,
      `msgmembers:${place}`,
      `msghistory:${place}`,
      `msgamend:${place}`,
      `msgrecord:${place}:3`,
      `msgbody:${place}:3`,
      `msgdedup:${place}:2900`,
    ]);
  });

  test('lie in one slot, with the outbox of their partition', () => {
    const { outbox, lease, poison } = new KeySpace(64).outbox(keys.partition);
    expect(keys.outbox).toBe(outbox);
    expect(new Set([...all, outbox, lease, poison].map(tagOf)).size).toBe(1);
  });

  test('a bucket has 256 sequences', () => {
    expect([0, 1, RECORD_BUCKET_SIZE - 1, RECORD_BUCKET_SIZE, Number.MAX_SAFE_INTEGER].map(bucketOf)).toEqual([
      0,
      0,
      0,
      1,
      Math.floor(Number.MAX_SAFE_INTEGER / 256),
    ]);
  });
});

describe('keys of a user', () => {
  test("are exactly the seed's for the legacy tenant, and have the tenant in the tag for others", () => {
    expect(userKeys(LEGACY_TENANT_ID, ALICE)).toEqual({
      conversations: 'convs:{alice}',
      read: 'read:{alice}',
      view: 'view:{alice}',
      left: 'left:{alice}',
      pins: 'pins:{alice}',
      profile: 'profile:{alice}',
      blocks: 'blocks:{alice}',
      suspended: 'suspended:{alice}',
      webPush: 'webpush:{alice}',
    });
    expect(userKeys(T7, ALICE).conversations).toBe('convs:{7:alice}');
    expect(groupRequestKey(T7, ALICE, 2_900)).toBe('groupreq:{7:alice}:2900');
  });

  test('of a user whose id looks like another tenant are kept apart', () => {
    expect(userKeys(LEGACY_TENANT_ID, parseUserId('7:alice')).read).toBe('read:{7%3Aalice}');
  });
});

describe('the encoding of a part', () => {
  test('leaves A-Z a-z 0-9 _ - and writes every other byte as %XX', () => {
    expect(encodePart('azAZ09_-')).toBe('azAZ09_-');
    expect(encodePart('a:b{c}%用')).toBe('a%3Ab%7Bc%7D%25%E7%94%A8');
  });

  test('no two lists of ids make one key', () => {
    const part = fc.string({ unit: 'binary', maxLength: 12 });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 3 }), fc.array(part, { maxLength: 3 }), (a, b) => {
        const key = (parts: readonly string[]) => parts.map(encodePart).join(':');
        const same = a.length === b.length && a.every((each, i) => each === b[i]);
        expect(a.length > 0 && b.length > 0 && key(a) === key(b)).toBe(same && a.length > 0);
      }),
    );
  });

  test('sender and clientMessageId that read alike when run together have two fields', () => {
    const fields = [
      ['a', 'b:c'],
      ['a:b', 'c'],
      ['a', 'b%3Ac'],
    ].map(([user = '', id = '']) => dedupField(parseUserId(user), parseClientMessageId(id)));
    expect(new Set(fields).size).toBe(3);
  });
});

describe('partitions', () => {
  test('slots are those of Redis Cluster', () => {
    // The check value of CRC16/XMODEM, and two keys from the Cluster specification's examples.
    expect(slotOf('123456789')).toBe(0x31c3 % SLOTS);
    expect(slotOf('foo')).toBe(12_182);
    expect(slotOf('bar')).toBe(5_061);
  });

  test.each([1, 2, 3, 64, 100, COMMIT_PARTITIONS_MAX])('the tag of each of %i partitions lies in its own range of slots', (count) => {
    const tags = partitionTags(count);
    expect(tags).toHaveLength(count);
    expect(tags.map((tag) => Math.floor((slotOf(tag) * count) / SLOTS))).toEqual(Array.from({ length: count }, (_, i) => i));
    expect(tags.every((tag) => /^c\d{3,}$/.test(tag))).toBe(true);
  });

  test('a count out of bounds is refused', () => {
    for (const count of [0, -1, 1.5, COMMIT_PARTITIONS_MAX + 1]) expect(() => partitionTags(count)).toThrow('assertion failed');
  });

  test('any number of nodes up to 8 gets an equal share of the 64', () => {
    for (const nodes of [2, 4, 8]) {
      const share = new Array<number>(nodes).fill(0);
      for (const tag of partitionTags(64)) {
        const node = Math.floor((slotOf(tag) * nodes) / SLOTS);
        share[node] = (share[node] ?? 0) + 1;
      }
      expect(share).toEqual(new Array<number>(nodes).fill(64 / nodes));
    }
  });

  test('conversations spread evenly, and one always has the same partition', () => {
    const counts = new Array<number>(COMMIT_PARTITIONS_DEFAULT).fill(0);
    for (let n = 0; n < 64_000; n += 1) {
      const partition = partitionOf(T7, parseConversationId(`g_${n}`), COMMIT_PARTITIONS_DEFAULT);
      counts[partition] = (counts[partition] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(800);
    expect(Math.max(...counts)).toBeLessThan(1_200);
    // Pinned: another answer strands what is stored.
    expect([T7, LEGACY_TENANT_ID].map((tenant) => partitionOf(tenant, CHAT, 64))).toEqual([50, 29]);
    expect([0, 1, 2, 63].map((partition) => partitionTags(64)[partition])).toEqual(['c113', 'c032', 'c021', 'c143']);
  });
});

test('keys are spelled in keys.ts alone', () => {
  const folder = new URL('../src/redis/', import.meta.url);
  const spelled = /['"`](?:msg[a-z]+|outbox[a-z]*|convs|read|view|left|groupreq|qim):/;
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(15);
  expect(files.filter((name) => spelled.test(readFileSync(new URL(name, folder), 'utf8')))).toEqual(['keys.ts']);
});

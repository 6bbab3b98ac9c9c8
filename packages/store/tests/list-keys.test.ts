/** The keys of a list, made in bytes that are used again: the same ones as those of all other reads. */
import { parseConversationId, parseTenantId, parseUserId } from '@qim/proto';
import { expect, test } from 'vitest';
import { ConversationKeys, everythingUnder, justAfter } from '../src/embedded/keys.js';
import { ListKeys } from '../src/embedded/list-keys.js';
import { seq } from './records.js';

const PLACES = [
  [0, 'g_1'],
  [4_294_967_295, `d_${'x'.repeat(62)}`],
  [7, 'A-_9'],
  [0, 'g_2'],
] as const;

test.each(['bob', 'bob é', 'a:b'])('of %j, for one conversation after the other', (user) => {
  const userId = parseUserId(user);
  const list = new ListKeys(userId);
  for (const [tenant, id] of PLACES) {
    const [tenantId, conversationId] = [parseTenantId(tenant), parseConversationId(id)];
    const keys = new ConversationKeys(tenantId, conversationId);
    list.set(tenantId, conversationId);
    expect(list.facts).toEqual(keys.facts);
    expect(list.member).toEqual(keys.member(userId));
    expect(list.wholeIndex).toEqual(everythingUnder(keys.indexPrefix));
    expect([list.indexEnd, list.prefixBytes]).toEqual([everythingUnder(keys.indexPrefix).end, keys.indexPrefix.length]);
    for (const sequence of [1, 256, 2 ** 32, 2 ** 53 - 1]) {
      expect(list.record(seq(sequence))).toEqual(keys.record(seq(sequence)));
      expect(list.indexAfter(seq(sequence))).toEqual(justAfter(keys.index(seq(sequence))));
    }
  }
});

/** What holds of a store that an earlier version wrote, whatever kind it is. */
import { openMaintenance, openStore, type StorePlace } from '@qim/server';
import { verifyStore } from '@qim/store/verify';
import { Caller } from '../testing/caller.js';
import { devToken, startRealServer } from '../testing/real-server.js';
import { readingOf } from './reading.js';

/** By the store's own contracts. */
export async function readAgain(place: StorePlace): Promise<unknown> {
  const store = await openStore(place, { as: 'server' });
  try {
    return await readingOf(store);
  } finally {
    await store.close();
  }
}

/** What a whole verification looked at and finds. */
export async function verified(place: StorePlace): Promise<{ readonly conversations: number; readonly found: readonly string[] }> {
  const maintenance = await openMaintenance(place, openStore, false);
  const found: string[] = [];
  const nothing = () => {};
  try {
    const { counts, finished } = await verifyStore(maintenance, {
      ...{ tenantId: undefined, conversationId: undefined, userId: undefined, repair: 'no', newerIsDamage: false, rate: undefined },
      signal: new AbortController().signal,
      clock: { now: Date.now, monotonicNow: () => performance.now(), sleep: async () => {} },
      report: {
        found: ({ code, what }) => found.push(`${code}: ${what}`),
        mended: nothing,
        left: nothing,
        skipped: nothing,
        progress: nothing,
      },
    });
    if (!finished) throw new Error('it did not come to its end');
    return { conversations: counts.conversations, found };
  } finally {
    await maintenance.close();
  }
}

/** A whole server goes on with it: a message more, and bob's list has it. */
export async function goesOn(flags: Readonly<Record<string, string>>): Promise<unknown> {
  const server = await startRealServer({}, flags);
  try {
    const [alice, bob] = [
      new Caller(server.url, await devToken(server.url, 'alice')),
      new Caller(server.url, await devToken(server.url, 'bob')),
    ];
    const sent = await alice.call('MessageService/SendMessage', {
      toUserId: 'bob',
      clientMessageId: 'after',
      type: 'MESSAGE_TYPE_TEXT',
      text: 'x',
    });
    const { conversations } = await bob.call('SessionService/ListConversations', {});
    return { sent: sent.message, listed: (conversations as readonly unknown[])[0] };
  } finally {
    await server.end();
  }
}

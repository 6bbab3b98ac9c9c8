/** What the delivery side promises, over a store of real bytes: the same lines on each backend. */
import { PUSH_RETRY_MIN_MS, parseConversationId, parseConversationSeq, parseUserId } from '@qim/proto';
import { type Store, unavailable } from '@qim/store';
import { damage, type StoreLocation } from '@qim/store/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ALICE, BOB, CAROL, device, ManualTime, openWorldOn, T0, type World } from './support.js';

export interface RealStore {
  readonly store: Store;
  readonly location: StoreLocation;
  close(): Promise<void>;
}

/** The store's own clock runs on while the test's stands still: long enough for the slowest machine. */
const LEASE_MS = 120_000;

export function pushOverRealStore(name: string, open: () => Promise<RealStore>): void {
  describe(`the delivery over ${name}`, () => {
    let real: RealStore;
    const worlds: World[] = [];
    beforeAll(async () => {
      real = await open();
    });
    afterEach(async () => {
      for (const one of worlds.splice(0)) await one.push.stop();
    });
    afterAll(() => real.close());

    const world = (over: Parameters<typeof openWorldOn>[2] = () => ({})): World => {
      const one = openWorldOn(real.store, new ManualTime(), (deps) => ({ leaseMs: LEASE_MS, ...over(deps) }));
      worlds.push(one);
      return one;
    };
    const soon = (check: () => void) => vi.waitFor(check, { interval: 5, timeout: 60_000 });
    const people = (label: string) =>
      [ALICE, BOB, CAROL].map((id) => parseUserId(`${label}-${id}`)) as [typeof ALICE, typeof BOB, typeof CAROL];

    test('every member gets every message in order, and finds the conversation on top of the list', async () => {
      const w = world();
      const [alice, bob, carol] = people('order');
      const conversationId = parseConversationId('g_order');
      const devices = [device(alice, 'pad'), device(bob, 'phone'), device(bob, 'pad')];
      await w.connect(...devices, device(carol));
      await w.push.start();
      await w.group(alice, [bob], undefined, conversationId);
      for (let n = 0; n < 50; n += 1) await w.commit(n % 2 === 0 ? alice : bob, { conversationId });
      const expected = ['messageCommitted 1', 'conversationChanged', ...Array.from({ length: 50 }, (_, n) => `messageCommitted ${n + 2}`)];
      for (const each of devices) await soon(() => expect(each.lines).toEqual(expected));
      expect((await w.listOf(bob))[0]).toBe(conversationId);
      await w.drained();
    });

    test('who is removed gets the notice and nothing after it; who joins gets what follows', async () => {
      const w = world();
      const [alice, bob, carol] = people('members');
      const conversationId = parseConversationId('g_members');
      const [bobs, carols] = [device(bob), device(carol)];
      await w.connect(bobs, carols);
      await w.group(alice, [bob], undefined, conversationId);
      await w.commit(alice, { conversationId });
      await w.push.start();
      await w.drained();
      bobs.events.length = 0;
      const part = { conversationId };
      await w.commit(alice, {
        ...part,
        type: 9,
        content: { kind: 'control', control: { kind: 2, userIds: [carol] } },
        change: { kind: 'join', userIds: [carol] },
      });
      await w.commit(alice, {
        ...part,
        type: 9,
        content: { kind: 'control', control: { kind: 4, userIds: [bob] } },
        change: { kind: 'leave', userIds: [bob] },
      });
      await w.commit(carol, part);
      await w.drained();
      expect(bobs.lines.slice(-1)).toEqual(['removed']);
      expect(bobs.lines).not.toContain('messageCommitted 5');
      expect(carols.lines.filter((line) => line.startsWith('message'))).toEqual([
        'messageCommitted 3',
        'messageCommitted 4',
        'messageCommitted 5',
      ]);
      expect(await w.listOf(bob)).toEqual([]);
      expect(await w.listOf(carol)).toEqual([conversationId]);
    });

    test('a damaged record is set aside, and the rest of its conversation goes on', async () => {
      const w = world();
      const [alice, bob] = people('damage');
      const conversationId = parseConversationId('g_damage');
      const bobs = device(bob);
      await w.connect(bobs);
      await w.group(alice, [bob], undefined, conversationId);
      for (let n = 0; n < 3; n += 1) await w.commit(alice, { conversationId });
      await damage(real.location, { tenantId: T0, conversationId, conversationSeq: parseConversationSeq(3) }, 'recordBitFlipped');
      await w.push.start();
      await soon(() => {
        // So little that no lease is lost while a busy machine gets nothing done.
        w.time.advance(PUSH_RETRY_MIN_MS * 2);
        expect(w.setAside).toEqual(['CorruptRecord recordUnreadable']);
      });
      await w.drained();
      expect(bobs.lines).toEqual([
        'messageCommitted 1',
        'conversationChanged',
        'messageCommitted 2',
        'conversationChanged',
        'messageCommitted 4',
      ]);
      expect((await real.store.outbox.backlog()).poison).toBe(1);
    });

    test('what one owner read and did not deliver comes to the next, before anything newer', async () => {
      const stuck = world((own) => ({
        messages: {
          readMembers: () => Promise.reject(unavailable('test')),
          readMessages: (...args) => own.messages.readMessages(...args),
          readConversation: (...args) => own.messages.readConversation(...args),
        },
      }));
      const [alice, bob] = people('next');
      const conversationId = parseConversationId('g_next');
      await stuck.group(alice, [bob], undefined, conversationId);
      await stuck.push.start();
      await soon(() => expect(stuck.time.sleepers).toBeGreaterThanOrEqual(2));
      await stuck.commit(alice, { conversationId });
      await stuck.push.stop();
      const next = world(() => ({ ownerId: 'next' }));
      const bobs = device(bob);
      await next.connect(bobs);
      await next.push.start();
      await soon(() => expect(bobs.lines).toEqual(['messageCommitted 1', 'conversationChanged', 'messageCommitted 2']));
      await next.drained();
    });
  });
}

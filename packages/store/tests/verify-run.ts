/** Cases of both stores: how a verification runs, what it is asked to look at, and what it says of the service's own answers. */
import {
  FSCK_BODIES_AT_ONCE,
  FSCK_FINDINGS_KEPT_MAX,
  FSCK_MENDED_AT_ONCE,
  FSCK_REST_RECORDS,
  RECORD_BUCKET_SIZE,
  type UserId,
} from '@qim/proto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { nextTurn } from '../src/clock.js';
import { type Chat, OTHER_TENANT, seq, TENANT, text } from '../src/testing/conformance/fixture.js';
import type { ConversationChange, StoreMender } from '../src/verify/mender.js';
import type { VerifyProgress } from '../src/verify/options.js';
import { Run } from '../src/verify/run.js';
import type { ConversationScan, RowPage, StoreScanner } from '../src/verify/scanner.js';
import type { Maintenance } from '../src/verify/verify.js';
import type { VerifiedStore } from './verify-backends.js';
import { DEFAULTS, Subject, verifyOn } from './verify-harness.js';

export function runCases(store: VerifiedStore): void {
  let subject: Subject;
  let alice: UserId;
  let bob: UserId;
  beforeAll(async () => {
    subject = await Subject.open(store);
    ({ alice, bob } = subject);
  });
  afterAll(() => subject.backend.close());

  const damage = (chat: Chat, at: number): Promise<void> =>
    subject.backend.damage({ tenantId: chat.tenantId, conversationId: chat.conversationId, conversationSeq: seq(at) }, 'recordTruncated');
  const of = ({ tenantId, conversationId }: Chat) => ({ tenantId, conversationId });

  describe(`${store.name}: beside commits, edits, recalls, joins, leaves, reads and retention`, () => {
    test('nothing is found, and nothing is mended', async () => {
      const carol = subject.fixture.user('carol');
      const group = await subject.fixture.group(alice, [bob]);
      const chat = subject.fixture.direct(alice, bob);
      await chat.say(alice);
      await subject.list(group);
      let going = true;
      const untilTold = async (step: (round: number) => Promise<unknown>): Promise<void> => {
        for (let round = 1; going; round += 1) await step(round);
      };
      const { directory } = subject.backend.store;
      const work = [
        untilTold(async (round) => {
          const { conversationSeq } = await chat.say(alice, round % 5 === 0 ? { content: text('long '.repeat(500)) } : 'hello');
          if (round % 3 === 0) await chat.edit(conversationSeq, `edited ${round}`);
          if (round % 7 === 0) await chat.recall(conversationSeq);
          await directory.raiseRead(TENANT, bob, chat.conversationId, conversationSeq);
          if (round % 40 === 0) await chat.messages.retain(TENANT, chat.conversationId, { olderThanMs: undefined, keepNewest: 20 });
        }),
        untilTold(async () => {
          await group.join(alice, carol);
          await group.say(carol);
          await group.leave(alice, carol);
        }),
      ];
      try {
        const repair = store.name === 'redis' ? 'yes' : 'no';
        while ((await subject.facts(chat)).lastSequence < 150) {
          const { places, mended, left } = await subject.with((maintenance) => verifyOn(unhurried(maintenance), { repair }));
          expect([places, mended, left]).toEqual([[], [], []]);
        }
      } finally {
        going = false;
        await Promise.all(work);
      }
      expect((await subject.verify()).places).toEqual([]);
    });
  });

  describe(`${store.name}: what it is asked to look at`, () => {
    let here: Chat;
    let there: Chat;
    beforeEach(async () => {
      here = subject.fixture.direct(alice, bob);
      there = subject.fixture.direct(alice, bob, OTHER_TENANT);
      for (const chat of [here, there]) {
        await chat.sayTimes(alice, 2);
        await damage(chat, 1);
      }
    });

    test('one conversation, one tenant, one user, or all', async () => {
      const zoe = subject.fixture.user('zoe');
      const zoes = subject.fixture.direct(zoe, zoe);
      await zoes.say(zoe);
      await damage(zoes, 1);
      const conversations = async (options: Parameters<typeof verifyOn>[1]) =>
        (await subject.verify(options)).found.map(({ conversationId }) => conversationId);
      expect(await conversations(of(here))).toEqual([here.conversationId]);
      expect(await conversations({ ...of(here), tenantId: OTHER_TENANT })).toEqual([]);
      expect(await conversations({ tenantId: OTHER_TENANT })).toContain(there.conversationId);
      expect(await conversations({ tenantId: OTHER_TENANT })).not.toContain(here.conversationId);
      expect(await conversations({ tenantId: TENANT, userId: zoe })).toEqual([zoes.conversationId]);
      expect(new Set(await conversations({}))).toEqual(expect.objectContaining(new Set([here, there, zoes].map((c) => c.conversationId))));
      await subject.verify({ repair: 'yes' });
    });
  });

  describe(`${store.name}: bounds`, () => {
    test('a conversation of many buckets, bodies apart among them, is read in pages', async () => {
      const chat = subject.fixture.direct(alice, bob);
      await Promise.all(
        Array.from({ length: 5 * RECORD_BUCKET_SIZE }, (_, n) =>
          chat.say(alice, { content: text(n % 10 === 0 ? 'long '.repeat(400) : `text ${n}`) }),
        ),
      );
      const sizes: number[] = [];
      const bodies: number[] = [];
      const { places, counts } = await subject.with((maintenance) => verifyOn(watched(maintenance, sizes, bodies), of(chat)));
      expect(places).toEqual([]);
      expect(counts.records).toBeGreaterThan(5 * RECORD_BUCKET_SIZE);
      expect(sizes.length).toBeGreaterThanOrEqual(5);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(RECORD_BUCKET_SIZE);
      expect(Math.max(...bodies)).toBeLessThanOrEqual(FSCK_BODIES_AT_ONCE);
    });

    test('FSCK_FINDINGS_KEPT_MAX findings of a conversation are told; all of them are mended, in small steps', async () => {
      const chat = subject.fixture.direct(alice, bob);
      const count = FSCK_FINDINGS_KEPT_MAX + 1;
      await Promise.all(Array.from({ length: count + 1 }, () => chat.say(alice)));
      const drops = Array.from({ length: count }, (_, i): ConversationChange => ({ kind: 'dropRecord', sequence: seq(i + 1) }));
      for (let from = 0; from < count; from += 500) await subject.plant(chat, ...drops.slice(from, from + 500));
      expect((await subject.verify(of(chat))).counts.findings).toBe(FSCK_FINDINGS_KEPT_MAX);
      const steps: number[] = [];
      const repaired = await subject.with((maintenance) =>
        verifyOn({ ...maintenance, mender: counted(maintenance.mender, steps) }, { ...of(chat), repair: 'yes' }),
      );
      expect([repaired.left, repaired.counts.left]).toEqual([[], 0]);
      // A record, an index member, an amendment, and once the facts.
      expect(Math.max(...steps)).toBeLessThanOrEqual(3 * FSCK_MENDED_AT_ONCE + 1);
      expect((await subject.verify(of(chat))).places).toEqual([]);
      expect(await chat.unread(bob, count)).toEqual([1, true]);
    });
  });

  describe(`${store.name}: the course of a run`, () => {
    test('tells how far it is, from 0 to 1 in each pass', async () => {
      const told: VerifyProgress[] = [];
      await subject.verify({ report: { ...DEFAULTS.report, progress: (progress) => told.push(progress) } });
      expect(new Set(told.map(({ pass }) => pass))).toEqual(new Set(['conversations', 'users']));
      expect(told.every(({ done }) => done >= 0 && done <= 1)).toBe(true);
      expect(told.filter(({ pass }) => pass === 'conversations').at(-1)?.done).toBe(1);
    });

    test('goes no faster than it is told, by the clock that it is given', async () => {
      let nowMs = 0;
      const sleep = async (ms: number): Promise<void> => {
        nowMs += ms;
      };
      const clock = { now: Date.now, monotonicNow: () => nowMs, sleep };
      const { counts } = await subject.verify({ rate: 1_000, clock });
      expect(nowMs).toBeGreaterThan(0);
      expect((counts.records / nowMs) * 1000).toBeCloseTo(1_000, 0);
    });

    test('gives back every FSCK_REST_RECORDS records what reading holds on to', async () => {
      let rests = 0;
      let records = 0;
      const count = async (rest: number): Promise<void> => {
        const run = new Run(DEFAULTS, async () => {
          rests += 1;
        });
        for (records = 0; records < rest; records += 100) await run.took(100);
      };
      await count(FSCK_REST_RECORDS - 100);
      expect(rests).toBe(0);
      await count(FSCK_REST_RECORDS);
      expect(rests).toBe(1);
    });

    test('ends at the next page when it is told to, and says that it did not finish', async () => {
      const stop = new AbortController();
      const report = { ...DEFAULTS.report, progress: () => stop.abort() };
      expect(await subject.verify({ signal: stop.signal, report })).toMatchObject({ finished: false });
      expect(await subject.verify()).toMatchObject({ finished: true });
    });
  });

  describe(`${store.name}: one look`, () => {
    test('judges nothing that was committed since it began', async () => {
      const chat = subject.fixture.direct(alice, bob);
      await chat.sayTimes(alice, 3);
      let said = 0;
      const { places } = await subject.with((maintenance) => {
        const { scanner } = maintenance;
        const conversation: StoreScanner['conversation'] = (place) => {
          const scan = scanner.conversation(place);
          // Between the facts and the records.
          const hasIndex = async (): Promise<boolean> => {
            said += (await chat.say(alice)).conversationSeq;
            await chat.edit(2, `edited ${said}`);
            return scan.hasIndex();
          };
          return proxied<ConversationScan>(scan, { hasIndex });
        };
        return verifyOn({ ...maintenance, exclusive: true, scanner: proxied<StoreScanner>(scanner, { conversation }) }, of(chat));
      });
      expect([said, places]).toEqual([4, []]);
    });
  });

  describe(`${store.name}: a step of a repair`, () => {
    let chat: Chat;
    beforeEach(async () => {
      chat = subject.fixture.direct(alice, bob);
      await chat.sayTimes(alice, 3);
      await subject.list(chat);
    });

    /** Decides on a step, lets something change, and takes the step. */
    async function after(change: () => Promise<unknown>): Promise<boolean> {
      const { record } = await subject.with(({ scanner }) => scanner.conversation(chat).whole(seq(2)));
      return subject.with(async ({ scanner, mender }) => {
        const { facts, guard } = await scanner.conversation(chat).facts();
        if (typeof facts !== 'object') throw new Error('there are facts');
        await change();
        const values = [{ kind: 'record', sequence: seq(2), record } as const];
        return mender.mendConversation(chat, { facts, guard, values }, [
          { kind: 'dropRecord', sequence: seq(2) },
          { kind: 'facts', facts: { ...facts, epoch: facts.epoch + 1, previewSequence: seq(1) } },
        ]);
      });
    }

    test('is taken while everything is as it was seen', async () => {
      expect(await after(async () => {})).toBe(true);
      expect(await subject.facts(chat)).toMatchObject({ epoch: 2, previewSequence: 1 });
      expect((await subject.verify(of(chat))).places).toContain('recordMissing@2');
      await subject.verify({ ...of(chat), repair: 'yes' });
    });

    test.each([
      ['the record was amended', () => chat.edit(2, 'edited')],
      ['retention has run', () => chat.messages.retain(TENANT, chat.conversationId, { olderThanMs: undefined, keepNewest: 2 })],
      ['the epoch rose', () => subject.plantFacts(chat, { epoch: 7 })],
      ['a fact that it changes has changed', () => chat.say(bob)],
    ])('is not taken when %s, and nothing is written', async (_, change) => {
      expect(await after(change)).toBe(false);
      expect((await subject.verify(of(chat))).places).toEqual([]);
    });

    test('on a user’s entry is not taken when the user did something', async () => {
      const { directory } = subject.backend.store;
      const taken = await subject.with(async ({ scanner, mender }) => {
        const user = { tenantId: TENANT, userId: bob };
        const { guard } = await scanner.user(user).entry(chat.conversationId);
        await directory.raiseRead(TENANT, bob, chat.conversationId, seq(3));
        return mender.mendUser(user, chat.conversationId, guard, [{ kind: 'readMark', readSeq: seq(1) }]);
      });
      expect([taken, (await directory.view(TENANT, bob, chat.conversationId))?.readSeq]).toEqual([false, 3]);
    });
  });

  describe(`${store.name}: what changes while it is mended`, () => {
    test('is looked at again, and mended then', async () => {
      const chat = subject.fixture.direct(alice, bob);
      await chat.sayTimes(alice, 3);
      await damage(chat, 2);
      let refusals = 0;
      const repaired = await subject.with((maintenance) =>
        verifyOn({ ...maintenance, mender: refusing(maintenance.mender, () => ++refusals <= 2) }, { ...of(chat), repair: 'yes' }),
      );
      expect(repaired.left).toEqual([]);
      expect(refusals).toBeGreaterThan(2);
      expect((await subject.verify(of(chat))).places).toEqual([]);
    });

    test('all the time is left, and told', async () => {
      const chat = subject.fixture.direct(alice, bob);
      await chat.sayTimes(alice, 3);
      await subject.list(chat);
      await damage(chat, 2);
      await subject.backend.breakEntry('readMark', bob, chat.conversationId, 'x');
      const repaired = await subject.with((maintenance) =>
        verifyOn({ ...maintenance, mender: refusing(maintenance.mender, () => true) }, { ...of(chat), repair: 'yes' }),
      );
      expect(repaired.mended).toEqual([]);
      expect(repaired.left.map(([place]) => place)).toEqual(['recordUnreadable@2', 'readMarkUnreadable/bob']);
      await subject.verify({ ...of(chat), repair: 'yes' });
      expect((await subject.verify(of(chat))).places).toEqual([]);
    });
  });

  describe(`${store.name}: the service's answers`, () => {
    let chat: Chat;
    beforeEach(async () => {
      chat = subject.fixture.direct(alice, bob);
      await chat.sayTimes(alice, 3);
      await chat.say(bob);
      await subject.list(chat);
    });
    const lying = (over: Partial<Maintenance['messages']>) =>
      subject.with((maintenance) => verifyOn({ ...maintenance, messages: { ...bound(maintenance.messages), ...over } }, { ...of(chat) }));

    test('of a list that counts one too few are found, for whom and from where', async () => {
      const { messages } = subject.backend.store;
      const { found, counts } = await lying({
        async readConversations(tenantId, userId, states) {
          const readings = await messages.readConversations(tenantId, userId, states);
          return readings.map((reading) =>
            reading.kind === 'sound' && userId === bob
              ? { ...reading, summary: { ...reading.summary, unreadCount: reading.summary.unreadCount - 1 } }
              : reading,
          );
        },
      });
      expect(found.map(({ code, userId }) => [code, userId])).toEqual([['answerDiffers', bob]]);
      expect(found[0]?.what).toContain('counted from 0');
      expect(counts.left).toBe(1);
    });

    test('of history that leaves a record out are found, and not mended', async () => {
      const { messages } = subject.backend.store;
      const readHistory: Maintenance['messages']['readHistory'] = async (query) => {
        const page = await messages.readHistory(query);
        return { ...page, records: page.records.filter(({ conversationSeq }) => conversationSeq !== 2) };
      };
      expect((await lying({ readHistory })).places.map((place) => place.split('/')[0])).toEqual(['answerDiffers@2']);
    });

    test('that are right are no finding, whatever was read, cleared or joined', async () => {
      const { directory } = subject.backend.store;
      await directory.raiseRead(TENANT, bob, chat.conversationId, seq(2));
      await directory.clear(TENANT, alice, chat.conversationId, seq(1));
      const group = await subject.fixture.group(alice, []);
      await group.sayTimes(alice, 3);
      await group.join(alice, bob);
      await group.say(alice, { mentions: { userIds: [bob], all: false } });
      await subject.list(group);
      expect((await subject.verify({ tenantId: TENANT, userId: bob })).places).toEqual([]);
    });
  });
}

/** Methods by themselves: an object that is spread has none. */
function bound(messages: Maintenance['messages']): Maintenance['messages'] {
  return {
    readConversations: (...args) => messages.readConversations(...args),
    readHistory: (...args) => messages.readHistory(...args),
  };
}

function watched(maintenance: Maintenance, sizes: number[], bodies: number[]): Maintenance {
  const scanner = proxied<StoreScanner>(maintenance.scanner, {
    conversation: (place) => {
      const scan = maintenance.scanner.conversation(place);
      return proxied<ConversationScan>(scan, {
        pages: () => counting(scan.pages(), sizes),
        bodies: (sequences) => {
          bodies.push(sequences.length);
          return scan.bodies(sequences);
        },
      });
    },
  });
  return { ...maintenance, scanner };
}

/** Whatever else goes on has its turn before each read. */
function unhurried(maintenance: Maintenance): Maintenance {
  const { scanner } = maintenance;
  const late = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, name) {
        const value: unknown = Reflect.get(object, name, object);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          const answer: unknown = value.apply(object, args);
          return answer instanceof Promise ? nextTurn().then(() => value.apply(object, args)) : paced(answer as AsyncIterable<unknown>);
        };
      },
    });
  return {
    ...maintenance,
    scanner: proxied<StoreScanner>(scanner, {
      conversation: (place) => late(scanner.conversation(place)),
      user: (place) => late(scanner.user(place)),
      membership: async (place, userId) => {
        await nextTurn();
        return scanner.membership(place, userId);
      },
    }),
  };
}

async function* paced<T>(pages: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const page of pages) {
    await nextTurn();
    yield page;
  }
}

async function* counting(pages: AsyncIterable<RowPage>, sizes: number[]): AsyncGenerator<RowPage> {
  for await (const page of pages) {
    sizes.push(page.rows.length);
    yield page;
  }
}

/** The object with some methods in place of its own. */
function proxied<T extends object>(target: T, over: Partial<T>): T {
  return new Proxy(target, {
    get(object, name) {
      const own: unknown = Reflect.get(over, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(object, name, object);
      return typeof value === 'function' ? value.bind(object) : value;
    },
  });
}

function counted(mender: StoreMender, steps: number[]): StoreMender {
  return proxied<StoreMender>(mender, {
    mendConversation: (place, seen, changes) => {
      steps.push(changes.length);
      return mender.mendConversation(place, seen, changes);
    },
  });
}

function refusing(mender: StoreMender, refuse: () => boolean): StoreMender {
  return proxied<StoreMender>(mender, {
    mendConversation: async (place, seen, changes) => !refuse() && mender.mendConversation(place, seen, changes),
    mendUser: async (...args) => !refuse() && mender.mendUser(...args),
  });
}

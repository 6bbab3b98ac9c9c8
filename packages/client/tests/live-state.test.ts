/** Typing, presence, totals, members and profiles: small states over calls that the test plays, with fake time. */
import {
  CLIENT_PRESENCE_MAX,
  CLIENT_PRESENCE_SHOWN_MS,
  CLIENT_PROFILES_MAX,
  CLIENT_TYPING_MAX,
  PROFILES_DELAY_MS,
  PROFILES_PER_CALL_MAX,
  TOTALS_DELAY_MS,
  TYPING_REPEAT_MS,
  TYPING_SHOWN_MS,
} from '@qim/proto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Environment, environmentFrom } from '../src/environment.js';
import { clientError, QimClientError } from '../src/errors.js';
import { Members } from '../src/members.js';
import { Presence } from '../src/presence.js';
import { Profiles } from '../src/profiles.js';
import { TotalsReader } from '../src/totals.js';
import { Typing } from '../src/typing.js';
import { FakeSocket } from './support/fake-socket.js';

let environment: Environment;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const nothing = (): void => {};

beforeEach(() => {
  vi.useFakeTimers();
  environment = environmentFrom({ WebSocket: FakeSocket });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('who is writing', () => {
  const told: unknown[] = [];
  const make = (): Typing => new Typing({ api: { setTyping: async (...args) => void told.push(args) }, environment });
  beforeEach(() => {
    told.length = 0;
  });

  test('is shown in the order in which they began, until they stop or are not heard of', async () => {
    const typing = make();
    typing.heard('g_1', 'bob', true);
    typing.heard('g_1', 'carol', true);
    expect(typing.state.snapshot().get('g_1')).toEqual(['bob', 'carol']);
    typing.heard('g_1', 'bob', false);
    expect(typing.state.snapshot().get('g_1')).toEqual(['carol']);
    await pass(TYPING_SHOWN_MS - 1);
    typing.heard('g_1', 'carol', true);
    await pass(TYPING_SHOWN_MS - 1);
    expect(typing.state.snapshot().get('g_1')).toEqual(['carol']);
    await pass(1);
    expect(typing.state.snapshot().size).toBe(0);
  });

  test('is nobody once the link is lost', () => {
    const typing = make();
    typing.heard('g_1', 'bob', true);
    typing.offline();
    expect(typing.state.snapshot().size).toBe(0);
  });

  test('is held up to the bound', () => {
    const typing = make();
    for (let n = 0; n <= CLIENT_TYPING_MAX; n += 1) typing.heard('g_1', `u${n}`, true);
    expect(typing.state.snapshot().get('g_1')?.length).toBe(CLIENT_TYPING_MAX);
  });

  test('is told to the others now and then while one writes, and once that one has stopped', async () => {
    const typing = make();
    for (let n = 0; n < 10; n += 1) typing.set('g_1', true);
    expect(told).toEqual([['g_1', true]]);
    await pass(TYPING_REPEAT_MS);
    typing.set('g_1', true);
    typing.set('g_1', false);
    typing.set('g_1', false);
    expect(told).toEqual([
      ['g_1', true],
      ['g_1', true],
      ['g_1', false],
    ]);
  });

  test('needs no word once the message was sent', () => {
    const typing = make();
    typing.set('g_1', true);
    typing.sent('g_1');
    typing.set('g_1', false);
    expect(told).toEqual([['g_1', true]]);
  });
});

describe('who is online', () => {
  test('is what was heard last, and nobody without a link', () => {
    const presence = new Presence(environment);
    presence.heard('bob', true);
    presence.heard('carol', true);
    presence.heard('bob', false);
    expect([...presence.state.snapshot()]).toEqual(['carol']);
    presence.offline();
    expect(presence.state.snapshot().size).toBe(0);
  });

  test('ends with silence', async () => {
    const presence = new Presence(environment);
    presence.heard('bob', true);
    await pass(CLIENT_PRESENCE_SHOWN_MS - 1);
    presence.heard('bob', true);
    await pass(CLIENT_PRESENCE_SHOWN_MS - 1);
    expect(presence.state.snapshot().has('bob')).toBe(true);
    await pass(1);
    expect(presence.state.snapshot().size).toBe(0);
  });

  test('is held up to the bound', () => {
    const presence = new Presence(environment);
    const before = presence.state.snapshot();
    (before as Set<string>).clear();
    for (let n = 0; n < CLIENT_PRESENCE_MAX; n += 1) (before as Set<string>).add(`u${n}`);
    presence.heard('one more', true);
    expect(presence.state.snapshot()).toBe(before);
    presence.heard('u0', false);
    presence.heard('one more', true);
    expect(presence.state.snapshot().has('one more')).toBe(true);
  });
});

describe('the totals', () => {
  const totals = { unreadConversations: 1, unreadCount: 2, mentionCount: 0, exact: true };

  test('are read while somebody watches, once for many changes', async () => {
    let reads = 0;
    const getTotals = async () => {
      reads += 1;
      return { ...totals, unreadCount: reads };
    };
    const reader = new TotalsReader({ api: { getTotals }, environment });
    reader.touch();
    await pass(TOTALS_DELAY_MS);
    expect([reads, reader.state.snapshot()]).toEqual([0, { status: 'loading', error: undefined, totals: undefined }]);
    const end = reader.state.subscribe(nothing);
    await pass(0);
    expect(reader.state.snapshot().totals?.unreadCount).toBe(1);
    for (let n = 0; n < 20; n += 1) reader.touch();
    await pass(TOTALS_DELAY_MS);
    expect(reads).toBe(2);
    end();
    reader.touch();
    await pass(TOTALS_DELAY_MS);
    expect(reads).toBe(2);
    reader.state.subscribe(nothing);
    await pass(0);
    expect(reads).toBe(3);
  });

  test('that cannot be read are what they were, with the error, and never 0', async () => {
    const error = new QimClientError({ code: 'data_loss', reason: 'CORRUPT_RECORD', message: 'x' });
    let answer: () => Promise<typeof totals> = async () => totals;
    const reader = new TotalsReader({ api: { getTotals: () => answer() }, environment });
    reader.state.subscribe(nothing);
    await pass(0);
    answer = () => Promise.reject(error);
    reader.touch();
    await pass(TOTALS_DELAY_MS);
    expect(reader.state.snapshot()).toEqual({ status: 'error', error, totals });
    answer = () => Promise.reject(clientError('NOT_CONNECTED', 'x'));
    reader.touch();
    await pass(TOTALS_DELAY_MS);
    expect(reader.state.snapshot().error).toBe(error);
  });
});

describe('the members', () => {
  const member = (n: number) => ({ userId: `u${n}`, role: 'member', joinedSeq: 1 }) as const;

  test('are read page by page while somebody watches, and again after a change', async () => {
    let size = 250;
    const asked: string[] = [];
    const listMembers = async (_: string, pageToken: string) => {
      asked.push(pageToken);
      const from = Number(pageToken || '0');
      const members = Array.from({ length: Math.min(200, size - from) }, (__, n) => member(from + n));
      return { members, nextPageToken: from + 200 < size ? String(from + 200) : '' };
    };
    const members = new Members({ conversationId: 'g_1', api: { listMembers } });
    members.touch();
    await pass(0);
    expect(asked).toEqual([]);
    const end = members.subscribe(nothing);
    await pass(0);
    expect([members.snapshot().members.length, members.snapshot().hasMore]).toEqual([200, true]);
    members.loadMore();
    await pass(0);
    expect([members.snapshot().members.length, members.snapshot().hasMore]).toEqual([250, false]);
    size = 251;
    members.touch();
    await pass(0);
    expect(members.snapshot().members.length).toBe(251);
    end();
    const before = asked.length;
    members.touch();
    await pass(0);
    expect(asked.length).toBe(before);
    members.subscribe(nothing);
    await pass(0);
    expect(asked.length).toBeGreaterThan(before);
  });
});

describe('profiles', () => {
  test('of one moment are asked for together, each once, and again after a reconnect', async () => {
    const asked: (readonly string[])[] = [];
    const getProfiles = async (userIds: readonly string[]) => {
      asked.push(userIds);
      return userIds.map((userId) => ({ userId, displayName: userId.toUpperCase(), avatarUrl: '' }));
    };
    const profiles = new Profiles({ api: { getProfiles }, environment });
    const ids = Array.from({ length: PROFILES_PER_CALL_MAX + 1 }, (_, n) => `u${n}`);
    for (const id of ids) profiles.of(id).subscribe(nothing);
    profiles.of('u0').subscribe(nothing);
    expect(profiles.of('u0')).toBe(profiles.of('u0'));
    await pass(PROFILES_DELAY_MS);
    expect(asked.map(({ length }) => length)).toEqual([PROFILES_PER_CALL_MAX, 1]);
    expect(profiles.of('u5').snapshot()).toMatchObject({ displayName: 'U5' });
    profiles.of('unwatched');
    profiles.resync();
    await pass(PROFILES_DELAY_MS);
    expect(asked.flat().length).toBe(2 * ids.length);
  });

  test('are held up to the bound, the watched ones always', () => {
    const profiles = new Profiles({ api: { getProfiles: async () => [] }, environment });
    const watched = profiles.of('watched');
    watched.subscribe(nothing);
    const first = profiles.of('u0');
    for (let n = 1; n < CLIENT_PROFILES_MAX; n += 1) profiles.of(`u${n}`);
    expect(profiles.of('watched')).toBe(watched);
    expect(profiles.of('u0')).not.toBe(first);
  });
});

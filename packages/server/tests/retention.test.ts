/** Which rule holds for a conversation, and the sweep that keeps it: every conversation, one at a time, at its pace. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ConversationKind,
  HistoryVisibility,
  MessageType,
  parseActivityId,
  parseClientMessageId,
  parseConversationId,
  parseMessageId,
  parseTenantId,
  parseUserId,
  RETENTION_DAYS_MAX,
  RETENTION_FAILURE_PAUSE_MS,
  RETENTION_LOOK_PAUSE_MS,
  RETENTION_MESSAGES_MAX,
  RETENTION_STEP_PAUSE_MS,
  RETENTION_STEP_RECORDS_MAX,
  RETENTION_SWEEP_PAUSE_MS,
  RETENTION_TURN_PAUSE_MS,
  Role,
} from '@qim/proto';
import { corrupt, type MessageStore, type RetentionPolicy, unavailable } from '@qim/store';
import { openMemoryStore } from '@qim/store/memory';
import { uuidv7 } from 'uuidv7';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { loadConfig } from '../src/config.js';
import { createLog } from '../src/log.js';
import { type RetentionPolicies, readRetention } from '../src/retention/policy.js';
import { RetentionSweep } from '../src/retention/sweep.js';
import { startTestServer, temporaryFolder } from './running.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
const T0 = parseTenantId(0);
const T7 = parseTenantId(7);
const A = parseConversationId('g_a');
const B = parseConversationId('g_b');

describe('the rules', () => {
  let temporary: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    temporary = await temporaryFolder();
  });
  afterEach(() => temporary.remove());

  const read = (flags: Parameters<typeof loadConfig>[0]['flags']) =>
    readRetention(loadConfig({ flags: { dev: 'true', ...flags }, environment: {} }));

  async function fromFile(content: unknown, flags: Parameters<typeof read>[0] = {}): Promise<RetentionPolicies | undefined> {
    const retentionFile = join(temporary.folder, 'retention.json');
    await writeFile(retentionFile, typeof content === 'string' ? content : JSON.stringify(content));
    return read({ ...flags, retentionFile });
  }

  test('without any, nothing is swept', async () => {
    expect(await read({})).toBeUndefined();
  });

  test('of the flags hold for all', async () => {
    const policies = await read({ retentionDays: '30', retentionMessages: '5000' });
    expect(policies?.ruleFor(T7, A)).toEqual({ days: 30, messages: 5000 });
    expect((await read({ retentionDays: '30' }))?.ruleFor(T0, A)).toEqual({ days: 30, messages: undefined });
  });

  test('the nearest one holds as a whole, and an empty one keeps everything', async () => {
    const policies = await fromFile({
      default: { days: 30, messages: 9 },
      tenants: { '7': { days: 7 } },
      conversations: { '7:g_a': { messages: 100 }, '0:g_a': {} },
    });
    expect(policies?.ruleFor(T0, B)).toEqual({ days: 30, messages: 9 });
    expect(policies?.ruleFor(T7, B)).toEqual({ days: 7, messages: undefined });
    expect(policies?.ruleFor(T7, A)).toEqual({ days: undefined, messages: 100 });
    expect(policies?.ruleFor(T0, A)).toEqual({ days: undefined, messages: undefined });
  });

  test('of a file without a default leave the rest to the flags, or keep it', async () => {
    const file = { tenants: { '7': { days: 7 } } };
    expect((await fromFile(file))?.ruleFor(T0, A)).toEqual({ days: undefined, messages: undefined });
    expect((await fromFile(file, { retentionDays: '3' }))?.ruleFor(T0, A)).toEqual({ days: 3, messages: undefined });
  });

  test('are integers from 1 to their bounds', async () => {
    expect((await fromFile({ default: { days: RETENTION_DAYS_MAX, messages: RETENTION_MESSAGES_MAX } }))?.ruleFor(T0, A).days).toBe(
      RETENTION_DAYS_MAX,
    );
    for (const rule of [
      { days: 0 },
      { days: 1.5 },
      { days: '7' },
      { days: RETENTION_DAYS_MAX + 1 },
      { messages: 0 },
      { messages: RETENTION_MESSAGES_MAX + 1 },
    ]) {
      await expect(fromFile({ default: rule })).rejects.toMatchObject({ code: 'BadConfiguration' });
    }
    for (const flag of ['retentionDays', 'retentionMessages'] as const) {
      await expect((async () => read({ [flag]: '0' }))()).rejects.toMatchObject({ code: 'BadConfiguration' });
    }
  });

  test.each([
    ['not JSON', '{', 'it is not JSON'],
    ['a list', [], 'it must be a JSON object'],
    ['a misspelt part', { tenant: {} }, 'tenant is not known here'],
    ['a misspelt rule', { default: { day: 1 } }, 'default.day is not known here'],
    ['a tenant that is none', { tenants: { x: {} } }, 'tenants.x is not named by a tenant'],
    ['a tenant past its bound', { tenants: { '4294967296': {} } }, 'tenants.4294967296'],
    ['a conversation without its tenant', { conversations: { g_a: {} } }, 'conversations.g_a is not named by tenant:conversation'],
    ['a conversation that is none', { conversations: { '7:g a': {} } }, 'conversations.7:g a'],
    ['a rule that is none', { tenants: { '7': 3 } }, 'tenants.7 must be a JSON object'],
  ])('of a file with %s are refused by the place', async (_, content, told) => {
    await expect(fromFile(content)).rejects.toMatchObject({ code: 'BadConfiguration', message: expect.stringContaining(told) });
  });

  test('of a file that cannot be read are refused, and so is a default that is said twice', async () => {
    await expect(read({ retentionFile: join(temporary.folder, 'none') })).rejects.toMatchObject({
      code: 'BadConfiguration',
      message: expect.stringContaining('ENOENT'),
    });
    await expect(fromFile({ default: { days: 1 } }, { retentionMessages: '5' })).rejects.toMatchObject({ code: 'BadConfiguration' });
  });
});

async function fill(messages: MessageStore, conversationId: typeof A, count: number): Promise<void> {
  const userId = parseUserId('alice');
  const settings = { historyVisibility: HistoryVisibility.All, onlyAdminsPost: false };
  const create = { kind: ConversationKind.Group, title: 't', settings, members: [{ userId, role: Role.Owner }], onlyNew: false };
  for (let n = 0; n < count; n += 1) {
    await messages.commit({
      tenantId: T0,
      conversationId,
      sender: { userId, deviceId: undefined },
      clientMessageId: parseClientMessageId(uuidv7()),
      messageId: parseMessageId(uuidv7()),
      activityId: parseActivityId(uuidv7()),
      type: MessageType.Text,
      content: { kind: 'text', text: 'x' },
      mentions: { userIds: [], all: false },
      replyTo: undefined,
      needs: 'post',
      create,
    });
  }
}

describe('the sweep', () => {
  let store: ReturnType<typeof openMemoryStore>;
  let pauses: number[];
  let counts: { removed: number; failed: number; swept: number };
  let asked: string[];
  let now: number;
  let mine: () => boolean;
  let sweep: RetentionSweep;

  /** Runs until the pause between two sweeps, which lasts until the stop. */
  async function sweepOnce(rule: { days?: number; messages?: number }, over: Partial<MessageStore> = {}): Promise<void> {
    const messages = { ...store.messages, ...over };
    sweep = new RetentionSweep({
      messages: {
        conversations: (cursor) => messages.conversations(cursor, 1),
        retain: (tenantId, conversationId, policy) => {
          asked.push(conversationId);
          return messages.retain(tenantId, conversationId, policy);
        },
      },
      policies: { ruleFor: () => ({ days: rule.days, messages: rule.messages }) },
      now: () => now,
      sleep: (ms, signal) => {
        pauses.push(ms);
        if (ms !== RETENTION_SWEEP_PAUSE_MS) return Promise.resolve();
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
      },
      log: createLog('silent', () => {}),
      observer: {
        retentionRemoved: (records) => (counts.removed += records),
        retentionFailed: () => (counts.failed += 1),
        retentionSwept: () => (counts.swept += 1),
      },
      mine: () => mine(),
    });
    sweep.start();
    await vi.waitFor(() => expect(pauses.at(-1)).toBe(RETENTION_SWEEP_PAUSE_MS));
    await sweep.stop();
  }

  const left = (conversationId: typeof A) => store.testing.sequences(T0, conversationId);

  beforeEach(() => {
    now = 1_700_000_000_000;
    store = openMemoryStore({ now: () => now });
    pauses = [];
    asked = [];
    counts = { removed: 0, failed: 0, swept: 0 };
    mine = () => true;
  });

  test('visits every conversation, and pauses after each step', async () => {
    await fill(store.messages, A, 5);
    await fill(store.messages, B, 2);
    await sweepOnce({ messages: 3 });
    expect([left(A), left(B)]).toEqual([
      [3, 4, 5],
      [1, 2],
    ]);
    expect(counts).toEqual({ removed: 2, failed: 0, swept: 1 });
    expect(pauses).toEqual([RETENTION_STEP_PAUSE_MS, RETENTION_LOOK_PAUSE_MS, RETENTION_SWEEP_PAUSE_MS]);
  });

  test('ends with one conversation before it begins the next, however many steps that takes', async () => {
    await fill(store.messages, A, RETENTION_STEP_RECORDS_MAX + 10);
    await fill(store.messages, B, 2);
    await sweepOnce({ messages: 1 });
    expect(asked).toEqual([A, A, B]);
    expect(counts.removed).toBe(RETENTION_STEP_RECORDS_MAX + 10);
  });

  test('takes days back from now', async () => {
    await fill(store.messages, A, 2);
    now += 2 * DAY_MS;
    await fill(store.messages, A, 2);
    now += DAY_MS;
    await sweepOnce({ days: 3 });
    expect(left(A)).toEqual([1, 2, 3, 4]);
    pauses = [];
    now += 1;
    await sweepOnce({ days: 3 });
    expect(left(A)).toEqual([3, 4]);
  });

  test('asks nothing where everything is kept', async () => {
    await fill(store.messages, A, 2);
    await sweepOnce({});
    expect([asked, counts.swept]).toEqual([[], 1]);
  });

  test('leaves a damaged conversation, tells of it, and goes on with the next', async () => {
    await fill(store.messages, A, 3);
    await fill(store.messages, B, 3);
    const retain: MessageStore['retain'] = (tenantId, conversationId, policy: RetentionPolicy) =>
      conversationId === A ? Promise.reject(corrupt(T0, A, 'factsUnreadable')) : store.messages.retain(tenantId, conversationId, policy);
    await sweepOnce({ messages: 1 }, { retain });
    expect([left(A), left(B)]).toEqual([[1, 2, 3], [3]]);
    expect(counts).toEqual({ removed: 2, failed: 1, swept: 1 });
    expect(pauses).toContain(RETENTION_FAILURE_PAUSE_MS);
  });

  test('asks again for the page that the store did not give', async () => {
    await fill(store.messages, A, 3);
    await fill(store.messages, B, 3);
    let calls = 0;
    const conversations: MessageStore['conversations'] = async (cursor, limit) => {
      calls += 1;
      if (calls % 2 === 1) throw unavailable('enumeration');
      return store.messages.conversations(cursor, limit);
    };
    await sweepOnce({ messages: 1 }, { conversations });
    expect(asked).toEqual([A, B]);
    expect(counts).toEqual({ removed: 4, failed: 2, swept: 1 });
  });

  test('is done by the process whose turn it is: another waits, and looks again', async () => {
    await fill(store.messages, A, 3);
    let looks = 0;
    mine = () => {
      looks += 1;
      return looks > 3;
    };
    await sweepOnce({ messages: 1 });
    expect(pauses.slice(0, 4)).toEqual([
      RETENTION_TURN_PAUSE_MS,
      RETENTION_TURN_PAUSE_MS,
      RETENTION_TURN_PAUSE_MS,
      RETENTION_STEP_PAUSE_MS,
    ]);
    expect([left(A), counts.swept]).toEqual([[3], 1]);
  });

  test('ends where it is when the turn passes to another, and is not counted as done', async () => {
    for (const conversationId of [A, B]) await fill(store.messages, conversationId, 3);
    let turns = 2;
    mine = () => asked.length < 1 || turns-- <= 0;
    await sweepOnce({ messages: 1 });
    // Once in the first turn, and in the second one from the beginning.
    expect(asked).toEqual([A, A, B]);
    expect([pauses.includes(RETENTION_TURN_PAUSE_MS), counts.swept]).toEqual([true, 1]);
  });
});

test('a server with a rule sweeps, and stops while it does', async () => {
  const store = openMemoryStore({ now: Date.now });
  await fill(store.messages, A, 6);
  const server = await startTestServer({ retentionMessages: '2' }, { store });
  await vi.waitFor(() => expect(store.testing.sequences(T0, A)).toEqual([5, 6]));
  await server.stop();
});

test('a server without the role push sweeps nothing', async () => {
  const store = openMemoryStore({ now: Date.now });
  const looked = vi.spyOn(store.messages, 'conversations');
  const server = await startTestServer({ retentionMessages: '2', store: 'redis://127.0.0.1', roles: 'gateway' }, { store });
  await server.stop();
  expect(looked).not.toHaveBeenCalled();
});

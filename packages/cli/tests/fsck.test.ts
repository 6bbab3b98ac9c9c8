import { readFile } from 'node:fs/promises';
import {
  type ConversationId,
  FSCK_PROGRESS_LINE_MS,
  FSCK_RATE_MAX,
  LEGACY_TENANT_ID,
  parseConversationId,
  parseConversationSeq,
  parseUserId,
  SEQ_ZERO,
  SEQUENCES_SKIPPED_AFTER_LOSS,
  type TenantId,
} from '@qim/proto';
import { openStore } from '@qim/server';
import type { Store } from '@qim/store';
import { commitRequest, type DamageKind, damage, directCreate } from '@qim/store/testing';
import { FINDING_CODES } from '@qim/store/verify';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Called, qim, type Surroundings, temporaryFolder } from './calling.js';

const ALICE = parseUserId('alice');
const BOB = parseUserId('bob');
const CHAT = parseConversationId('d_chat');
const OTHER = parseConversationId('d_other');

let data: string;
let store: Store;

beforeEach(async () => {
  data = await temporaryFolder();
  store = await openStore({ store: 'embedded', data }, { as: 'server' });
  onTestFinished(() => store.close());
  for (const conversationId of [CHAT, OTHER]) for (const text of ['one', 'two', 'three']) await say(conversationId, text);
});

async function say(conversationId: ConversationId, text: string, tenantId: TenantId = LEGACY_TENANT_ID): Promise<void> {
  const part = { tenantId, content: { kind: 'text', text }, create: directCreate([ALICE, BOB]) } as const;
  await store.messages.commit(commitRequest(ALICE, conversationId, part));
}

const fsck = (...more: string[]): Promise<Called> => fsckIn({}, ...more);
const fsckIn = (surroundings: Surroundings, ...more: string[]): Promise<Called> => qim(['fsck', '--data', data, ...more], surroundings);

function damaged(kind: DamageKind, conversationId = CHAT): Promise<void> {
  const target = { tenantId: LEGACY_TENANT_ID, conversationId, conversationSeq: parseConversationSeq(2) };
  return damage({ store: 'embedded', data }, target, kind);
}

function lines({ out }: Called): readonly Record<string, unknown>[] {
  return out.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The time that it took is nobody's business. */
const summary = (text: string) => expect.stringMatching(new RegExp(`^${text.replace('SECONDS', '[\\d.]+')}$`));

describe('a sound store', () => {
  test('is verified beside a running server, and the exit code is 0', async () => {
    expect(await fsck()).toEqual({
      code: 0,
      out: [summary('2 conversations, 0 users, \\d+ records and entries in SECONDS s: 0 findings')],
      err: [expect.stringContaining('verifying the embedded store in ')],
    });
  });

  test('as JSON is one line', async () => {
    const { code, out, err } = await fsck('--json');
    expect([code, err, out.length]).toEqual([0, [], 1]);
    expect(JSON.parse(out[0] ?? '')).toEqual({
      ...{ event: 'summary', finished: true, conversations: 2, users: 0, findings: 0, mended: 0, left: 0 },
      ...{ records: expect.any(Number), seconds: expect.any(Number) },
    });
  });
});

describe('--new-epoch, after a restore', () => {
  test('needs the folder for itself', async () => {
    expect((await fsck('--new-epoch')).code).toBe(2);
  });

  test('makes devices begin anew, and gives no sequence again that may have been given', async () => {
    const held = { tenantId: LEGACY_TENANT_ID, userId: BOB, conversationId: CHAT, clearedSeq: SEQ_ZERO, amendmentCursor: 0, limit: 9 };
    await store.close();
    expect(await fsck('--new-epoch')).toEqual({ code: 0, out: ['2 conversations begin a new epoch'], err: [] });
    store = await openStore({ store: 'embedded', data }, { as: 'server' });
    expect(await store.messages.catchUp({ ...held, epoch: 1, after: parseConversationSeq(3) })).toMatchObject({ kind: 'reset' });
    await say(CHAT, 'after');
    const { records } = await store.messages.readHistory({ ...held, position: 'newest' });
    expect(records.map(({ conversationSeq }) => conversationSeq)).toEqual([1, 2, 3, 3 + SEQUENCES_SKIPPED_AFTER_LOSS + 1]);
    expect((await fsck()).code).toBe(0);
  });
});

describe('findings', () => {
  beforeEach(() => damaged('recordTruncated'));

  test('are told with code, place and what is wrong, and the exit code is 1', async () => {
    const { code, out } = await fsck();
    expect([code, out]).toEqual([
      1,
      [
        'recordUnreadable: tenant 0, d_chat, sequence 2: its bytes are damaged',
        summary('2 conversations, 0 users, \\d+ records and entries in SECONDS s: 1 findings'),
      ],
    ]);
  });

  test('as JSON have the same names on every line', async () => {
    const [found, total] = lines(await fsck('--json'));
    expect(found).toEqual({
      ...{ event: 'found', code: 'recordUnreadable', tenantId: 0, conversationId: CHAT, userId: null, conversationSeq: 2 },
      what: 'its bytes are damaged',
    });
    expect(total).toMatchObject({ event: 'summary', findings: 1, mended: 0, left: 1 });
  });

  test('are looked for where it was asked: conversation, tenant, user', async () => {
    await damaged('factsMissing', OTHER);
    const codes = async (...more: string[]) => lines(await fsck('--json', ...more)).flatMap(({ code }) => code ?? []);
    expect(await codes()).toEqual(['recordUnreadable', 'factsMissing']);
    expect(await codes('--conversation', CHAT)).toEqual(['recordUnreadable']);
    expect(await codes('--conversation', CHAT, '--tenant', '7')).toEqual([]);
    expect(await codes('--tenant', '0')).toEqual(['recordUnreadable', 'factsMissing']);
    expect(await codes('--user', 'bob')).toEqual(['recordUnreadable', 'factsMissing']);
    expect(await codes('--user', 'carol')).toEqual([]);
  });
});

describe('a repair', () => {
  beforeEach(() => damaged('recordTruncated'));

  test('of the embedded store is refused while a server has it, and nothing is written', async () => {
    const { code, out, err } = await fsck('--repair');
    expect([code, out]).toEqual([2, []]);
    expect(err.at(-1)).toContain('another qim server');
    expect((await fsck()).code).toBe(1);
  });

  test('beside a server may be tried dry: it says what would be done, exits with 1, and writes nothing', async () => {
    const { code, out } = await fsck('--repair', '--dry-run');
    expect(code).toBe(1);
    expect(out[1]).toBe('would mend: recordUnreadable: tenant 0, d_chat, sequence 2: a Deleted record took its place');
    expect((await fsck()).code).toBe(1);
    expect(lines(await fsck('--repair', '--dry-run', '--json')).map(({ event }) => event)).toEqual(['found', 'wouldMend', 'summary']);
  });

  test('mends, says what it did, and exits with 0; what was put aside is listed', async () => {
    await store.close();
    const { code, out } = await fsck('--repair');
    expect([code, out]).toEqual([
      0,
      [
        'recordUnreadable: tenant 0, d_chat, sequence 2: its bytes are damaged',
        'mended: recordUnreadable: tenant 0, d_chat, sequence 2: a Deleted record took its place',
        expect.stringMatching(/^dedupLeftOver: tenant 0, d_chat, sequence 2, user alice: /),
        expect.stringMatching(/^mended: dedupLeftOver: .*a retry is committed as a new message$/),
        summary('2 conversations, 0 users, \\d+ records and entries in SECONDS s: 2 findings, 2 mended, 0 left'),
      ],
    ]);
    expect((await fsck()).code).toBe(0);

    const listed = await fsck('--quarantine');
    expect([listed.code, listed.out]).toEqual([
      0,
      [expect.stringMatching(/^\d{4}-.*Z tenant 0, d_chat, sequence 2: a record \(recordUnreadable\), \d+ bytes$/), '1 put aside'],
    ]);
    const [item] = lines(await fsck('--quarantine', '--json', '--conversation', CHAT));
    expect(item).toMatchObject({ conversationId: CHAT, conversationSeq: 2, was: 'a record', code: 'recordUnreadable', userId: null });
    expect(Buffer.from(String(item?.bytes), 'base64').length).toBeGreaterThan(100);
    expect((await fsck('--quarantine', '--conversation', OTHER)).out).toEqual(['0 put aside']);
  });

  test('that could not mend everything exits with 1, and says what is left and why', async () => {
    await damaged('recordUnknownVersion', OTHER);
    await store.close();
    const { code, out } = await fsck('--repair');
    expect(code).toBe(1);
    expect(out).toContainEqual(expect.stringMatching(/^left: unsupportedVersion: tenant 0, d_other, sequence 2: a newer qim can read it/));
    expect(out.at(-1)).toMatch(/3 findings, 2 mended, 1 left$/);
    expect((await fsck('--repair', '--newer-is-damage')).code).toBe(0);
    expect((await fsck()).code).toBe(0);
  });
});

describe('what could not run', () => {
  test('exits with 2 and one line, and makes nothing', async () => {
    const missing = `${data}/none`;
    expect(await qim(['fsck', '--data', missing])).toEqual({ code: 2, out: [], err: [`qim: there is no data folder ${missing}`] });
    const { code, err } = await qim(['fsck', '--data', missing, '--repair']);
    expect([code, err]).toEqual([2, [`qim: there is no data folder ${missing}`]]);
    const unreachable = await qim(['fsck', '--store', 'redis://127.0.0.1:1']);
    expect([unreachable.code, unreachable.err]).toEqual([2, [expect.stringContaining('cannot open the store 127.0.0.1:1')]]);
  });

  test('nor did what was stopped: it says how far it came', async () => {
    const { code, out } = await fsckIn({ stopSignals: (signal) => signal() });
    expect(code).toBe(2);
    expect(out.at(-1)).toMatch(/^ended before its end: /);
  });

  test('nor what was called wrongly', async () => {
    const wrong: readonly (readonly [readonly string[], string])[] = [
      [['--dry-run'], '--dry-run goes with --repair'],
      [['--newer-is-damage'], '--newer-is-damage goes with --repair'],
      [['--new-epoch', '--repair'], '--new-epoch does not go with --repair'],
      [['--quarantine', '--repair'], '--quarantine does not go with --repair'],
      [['--rate', '0'], `--rate must be an integer 1..${FSCK_RATE_MAX}`],
      [['--rate', String(FSCK_RATE_MAX + 1)], '--rate must be'],
      [['--rate', '1.5'], '--rate must be'],
      [['--conversation', 'no spaces'], '--conversation'],
      [['--user', ''], '--user'],
      [['--tenant', 'x'], '--tenant'],
    ];
    for (const [more, words] of wrong) {
      const { code, out, err } = await fsck(...more);
      expect([code, out, err.length], more.join(' ')).toEqual([2, [], 1]);
      expect(err[0], more.join(' ')).toContain(words);
    }
    expect((await fsck('--rate', String(FSCK_RATE_MAX))).code).toBe(0);
  });
});

describe('progress', () => {
  test('is a bar on a terminal, taken away before each line and at the end', async () => {
    await damaged('recordTruncated');
    const drawn: string[] = [];
    const { err } = await fsckIn({ draw: (line) => drawn.push(line), monotonicNow: ticking(1_000) });
    expect(err).toHaveLength(1);
    expect(drawn).toContainEqual(expect.stringMatching(/^\[[#.]{24}\] \d+ % of the conversations: \d+ records and entries, \d findings$/));
    expect(drawn.at(-1)).toBe('');
    expect(drawn.filter((line) => line === '').length).toBeGreaterThanOrEqual(3);
  });

  test('is a line now and then elsewhere, on standard error', async () => {
    const { err, out } = await fsckIn({ monotonicNow: ticking(FSCK_PROGRESS_LINE_MS) });
    expect(out).toHaveLength(1);
    expect(err.slice(1)).toContainEqual(expect.stringMatching(/^\d+ % of the conversations: \d+ records and entries, 0 findings$/));
    expect((await fsckIn({ monotonicNow: ticking(1) })).err).toHaveLength(1);
  });

  function ticking(stepMs: number): () => number {
    let now = 0;
    return () => {
      now += stepMs;
      return now;
    };
  }
});

test('docs/fsck.md lists every code with its meaning, and no other', async () => {
  const text = await readFile(new URL('../../../docs/fsck.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map(([, code, meaning]) => [code, meaning?.trim()]);
  expect(Object.fromEntries(rows)).toEqual(FINDING_CODES);
  expect(rows).toHaveLength(Object.keys(FINDING_CODES).length);
});

/** One server for each folder, and nothing acknowledged lost, proved with processes that are really killed. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SEQ_ZERO } from '@qim/proto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openEmbeddedStore } from '../src/embedded/open.js';
import type { Store } from '../src/store.js';
import { skipSequences } from '../src/testing/index.js';
import { dump } from './embedded-dump.js';
import { aliceSays, BOB, CHAT } from './embedded-requests.js';

const CHILD = fileURLToPath(new URL('./embedded-child.ts', import.meta.url));

const NODE = [process.execPath, '--conditions=@qim/source', '--import', 'tsx', CHILD];
/** No file of that process grows past 2 MiB, as on a disk that is full. */
const FILE_BLOCKS_MAX = 4096;

interface Line {
  readonly open?: number;
  readonly acknowledged?: number;
  readonly failed?: string;
  readonly refused?: string;
  readonly cause?: string;
  readonly listed?: number | 'damaged';
}

class Child {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(...args: string[]) {
    this.#process = spawn(
      'sh',
      ['-c', args[1] === 'fill' ? `ulimit -f ${FILE_BLOCKS_MAX}; exec "$@"` : 'exec "$@"', 'sh', ...NODE, ...args],
      {
        // LMDB says on the standard error what it could not write.
        stdio: ['pipe', 'pipe', args[1] === 'fill' ? 'ignore' : 'inherit'],
      },
    );
    const { stdout } = this.#process;
    if (stdout === null) throw new Error('the child has an output');
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  /** Undefined: it has ended. */
  async next(): Promise<Line | undefined> {
    const { value, done } = await this.#lines.next();
    return done === true ? undefined : (JSON.parse(String(value)) as Line);
  }

  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }
}

let folder: string;
let children: Child[];
let stores: Store[];

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'qim-embedded-')), 'data');
  children = [];
  stores = [];
});

afterEach(async () => {
  for (const child of children) await child.kill();
  for (const store of stores) await store.close();
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

function start(...args: string[]): Child {
  const child = new Child(folder, ...args);
  children.push(child);
  return child;
}

async function open(options = {}): Promise<Store> {
  const store = await openEmbeddedStore(folder, options);
  stores.push(store);
  return store;
}

async function history(store: Store) {
  const { records } = await store.messages.readHistory({ ...CHAT, userId: BOB, clearedSeq: SEQ_ZERO, position: 'newest', limit: 200 });
  return records;
}

describe('a folder has one server', () => {
  test('a second process is refused, and the error names the first', async () => {
    await open();
    const second = await start('hold').next();
    expect(second?.failed).toContain(`another qim server (process ${process.pid}) is using the data folder`);
  });

  test('a second server in the same process is refused', async () => {
    await open();
    await expect(openEmbeddedStore(folder)).rejects.toMatchObject({ code: 'StoreUnavailable' });
  });

  test('of two processes that start at once one wins', async () => {
    const both = await Promise.all([start('hold').next(), start('hold').next()]);
    expect(both.filter((line) => line?.open !== undefined)).toHaveLength(1);
    expect(both.filter((line) => line?.failed?.includes('another qim server'))).toHaveLength(1);
  });

  test('the lock of a process that was killed is taken over', async () => {
    const first = start('hold');
    const line = await first.next();
    await expect(openEmbeddedStore(folder)).rejects.toThrow(`process ${line?.open}`);
    await first.kill();
    const store = await open();
    expect((await store.messages.commit(aliceSays('after'))).conversationSeq).toBe(1);
  });

  test('a closed one leaves it to the next', async () => {
    await (await open()).close();
    expect(await start('hold').next()).toHaveProperty('open');
  });

  test('verification and test tools open it beside a running server, and the server sees what they did', async () => {
    const server = start('send');
    expect(await server.next()).toHaveProperty('open');
    expect(await server.next()).toEqual({ acknowledged: 1 });
    const beside = await open({ exclusive: false });
    expect((await history(beside)).length).toBeGreaterThanOrEqual(1);
    expect(await beside.outbox.acquire(0, 'beside', 60_000)).toBeUndefined();
    await skipSequences({ store: 'embedded', data: folder }, { ...CHAT, count: 1_000 });
    let line = await server.next();
    while (line?.acknowledged !== undefined && line.acknowledged < 1_000) line = await server.next();
    expect(line?.acknowledged).toBeGreaterThan(1_000);
  });

  test('the folder is for its owner alone', async () => {
    await open();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const file of ['messages.mdb', 'messages.mdb-lock', 'server.mdb', 'server.mdb-lock']) {
      expect(statSync(join(folder, file)).mode & 0o777, file).toBe(0o600);
    }
  });
});

describe('an acknowledged message survives the process', () => {
  test('killed right after the acknowledgement', async () => {
    const server = start('send');
    let last = 0;
    for (let line = await server.next(); last < 20 && line !== undefined; line = await server.next()) last = line.acknowledged ?? last;
    await server.kill();
    const store = await open();
    const sequences = (await history(store)).map((record) => record.conversationSeq);
    expect(sequences.length).toBeGreaterThanOrEqual(last);
    expect(sequences).toEqual(sequences.map((_, n) => n + 1));
    expect(await store.messages.commit(aliceSays(`message-${last}`))).toMatchObject({ duplicate: true, conversationSeq: last });
  });

  // Six writes and after them, what it owes, and 9: after the last one, before it is on the disk.
  test.each([0, 4, 6, 8, 9])('killed at step %i of a commit: nothing of it is there', async (step) => {
    const child = start('die-at', String(step));
    expect(await child.next()).toHaveProperty('open');
    expect(await child.next(), 'it died').toBeUndefined();
    expect(await dump(folder)).toEqual(['m:format = 1 1']);
    const store = await open();
    expect((await store.messages.commit(aliceSays('message-1'))).conversationSeq).toBe(1);
  });

  test('what was not delivered before the kill is delivered after it', async () => {
    const server = start('send');
    await server.next();
    expect(await server.next()).toEqual({ acknowledged: 1 });
    await server.kill();
    const { outbox } = await open();
    const lease = await outbox.acquire(0, 'owner', 60_000);
    if (lease === undefined) throw new Error('nobody else holds it');
    const { entries } = await outbox.read([lease], 0, new AbortController().signal);
    expect(entries[0]).toMatchObject({ kind: 'created', conversationSeq: 1, conversationId: CHAT.conversationId });
  });
});

describe('a disk that is full', () => {
  test('refuses commits, loses none that was acknowledged, and reads go on', async () => {
    const server = start('fill');
    let acknowledged = 0;
    const refused: Line[] = [];
    let line = await server.next();
    for (; line !== undefined && line.listed === undefined; line = await server.next()) {
      acknowledged = line.acknowledged ?? acknowledged;
      if (line.refused !== undefined) refused.push(line);
    }
    expect(acknowledged).toBeGreaterThan(10);
    expect(refused.map(({ refused: code }) => code)).toEqual(['StoreUnavailable', 'StoreUnavailable', 'StoreUnavailable']);
    expect(refused[0]?.cause).toMatch(/Input\/output error|File too large/);
    expect(line?.listed).toBe(acknowledged);
    await server.kill();

    const store = await open();
    const [reading] = await store.messages.readConversations(CHAT.tenantId, BOB, [{ ...CHAT, watermark: SEQ_ZERO }]);
    expect(reading).toMatchObject({ kind: 'sound', summary: { latestConversationSeq: acknowledged, unreadCount: acknowledged } });
    expect((await store.messages.commit(aliceSays('with room again'))).conversationSeq).toBe(acknowledged + 1);
  });
});

describe('damage by another process', () => {
  test('is noticed by the very next read of the server that has the folder open', async () => {
    const { messages } = await open();
    await messages.commit(aliceSays('one'));
    const list = () => messages.readConversations(CHAT.tenantId, BOB, [{ ...CHAT, watermark: SEQ_ZERO }]);
    // Both reads in one turn of this process, with the whole life of the other one between them.
    const before = list();
    expect(spawnSync(NODE[0] ?? '', [...NODE.slice(1), folder, 'damage'], { stdio: 'inherit' }).status).toBe(0);
    const after = list();
    expect(await before).toMatchObject([{ kind: 'sound' }]);
    expect(await after).toMatchObject([{ kind: 'damaged', error: { detail: { reason: 'indexMissing' } } }]);
  });
});

/** A server that dies at any call of a commit, or of an amendment, holds all of it or nothing when it is back. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type RawClient, RedisBackend, rawClient } from './redis-backend.js';
import { OPERATIONS, People, plantedFaults, plantFault, stored } from './redis-operations.js';

let backend: RedisBackend;
let raw: RawClient;

beforeEach(async () => {
  const server = { appendonly: 'always', args: ['--busy-reply-threshold', '1'] } as const;
  backend = await RedisBackend.open({ transformScript: plantedFaults, fastPaths: true, partitions: 2 }, server);
  raw = await rawClient(backend.server.url);
});

afterEach(async () => {
  raw.destroy();
  await backend.close();
});

/** Kills the server and starts it again on the same data. */
async function crash(): Promise<void> {
  await backend.server.kill();
  await backend.server.restart();
  raw.destroy();
  raw = await rawClient(backend.server.url);
  await vi.waitFor(() => backend.store.ping(), { timeout: 60_000, interval: 10 });
}

/** Resolves when a script does not end: then the server answers everything else with BUSY. Stops asking when told. */
async function serverHangs(stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      await raw.sendCommand(['PING']);
    } catch (error) {
      if (String(error).includes('BUSY')) return;
      // A connection that is down refuses without any wait.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

test.each(OPERATIONS)('$name', async ({ prepare }) => {
  const { run } = await prepare(new People(backend));
  const before = await stored(raw);
  let at = 1;
  for (let finished = false; !finished; at += 1) {
    await plantFault(raw, at, 'hang');
    const outcome = run().then(
      () => 'finished',
      () => 'lost',
    );
    const stop = new AbortController();
    const hangs = serverHangs(stop.signal);
    finished = (await Promise.race([outcome, hangs])) === 'finished';
    stop.abort();
    await hangs;
    if (finished) break;
    await crash();
    expect(await outcome).toBe('lost');
    expect(await stored(raw), `after the server died at call ${at}`).toEqual(before);
  }
  expect(at).toBeGreaterThan(8);
  const after = await stored(raw);
  expect(after).not.toEqual(before);
  await crash();
  expect(await stored(raw), 'what was acknowledged survives').toEqual(after);
});

/** Area sockets: what an idle connection takes of the server, how fast they are accepted, and what the pings cost. */
import WebSocket from 'ws';
import { devToken, startQim } from './process.js';
import type { Results } from './result.js';
import type { Scale } from './scale.js';
import { type Cleanup, withCleanup } from './stores.js';

const AT_ONCE = 100;
const QIM = 'qim, embedded';
const PING_MS = 1_000;
const HEARTBEATS = 5;

export function socketsArea(results: Results, { sockets: count, quick }: Scale): Promise<void> {
  return withCleanup(async (cleanup) => {
    const qim = await startQim(cleanup, { store: 'embedded', flags: ['--ping-interval', '30s'] });
    const tokens = await tokensOf(qim.url, count);
    // What the first connections make once and for all is not theirs.
    await withCleanup((first) => openAll(first, qim.url, tokens.slice(0, 500)));
    await settled(quick);
    const before = await qim.residentBytes();
    const begin = performance.now();
    await openAll(cleanup, qim.url, tokens);
    results.value('sockets', `time to accept ${count}`, QIM, 's', (performance.now() - begin) / 1000);
    await settled(quick);
    const each = ((await qim.residentBytes()) - before) / count / 1000;
    results.value('sockets', 'memory of an idle connection', QIM, 'kB', each);
    results.ratios.idle_socket_kB = each;
    const idle = await qim.cpuSeconds();
    await new Promise((resolve) => setTimeout(resolve, PING_MS));
    results.value('sockets', `CPU with ${count} idle`, QIM, '%', (((await qim.cpuSeconds()) - idle) * 100_000) / PING_MS);
  }).then(() => heartbeats(results, Math.min(count, 2_000), quick ? 1 : HEARTBEATS));
}

function heartbeats(results: Results, count: number, beats: number): Promise<void> {
  return withCleanup(async (cleanup) => {
    const qim = await startQim(cleanup, { store: 'embedded', flags: ['--ping-interval', `${PING_MS}ms`] });
    await openAll(cleanup, qim.url, await tokensOf(qim.url, count));
    const before = await qim.cpuSeconds();
    await new Promise((resolve) => setTimeout(resolve, beats * PING_MS));
    const us = (((await qim.cpuSeconds()) - before) * 1_000_000) / (count * beats);
    results.value('sockets', 'CPU for one ping and its answer', QIM, 'us', us);
  });
}

/** The collector and the allocator give back what they will give back. */
function settled(quick: boolean): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, quick ? 50 : 3_000));
}

/** Each of a user of its own. */
async function tokensOf(url: string, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let from = 0; from < count; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => devToken(url, `idle-${from + i}`));
    tokens.push(...(await Promise.all(some)));
  }
  return tokens;
}

async function openAll(cleanup: Cleanup, url: string, tokens: readonly string[]): Promise<void> {
  for (let from = 0; from < tokens.length; from += AT_ONCE) {
    const sockets = await Promise.all(tokens.slice(from, from + AT_ONCE).map((token) => openOne(url, token)));
    for (const socket of sockets) cleanup.add(async () => socket.terminate());
  }
}

/** Resolves when the server has welcomed it. */
function openOne(url: string, token: string): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, 'qim.v1+json', { headers, perMessageDeflate: false });
    socket.once('error', reject);
    socket.once('message', (data: Buffer) => {
      const frame = data.toString();
      if (frame.includes('welcome')) resolve(socket);
      else reject(new Error(`no welcome: ${frame}`));
    });
  });
}

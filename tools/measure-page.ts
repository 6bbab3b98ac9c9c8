/**
 * `npm run measure-page`: the figures of packages/web/README.md, of the built page in a real Chromium on a real server in this
 * process. A figure of a busy machine is none. `--live N` and `--messages N` for a quicker look.
 */
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { createClient, memoryStorage } from '@qim/client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { WebSocket } from 'ws';
import { buildPage } from './testing/built-page.js';
import { launchChromium } from './testing/chromium.js';
import { fillConversation } from './testing/fill-conversation.js';
import { devToken, type RealServer, startRealServer } from './testing/real-server.js';

const CONVERSATIONS = 200;
const { values } = parseArgs({ options: { messages: { type: 'string', default: '10000' }, live: { type: 'string', default: '20000' } } });

/** Uncaught ones of the page: the figure of a page that has failed is none. */
const failures: Error[] = [];
/** Long enough for a machine that is busy. */
const LAST_SHOWN_MS = 120_000;
/** Wide enough for both panes. */
const VIEW = { viewport: { width: 1280, height: 800 }, locale: 'en-GB' };

function sdk(url: string, user: string) {
  const client = createClient({ url, token: () => devToken(url, user), WebSocket, storage: memoryStorage() });
  client.connect();
  return client;
}

/** Signs in, and says how long the list took, in ms from the Enter. */
async function enter(context: BrowserContext, url: string, user: string): Promise<{ page: Page; listMs: number }> {
  const page = await context.newPage();
  page.on('pageerror', (error) => failures.push(error));
  await page.goto(url);
  await page.getByRole('textbox').fill(user);
  const from = performance.now();
  await page.keyboard.press('Enter');
  await page.getByTestId('conversation').first().waitFor();
  return { page, listMs: performance.now() - from };
}

async function firstLoad(browser: Browser, url: string): Promise<void> {
  const context = await browser.newContext(VIEW);
  const page = await context.newPage();
  const sizes: Promise<readonly [raw: number, gzipped: number]>[] = [];
  page.on('response', (response) => sizes.push(response.body().then((body) => [body.length, gzipSync(body).length] as const)));
  await page.goto(url, { waitUntil: 'networkidle' });
  const all = await Promise.all(sizes);
  const sum = (which: 0 | 1): number => all.reduce((total, size) => total + size[which], 0);
  console.log(`first load: ${sum(1)} bytes gzipped (${sum(0)} as they are), ${all.length} requests`);
  await context.close();
}

async function lists(browser: Browser, url: string): Promise<void> {
  const senders = sdk(url, 'sender');
  for (let n = 0; n < CONVERSATIONS; n += 1) await senders.createGroup({ title: `group ${n}`, memberIds: ['reader'] });
  senders.close();
  const context = await browser.newContext(VIEW);
  const { page, listMs } = await enter(context, url, 'reader');
  console.log(`time to list, first visit, ${CONVERSATIONS} conversations: ${listMs.toFixed(0)} ms from signing in`);
  // What is shown is kept a moment later.
  await page.waitForTimeout(3_000);
  const warm: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    await page.reload({ waitUntil: 'commit' });
    await page.getByTestId('conversation').first().waitFor();
    warm.push(await page.evaluate(() => performance.now()));
  }
  warm.sort((a, b) => a - b);
  console.log(`warm-cache time to list: ${warm[2]?.toFixed(0)} ms from the beginning of the reload (median of 5)`);
  await context.close();
}

/** Longest task of the page's thread since `watchTasks`, in ms; below 50 none is told. */
async function watchTasks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const told: number[] = [];
    Object.assign(globalThis, { qimTasks: told });
    new PerformanceObserver((list) => told.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
  });
  return () => page.evaluate(() => Math.max(0, ...(globalThis as unknown as { qimTasks: number[] }).qimTasks));
}

async function scrolling(browser: Browser, server: RealServer, count: number): Promise<void> {
  const writer = sdk(server.url, 'writer');
  const { message } = await writer.sendMessage({ target: { toUserId: 'scroller' }, content: 'line 0' });
  writer.close();
  await fillConversation(server, { conversationId: message.conversationId, userId: 'writer', count: count - 1 });
  const context = await browser.newContext(VIEW);
  const { page } = await enter(context, server.url, 'scroller');
  await page.getByTestId('conversation').first().click();
  await page.locator(`[data-row][data-seq="${count}"]`).waitFor();
  const longest = await watchTasks(page);
  const from = performance.now();
  while (!(await page.getByText('This is where it begins.').isVisible())) {
    await page.locator('[data-virtuoso-scroller]').evaluate((box) => box.scrollBy({ top: -2_000 }));
  }
  const seconds = (performance.now() - from) / 1_000;
  console.log(
    `longest task while ${count} messages are scrolled to the first: ${(await longest()).toFixed(0)} ms (0: none over 50); ${seconds.toFixed(1)} s`,
  );
  await context.close();
}

async function live(browser: Browser, url: string, count: number): Promise<void> {
  const senders = Array.from({ length: 10 }, (_, n) => sdk(url, `talker${n}`));
  const [owner] = senders;
  if (owner === undefined) return;
  const memberIds = ['listener', ...senders.slice(1).map((_, n) => `talker${n + 1}`)];
  const { conversationId } = await owner.createGroup({ title: 'live', memberIds });
  const context = await browser.newContext(VIEW);
  const { page } = await enter(context, url, 'listener');
  await page.getByTestId('conversation').first().click();
  const session = await context.newCDPSession(page);
  const heapMb = async (): Promise<string> => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number };
    return (usedSize / 1_048_576).toFixed(1);
  };
  const before = await heapMb();
  const each = Math.ceil(count / senders.length);
  await Promise.all(
    senders.map(async (sender) => {
      for (let n = 0; n < each; n += 1) await sender.sendMessage({ target: { conversationId }, content: `live line ${n}` });
    }),
  );
  await owner.sendMessage({ target: { conversationId }, content: 'the last one' });
  await page.getByTestId('conversation').getByText('the last one').waitFor({ timeout: LAST_SHOWN_MS });
  // What comes in bulk is not scrolled past.
  const jump = page.getByRole('button', { name: /^Jump to the latest/ });
  if (await jump.isVisible()) await jump.click();
  await page.getByTestId('message').getByText('the last one').waitFor({ timeout: LAST_SHOWN_MS });
  console.log(`heap of the page: ${before} MB before, ${await heapMb()} MB after ${each * senders.length} live messages`);
  for (const sender of senders) sender.close();
  await context.close();
}

const page = await buildPage();
const server = await startRealServer({ pageFolder: page.folder });
const browser = await launchChromium(['--enable-precise-memory-info']);
try {
  await firstLoad(browser, server.url);
  await lists(browser, server.url);
  await scrolling(browser, server, Number(values.messages));
  await live(browser, server.url, Number(values.live));
} finally {
  await browser.close();
  await server.end();
  await page.remove();
}
if (failures.length > 0) throw new AggregateError(failures, 'the page has failed');

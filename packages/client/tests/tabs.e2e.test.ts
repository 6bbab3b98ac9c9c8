/** IndexedDB, reloads and two tabs, in a real Chromium against the real server. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RealServer, startRealServer } from '../../../tools/testing/real-server.js';
import { launch } from '../../web/tests/support/browser.js';
import { buildSdkPage, type SdkPage } from './support/sdk-page.js';

let built: Awaited<ReturnType<typeof buildSdkPage>>;
let server: RealServer;
let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  built = await buildSdkPage();
  [server, browser] = await Promise.all([startRealServer({ pageFolder: built.folder }), launch()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.end();
  await built?.remove();
});
beforeEach(async () => {
  context = await browser.newContext();
});
afterEach(async () => {
  await context.close();
});

async function tab(): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(server.url);
  await page.waitForFunction(() => document.title === 'ready');
  return page;
}

async function reloaded(page: Page): Promise<void> {
  await page.reload();
  await page.waitForFunction(() => document.title === 'ready');
}

/** Makes the client in the page, and connects it unless it is to stay away. */
async function start(page: Page, user: string, connect: boolean): Promise<void> {
  await page.evaluate(
    ([name, isConnected]) => {
      const client = (globalThis as unknown as SdkPage).make(name);
      if (isConnected) client.connect();
    },
    [user, connect] as const,
  );
  if (connect) await page.waitForFunction(() => (globalThis as unknown as SdkPage).client.connection.snapshot().status === 'online');
}

/** Sends to oneself, so that one conversation is all there is; resolves when it is in the outbox, or with `sent` when it has arrived. */
async function note(page: Page, user: string, text: string, sent: boolean): Promise<void> {
  await page.evaluate(
    async ([toUserId, content, wait]) => {
      const sending = (globalThis as unknown as SdkPage).client.sendMessage({ target: { toUserId }, content });
      sending.catch(() => {});
      if (wait) await sending;
    },
    [user, text, sent] as const,
  );
}

/** What is stored in the browser, by key; of everybody who has been here. */
async function stored(page: Page): Promise<Record<string, string>> {
  return page.evaluate(async () => {
    const found: Record<string, string> = {};
    const answer = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error ?? new Error('IndexedDB'));
      });
    for (const { name } of await indexedDB.databases()) {
      const database = await answer(indexedDB.open(name ?? ''));
      const store = database.transaction('kept').objectStore('kept');
      const [keys, values] = await Promise.all([answer(store.getAllKeys()), answer(store.getAll())]);
      keys.forEach((key, i) => {
        found[String(key)] = JSON.stringify(values[i]);
      });
      database.close();
    }
    return found;
  });
}

async function waitForStored(page: Page, holds: (found: Record<string, string>) => boolean): Promise<void> {
  await expect.poll(async () => holds(await stored(page)), { timeout: 60_000 }).toBe(true);
}

const texts = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const { client } = globalThis as unknown as SdkPage;
    const [entry] = client.conversations.snapshot().conversations;
    const { messages } = await client.readHistory({ conversationId: entry?.conversationId ?? '' });
    return messages.map(({ content }) => (content.kind === 'text' ? content.text : content.kind));
  });

describe('a page that is opened again', () => {
  test('shows the list and the messages at once, before there is a link', async () => {
    const page = await tab();
    await start(page, 'ada', true);
    await note(page, 'ada', 'kept', true);
    await page.waitForFunction(() => (globalThis as unknown as SdkPage).client.conversations.snapshot().conversations.length === 1);
    await page.evaluate(() => {
      const { client } = globalThis as unknown as SdkPage;
      client.openConversation(client.conversations.snapshot().conversations[0]?.conversationId ?? '');
    });
    await waitForStored(
      page,
      (found) =>
        found.list?.includes('kept') === true &&
        Object.entries(found).some(([key, value]) => key.startsWith('window/d_') && value.includes('kept')),
    );
    await reloaded(page);
    await start(page, 'ada', false);
    await page.waitForFunction(() => (globalThis as unknown as SdkPage).client.conversations.snapshot().conversations.length === 1);
    const shown = await page.evaluate(async () => {
      const { client } = globalThis as unknown as SdkPage;
      const { conversations, stale } = client.conversations.snapshot();
      const open = client.openConversation(conversations[0]?.conversationId ?? '');
      while (open.snapshot().messages.length === 0) await new Promise((resolve) => open.subscribe(() => resolve(undefined)));
      return [stale, open.snapshot().stale, open.snapshot().messages[0]?.content, client.connection.snapshot().status];
    });
    expect(shown).toEqual([true, true, { kind: 'text', text: 'kept' }, 'idle']);
  });

  test('sends what was written before it was closed, once and in order', async () => {
    const page = await tab();
    await start(page, 'bea', false);
    for (const text of ['one', 'two', 'three']) await note(page, 'bea', text, false);
    await waitForStored(page, (found) => Object.keys(found).filter((key) => key.startsWith('outbox/')).length === 3);
    await reloaded(page);
    await start(page, 'bea', true);
    await page.waitForFunction(() => (globalThis as unknown as SdkPage).client.outbox.snapshot().length === 0);
    await page.waitForFunction(() => (globalThis as unknown as SdkPage).client.conversations.snapshot().conversations.length === 1);
    expect(await texts(page)).toEqual(['one', 'two', 'three']);
    await waitForStored(page, (found) => !Object.keys(found).some((key) => key.startsWith('outbox/')));
  });
});

describe('two tabs of one user', () => {
  test('leave each other’s unsent messages alone, and the one that stays sends those of the one that is closed', async () => {
    const [first, second] = [await tab(), await tab()];
    await start(first, 'cleo', false);
    await note(first, 'cleo', 'of the first', false);
    await waitForStored(first, (found) => Object.keys(found).some((key) => key.startsWith('outbox/')));
    await start(second, 'cleo', true);
    await note(second, 'cleo', 'of the second', true);
    const locks = await second.evaluate(async () => ((await navigator.locks.query()).held ?? []).map(({ name }) => name ?? ''));
    expect([locks.filter((name) => name.endsWith('/leads')).length, locks.filter((name) => name.includes('/tab/')).length]).toEqual([1, 2]);
    await second.waitForFunction(() => (globalThis as unknown as SdkPage).client.conversations.snapshot().conversations.length === 1);
    expect(await texts(second)).toEqual(['of the second']);
    await first.close();
    await second.waitForFunction(() => {
      const { client } = globalThis as unknown as SdkPage;
      return client.conversations.snapshot().conversations[0]?.preview?.snippet === 'of the first';
    });
    expect(await texts(second)).toEqual(['of the second', 'of the first']);
    await waitForStored(second, (found) => !Object.keys(found).some((key) => key.startsWith('outbox/')));
  });

  test('are both logged out by one, and nothing is kept', async () => {
    const [first, second] = [await tab(), await tab()];
    await start(first, 'dora', true);
    await start(second, 'dora', true);
    await note(first, 'dora', 'secret', true);
    await waitForStored(first, (found) => JSON.stringify(found).includes('secret'));
    await second.evaluate(() => (globalThis as unknown as SdkPage).client.logout());
    await first.waitForFunction(() => (globalThis as unknown as SdkPage).client.connection.snapshot().status === 'stopped');
    const reason = await first.evaluate(() => {
      const state = (globalThis as unknown as SdkPage).client.connection.snapshot();
      return state.status === 'stopped' ? state.error.reason : state.status;
    });
    expect(reason).toBe('LOGGED_OUT');
    expect(await stored(second)).toEqual({});
  });

  test('of two users share nothing', async () => {
    const [first, second] = [await tab(), await tab()];
    await start(first, 'eve', true);
    await note(first, 'eve', 'of eve', true);
    await waitForStored(first, (found) => JSON.stringify(found).includes('of eve'));
    await start(second, 'finn', true);
    expect(await second.evaluate(() => (globalThis as unknown as SdkPage).client.conversations.snapshot().conversations.length)).toBe(0);
    await second.evaluate(() => (globalThis as unknown as SdkPage).client.logout());
    expect(JSON.stringify(await stored(first))).toContain('of eve');
  });
});

/**
 * `npm run screenshots`: takes docs/images/chat.png anew, of the real page on a real server with a few people in it.
 * Needs the build, and Chromium at CHROMIUM or /usr/bin/chromium.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXACT_UNREAD_SCAN_LIMIT } from '@qim/proto';
import { chromium, type Page } from 'playwright-core';
import { startDevServer } from './serve/dev-server.js';

const PICTURE = fileURLToPath(new URL('../docs/images/chat.png', import.meta.url));

class Person {
  readonly #url: string;
  readonly #token: string;
  #sent = 0;

  private constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  static async signIn(url: string, user: string): Promise<Person> {
    const answer = (await post(`${url}/dev/login`, {}, { user })) as { token: string };
    return new Person(url, answer.token);
  }

  call(method: string, body: object): Promise<unknown> {
    return post(`${this.#url}/qim.v1.${method}`, { authorization: `Bearer ${this.#token}` }, body);
  }

  async say(target: object, text: string): Promise<void> {
    this.#sent += 1;
    await this.call('MessageService/SendMessage', {
      ...target,
      clientMessageId: `picture-${this.#sent}`,
      type: 'MESSAGE_TYPE_TEXT',
      text,
    });
  }
}

async function post(url: string, headers: Record<string, string>, body: object): Promise<unknown> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
  return response.json();
}

/** A busy group past the bound of exact counting, a chat with something unread, and the one that the picture shows. */
async function talk(url: string): Promise<void> {
  const [alice, bob, carol] = await Promise.all(['alice', 'bob', 'carol'].map((name) => Person.signIn(url, name)));
  if (alice === undefined || bob === undefined || carol === undefined) throw new Error('three people');
  const made = (await carol.call('ConversationService/CreateGroup', { title: 'Tea at four', memberIds: ['alice', 'bob'] })) as {
    conversation: { conversationId: string };
  };
  const group = { conversationId: made.conversation.conversationId };
  for (let n = 0; n < EXACT_UNREAD_SCAN_LIMIT; n += 1) await carol.say(group, 'Milk or lemon?');
  await bob.say(group, 'Both. Not in one cup.');
  await carol.say({ toUserId: 'alice' }, 'Did you see the new list?');
  await carol.say({ toUserId: 'alice' }, 'The badge says 2, and it is 2.');
  await bob.say({ toUserId: 'alice' }, 'Does the unread count hold after a restart?');
  await alice.say({ toUserId: 'bob' }, 'It is counted from the records each time, so there is nothing to lose.');
  await bob.say({ toUserId: 'alice' }, 'And when a record is damaged?');
  await alice.say({ toUserId: 'bob' }, 'Then the conversation says so. It never shows a quiet zero.');
}

async function picture(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Your name').fill('alice');
  await page.getByRole('button', { name: 'Sign in' }).click();
  const chat = page.getByTestId('conversation').first();
  await chat.click();
  await page.getByText('It never shows a quiet zero.').last().waitFor();
  // What was shown is marked as read, and the badge goes.
  await chat.getByText('2', { exact: true }).waitFor({ state: 'detached' });
  await page.screenshot({ path: PICTURE });
}

const server = await startDevServer();
const profile = await mkdtemp(join(tmpdir(), 'qim-picture-'));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  headless: true,
  chromiumSandbox: false,
  viewport: { width: 1040, height: 600 },
  args: ['--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
try {
  await talk(server.url);
  await picture(browser.pages()[0] ?? (await browser.newPage()), server.url);
  console.log('docs/images/chat.png is new');
} finally {
  await browser.close();
  await server.stop();
  await rm(profile, { recursive: true, force: true });
}

/** People in real browser windows, on the page as it is built, from the real server on its embedded store. */

import { type Client, createClient } from '@qim/client';
import { parseConversationId, parseConversationSeq, parseTenantId } from '@qim/proto';
import { damage } from '@qim/store/testing';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { devToken, type RealServer, startRealServer } from '../../../tools/testing/real-server.js';
import { launch, Person } from './support/browser.js';
import { buildPage } from './support/built-page.js';

let page: Awaited<ReturnType<typeof buildPage>>;
let server: RealServer;
let browser: Browser;
let people: Person[] = [];
let clients: Client[] = [];

beforeAll(async () => {
  page = await buildPage();
  server = await startRealServer({ pageFolder: page.folder });
  browser = await launch();
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await server?.end();
  await page?.remove();
});

afterEach(async () => {
  const problems = people.flatMap((person) => person.problems.map((problem) => `${person.name}: ${problem}`));
  for (const person of people) await person.context.close();
  for (const client of clients) client.close();
  people = [];
  clients = [];
  expect(problems).toEqual([]);
});

async function enter(name: string, options?: BrowserContextOptions): Promise<Person> {
  const person = await Person.enter(browser, server.url, name, options);
  people.push(person);
  return person;
}

/** Somebody without a browser. */
function sdk(user: string): Client {
  const client = createClient({ url: server.url, token: () => devToken(server.url, user), WebSocket });
  clients.push(client);
  client.connect();
  return client;
}

test('bob sees live what alice writes, with the right badge before he opens it and none after', async () => {
  const [alice, bob] = [await enter('alice'), await enter('bob')];
  await bob.page.getByText('No conversations yet.').waitFor();
  await alice.writeTo('bob', 'Hello Bob');
  await alice.say('Are you there?');
  await bob.row('alice').getByText('2', { exact: true }).waitFor();
  expect(await bob.row('alice').textContent()).toContain('Are you there?');
  await bob.open('alice');
  await bob.message('Are you there?').waitFor();
  expect(await bob.page.getByTestId('message').count()).toBe(2);
  await bob.row('alice').getByTestId('badge').waitFor({ state: 'detached' });
  await bob.say('I am');
  await alice.message('I am').waitFor();
  await alice.row('bob').getByTestId('badge').waitFor({ state: 'detached' });
  expect(await alice.page.getByTestId('day').textContent()).toBe('Today');
});

test('what arrives while the tab is hidden stays unread until it is seen', async () => {
  const [alice, bob] = [await enter('alice2'), await enter('bob2')];
  await alice.writeTo('bob2', 'one');
  await bob.open('alice2');
  await bob.row('alice2').getByTestId('badge').waitFor({ state: 'detached' });
  const setVisible = (state: string): Promise<void> =>
    bob.page.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => value });
      document.dispatchEvent(new Event('visibilitychange'));
    }, state);
  await setVisible('hidden');
  await alice.say('two');
  await bob.message('two').waitFor();
  await bob.row('alice2').getByTestId('badge').getByText('1', { exact: true }).waitFor();
  await setVisible('visible');
  await bob.row('alice2').getByTestId('badge').waitFor({ state: 'detached' });
});

test('history is there after a restart of the server and after a reload, and the page reconnects by itself', async () => {
  const [alice, bob] = [await enter('alice3'), await enter('bob3')];
  await alice.writeTo('bob3', 'before the restart');
  await bob.open('alice3');
  await bob.message('before the restart').waitFor();
  await server.stop();
  await server.start();
  await alice.say('after the restart');
  await bob.message('after the restart').waitFor();
  await bob.page.reload();
  await bob.message('before the restart').waitFor();
  await bob.message('after the restart').waitFor();
  expect(await bob.page.getByTestId('message').count()).toBe(2);
  // A browser reports a connection that was refused; that is what a restart is.
  for (const person of people)
    person.problems.splice(
      0,
      person.problems.length,
      ...person.problems.filter((problem) => !/WebSocket connection to .* failed/.test(problem)),
    );
});

test('a group is made, talks, grows, loses a member and is left, each told in grey', async () => {
  const [alice, bob, carol] = [await enter('alice4'), await enter('bob4'), await enter('carol4')];
  await alice.page.getByRole('button', { name: 'New chat' }).click();
  await alice.page.getByLabel('Group title').fill('Tea at four');
  await alice.page.getByLabel('Members, separated by commas').fill('bob4');
  await alice.page.getByRole('button', { name: 'Make the group' }).click();
  await alice.message('You made “Tea at four” with bob4').waitFor();
  await bob.row('Tea at four').waitFor();
  expect(await bob.row('Tea at four').getByTestId('badge').count()).toBe(0);
  await alice.say('Who brings cake?');
  await bob.open('Tea at four');
  await bob.message('Who brings cake?').getByText('alice4').waitFor();
  await alice.page.getByRole('button', { name: 'Members' }).click();
  await alice.page.getByLabel('Add people, separated by commas').fill('carol4');
  await alice.page.getByRole('button', { name: 'Add', exact: true }).click();
  await alice.page.getByTestId('member').filter({ hasText: 'carol4' }).waitFor();
  await bob.message('alice4 added carol4').waitFor();
  await carol.open('Tea at four');
  await carol.say('I do');
  await bob.message('I do').waitFor();
  await alice.page.getByRole('button', { name: 'Remove carol4' }).click();
  await carol.page.getByText('You are not a member of this conversation any more.').waitFor();
  await carol.row('Tea at four').waitFor({ state: 'detached' });
  await bob.message('alice4 removed carol4').waitFor();
  await bob.page.getByRole('button', { name: 'Members' }).click();
  await bob.page.getByRole('button', { name: 'Leave the group' }).click();
  await bob.page.getByRole('button', { name: 'Leave', exact: true }).click();
  await bob.row('Tea at four').waitFor({ state: 'detached' });
  await alice.page.getByRole('button', { name: 'Close' }).click();
  await alice.message('bob4 left').waitFor();
});

test('an edit and a recall show while the other looks, in the list too', async () => {
  const [alice, bob] = [await enter('alice5'), await enter('bob5')];
  await alice.writeTo('bob5', 'a mistake');
  await bob.open('alice5');
  await bob.message('a mistake').waitFor();
  await alice.message('a mistake').hover();
  await alice.message('a mistake').getByRole('button', { name: 'Edit' }).click();
  await alice.page.getByLabel('Edited message').fill('a better one');
  await alice.page.keyboard.press('Enter');
  await bob.message('a better one').getByText('edited').waitFor();
  await alice.message('a better one').hover();
  await alice.message('a better one').getByRole('button', { name: 'Recall' }).click();
  await alice.page.getByRole('button', { name: 'Recall', exact: true }).last().click();
  await bob.message('alice5 recalled this message').waitFor();
  await bob.row('alice5').getByText('alice5 recalled a message').waitFor();
  expect(await bob.page.locator('body').textContent()).not.toContain('a better one');
});

test('201 unread show as 200+, older ones load on scrolling up, and reading the newest clears the badge', async () => {
  const alice = sdk('alice6');
  const target = { toUserId: 'bob6' };
  for (let n = 1; n <= 201; n += 1) await alice.sendMessage({ target, content: `number ${n}` });
  const bob = await enter('bob6');
  await bob.row('alice6').getByText('200+', { exact: true }).waitFor();
  await bob.open('alice6');
  await bob.message('number 201').waitFor();
  expect(await bob.message('number 201').isVisible()).toBe(true);
  await bob.row('alice6').getByTestId('badge').waitFor({ state: 'detached' });
  const box = bob.page.getByRole('log');
  const topmost = bob.message('number 152');
  await box.evaluate((element) => {
    element.scrollTop = 0;
  });
  const before = await topmost.boundingBox();
  await bob.message('number 110').waitFor();
  const after = await topmost.boundingBox();
  // Older ones came in above, and what was looked at stayed where it was.
  expect(Math.abs((after?.y ?? 0) - (before?.y ?? Number.NaN))).toBeLessThan(5);
  await box.focus();
  await expect
    .poll(
      async () => {
        await bob.page.keyboard.press('Home');
        return bob.page.getByTestId('message').count();
      },
      { timeout: 15_000 },
    )
    .toBe(201);
  await bob.page.keyboard.press('Home');
  await expect.poll(() => bob.page.getByTestId('message').first().textContent()).toContain('number 1');
});

test('a damaged conversation shows a mark that explains itself, no number, and the others still list', async () => {
  const [alice, carol] = [sdk('alice7'), sdk('carol7')];
  const { message } = await alice.sendMessage({ target: { toUserId: 'bob7' }, content: 'to be damaged' });
  await carol.sendMessage({ target: { toUserId: 'bob7' }, content: 'sound' });
  const target = {
    tenantId: parseTenantId(0),
    conversationId: parseConversationId(message.conversationId),
    conversationSeq: parseConversationSeq(message.conversationSeq),
  };
  await damage({ store: 'embedded', data: server.data }, target, 'recordBitFlipped');
  const bob = await enter('bob7');
  const mark = bob.row('alice7').getByTestId('damaged');
  await mark.waitFor();
  expect(await mark.getAttribute('aria-label')).toMatch(/damaged on the server .* How much is unread cannot be known/);
  expect(await bob.row('alice7').getByTestId('badge').count()).toBe(0);
  await bob.row('carol7').getByText('1', { exact: true }).waitFor();
  await bob.open('alice7');
  await bob.page
    .getByRole('alert')
    .getByText(/is damaged/)
    .waitFor();
});

test('a message that is refused stays, says why, and can be sent again or dropped', async () => {
  const [alice, bob] = [await enter('alice8'), await enter('bob8')];
  await alice.writeTo('bob8', 'hello');
  const long = 'x'.repeat(16 * 1024 + 1);
  await alice.say(long);
  await alice.page.getByText('Not sent. This is too long.').waitFor();
  await alice.page.getByRole('button', { name: 'Drop' }).click();
  await alice.page.getByTestId('outgoing').waitFor({ state: 'detached' });
  await alice.say('line one');
  await bob.row('alice8').getByText('2', { exact: true }).waitFor();
});

test('text is text: markup and line breaks arrive as they were written', async () => {
  const [alice, bob] = [await enter('alice9'), await enter('bob9')];
  const markup = '<img src=x onerror=alert(1)> & **bold**';
  await alice.writeTo('bob9', markup);
  await alice.page.getByLabel('Message', { exact: true }).fill('first');
  await alice.page.keyboard.press('Shift+Enter');
  await alice.page.keyboard.type('second');
  await alice.page.keyboard.press('Enter');
  await bob.open('alice9');
  await bob.message('second').waitFor();
  expect(await bob.message('onerror').locator('p').first().textContent()).toBe(markup);
  expect(await bob.message('second').locator('p').first().textContent()).toBe('first\nsecond');
  expect(await bob.page.locator('img[src="x"]').count()).toBe(0);
});

test('on a phone one pane shows at a time, and the way back is there', async () => {
  const alice = sdk('alice10');
  await alice.sendMessage({ target: { toUserId: 'bob10' }, content: 'hello phone' });
  const bob = await enter('bob10', { viewport: { width: 375, height: 667 }, hasTouch: true, isMobile: true });
  await bob.open('alice10');
  await bob.message('hello phone').waitFor();
  expect(await bob.row('alice10').isVisible()).toBe(false);
  const overflow = await bob.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(overflow).toBe(0);
  await bob.page.getByRole('button', { name: 'Back to the conversations' }).click();
  await bob.row('alice10').waitFor();
});

test('two windows are two people, a reload stays the same one, and logging out forgets him', async () => {
  const alice = await enter('alice11');
  await alice.page.reload();
  expect(await alice.page.getByTestId('me').textContent()).toBe('alice11');
  const second = await alice.context.newPage();
  await second.goto(server.url);
  await second.getByLabel('Your name').waitFor();
  await alice.page.getByRole('button', { name: 'Log out' }).click();
  await alice.page.getByLabel('Your name').waitFor();
  await alice.page.reload();
  await alice.page.getByLabel('Your name').waitFor();
});

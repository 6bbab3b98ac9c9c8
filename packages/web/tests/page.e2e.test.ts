/** The page as such: its looks and sizes, its keys, its words, what it loads; and what it does with much and with damage. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { PAGE_FIRST_LOAD_GZIP_BYTES_MAX, parseConversationId, parseConversationSeq, parseTenantId } from '@qim/proto';
import { damage } from '@qim/store/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { fillConversation } from '../../../tools/testing/fill-conversation.js';
import { eventually, House } from './support/house.js';
import type { Person } from './support/person.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PHONE = { viewport: { width: 375, height: 667 }, hasTouch: true, isMobile: true };
const MANY = 10_000;
/** Past the fifty renders in a row after which React gives up. */
const BURST = 400;

let house: House;

beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house?.close());
afterEach(() => house.clear());

/** What axe finds, as 'rule: element'; minor findings are left out, and those of the rules of `without`. */
async function findings(person: Person, without: readonly string[] = []): Promise<string[]> {
  // As a debugger does it: the policy of the page lets no script in.
  const session = await person.context.newCDPSession(person.page);
  await session.send('Runtime.evaluate', { expression: AXE });
  const rules = JSON.stringify(Object.fromEntries(without.map((rule) => [rule, { enabled: false }])));
  const run = `axe.run(document, { resultTypes: ['violations'], rules: ${rules} }).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical' || impact === 'moderate')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 160))))`;
  const { result } = await session.send('Runtime.evaluate', { expression: run, awaitPromise: true, returnByValue: true });
  return result.value as string[];
}

test('a first visit is offered people to look at, made on a click, and nothing that axe calls serious shows on any screen', async () => {
  const ann = await house.enter('ann');
  expect(await findings(ann)).toEqual([]);
  await ann.page.getByRole('button', { name: 'Show me around with sample people' }).click();
  await ann.row('Sunday hike').waitFor();
  await eventually(() => ann.page.getByTestId('conversation').count()).toBe(5);
  await ann.row('Sunday hike').getByTestId('mentioned').waitFor();
  expect(await findings(ann)).toEqual([]);
  await ann.open('Sunday hike');
  await ann.message('One seat is left').waitFor();
  await ann.message('One seat is left').hover();
  for (const colorScheme of ['light', 'dark'] as const) {
    await ann.page.emulateMedia({ colorScheme });
    expect(await findingsOnEverySheet(ann)).toEqual([]);
  }
});

/** With a group open: of the page, and of each sheet and menu over it; what it is of comes first. */
async function findingsOnEverySheet(person: Person): Promise<string[]> {
  const { page } = person;
  const found: string[] = [];
  const look = async (of: string, without?: readonly string[]): Promise<void> => {
    for (const finding of await findings(person, without)) found.push(`${of}: ${finding}`);
  };
  const ofOwnMenu = async (item: string): Promise<void> => {
    await page.getByTestId('me').click();
    await page.getByRole('menuitem', { name: item }).click();
    await page.getByRole('dialog').waitFor();
    await look(item);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await look('chat');
  await page.getByRole('button', { name: 'About this group' }).first().click();
  await page.getByTestId('member').nth(4).waitFor();
  await look('group');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await ofOwnMenu('Profile and settings');
  await ofOwnMenu('Keyboard and help');
  await page.getByRole('button', { name: 'New chat' }).first().click();
  await page.getByRole('dialog').waitFor();
  await look('new chat');
  await page.keyboard.press('Escape');
  await page
    .getByRole('main')
    .getByRole('button', { name: /^Actions for/ })
    .click();
  await page.getByRole('menuitem').first().waitFor();
  // A menu hangs on the body, in no landmark: it has the focus, and its button is in one.
  await look('menu', ['region']);
  await page.keyboard.press('Escape');
  return found;
}

test('all is done with the keyboard alone, and a sheet tells the keys', async () => {
  const [ann, ben] = [await house.enter('ann2'), house.sdk('ben2')];
  const keys = ann.page.keyboard;
  await ben.sendMessage({ target: { toUserId: 'ann2' }, content: 'hello' });
  await ben.sendMessage({ target: { toUserId: 'ann2' }, content: 'and more' });
  await ann.row('ben2').waitFor();
  await keys.press('?');
  await ann.page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  await keys.press('Escape');
  await keys.press('Alt+ArrowDown');
  await ann.message('and more').waitFor();
  await keys.type('typed');
  await keys.press('Enter');
  await ann.message('typed').waitFor();
  await keys.press('ArrowUp');
  await ann.page.getByTestId('compose-bar').getByText('Editing your message').waitFor();
  await keys.type(' and mended');
  await keys.press('Enter');
  await ann.message('typed and mended').waitFor();
  await ann.scroller.focus();
  await keys.press('ArrowUp');
  await keys.press('ArrowUp');
  await keys.press('Enter');
  await ann.page.getByRole('menuitem', { name: 'Reply' }).waitFor();
  await keys.press('Enter');
  await ann.page.getByTestId('compose-bar').getByText('and more').waitFor();
  await keys.type('a reply');
  await keys.press('Enter');
  await ann.message('a reply').getByTestId('quote').waitFor();
  await keys.press('Escape');
  await ann.page.getByText('Choose a conversation').waitFor();
  await keys.press('n');
  await ann.page.getByRole('dialog', { name: 'New chat' }).waitFor();
});

test('on a phone one pane shows at a time, nothing is wider than it, and the way back is there', async () => {
  await house.sdk('ann3').sendMessage({ target: { toUserId: 'ben3' }, content: `hello phone ${'wide'.repeat(60)}` });
  const ben = await house.enter('ben3', PHONE);
  await ben.open('ann3');
  await ben.message('hello phone').waitFor();
  expect(await ben.row('ann3').isVisible()).toBe(false);
  expect(await ben.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
  await ben.message('hello phone').click();
  await ben.message('hello phone').getByRole('button', { name: 'Reply' }).click();
  await ben.say('from the phone');
  await ben.message('from the phone').getByTestId('quote').waitFor();
  expect(await findings(ben)).toEqual([]);
  await ben.page.getByRole('button', { name: 'Back to the conversations' }).click();
  await ben.row('ann3').waitFor();
});

test('in Chinese nothing is left in English, and the language is changed as one looks', async () => {
  await house.sdk('ann4').sendMessage({ target: { toUserId: 'ben4' }, content: '你好' });
  const ben = await house.enter('ben4', { locale: 'zh-CN' });
  await ben.open('ann4');
  await ben.page.getByTestId('message').getByText('你好').waitFor();
  expect(await ben.page.getByTestId('day').textContent()).toBe('今天');
  const text = ((await ben.page.locator('#root').textContent()) ?? '').replaceAll(/ann4|ben4/g, '');
  expect(text).not.toMatch(/[A-Za-z]{2,}/);
  expect(await ben.page.evaluate(() => document.documentElement.lang)).toBe('zh');
  await ben.page.getByRole('button', { name: /我的菜单/ }).click();
  await ben.page.getByRole('menuitem', { name: '个人资料与设置' }).click();
  await ben.page.getByText('English').click();
  await ben.page.getByRole('dialog', { name: 'Profile and settings' }).waitFor();
});

test('a damaged conversation shows a mark that explains itself, no number, and the others still list', async () => {
  const { message } = await house.sdk('ann5').sendMessage({ target: { toUserId: 'ben5' }, content: 'to be damaged' });
  await house.sdk('ann5').sendMessage({ target: { toUserId: 'ben5' }, content: 'beside it' });
  await house.sdk('carol5').sendMessage({ target: { toUserId: 'ben5' }, content: 'sound' });
  const target = {
    tenantId: parseTenantId(0),
    conversationId: parseConversationId(message.conversationId),
    conversationSeq: parseConversationSeq(message.conversationSeq),
  };
  await damage({ store: 'embedded', data: house.server.data }, target, 'recordBitFlipped');
  const ben = await house.enter('ben5');
  const mark = ben.row('ann5').getByTestId('damaged');
  await mark.waitFor();
  expect(await mark.getAttribute('aria-label')).toMatch(/damaged on the server .* How much is unread cannot be known/);
  expect(await ben.row('ann5').getByTestId('badge').count()).toBe(0);
  await ben.row('carol5').getByText('1', { exact: true }).waitFor();
  await ben.open('ann5');
  await ben.page
    .getByRole('alert')
    .getByText(/is damaged/)
    .waitFor();
  await ben.message('beside it').waitFor();
});

test('10 000 messages are scrolled to the first and back to the last, and what is looked at never jumps', {
  timeout: 300_000,
}, async () => {
  const { message } = await house.sdk('ann6').sendMessage({ target: { toUserId: 'ben6' }, content: 'line 0' });
  await fillConversation(house.server, { conversationId: message.conversationId, userId: 'ann6', count: MANY - 1 });
  const ben = await house.enter('ben6');
  await ben.row('ann6').getByText('200+', { exact: true }).waitFor();
  await ben.open('ann6');
  const at = (seq: number) => ben.page.locator(`[data-row][data-seq="${seq}"]`);
  await at(MANY).waitFor();
  const drift = await ben.page.evaluate(worstDrift);
  expect(drift).toBeLessThan(5);
  await eventually(async () => {
    await ben.scroller.evaluate((box) => box.scrollTo({ top: 0 }));
    // Not the line above it: what is loaded last may move that line out of view.
    return at(1).isVisible();
  }, 240_000).toBe(true);
  await ben.page.getByText('This is where it begins.').waitFor();
  expect(await ben.page.getByTestId('message').count()).toBeLessThan(100);
  await ben.page.getByRole('button', { name: /^Jump to the latest/ }).click();
  await at(MANY).waitFor();
});

/** Runs in the page: scrolls up by a little at a time over a few loads, and says how far a message ever moved by itself. */
async function worstDrift(): Promise<number> {
  const box = document.querySelector('[data-virtuoso-scroller]');
  const frame = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const tops = (): Map<string, number> =>
    new Map(
      [...document.querySelectorAll<HTMLElement>('[data-row]')].map((row) => [row.dataset.seq ?? '', row.getBoundingClientRect().top]),
    );
  if (box === null) return Number.NaN;
  let worst = 0;
  for (let step = 0; step < 60; step += 1) {
    box.scrollTop -= 300;
    await frame();
    const before = tops();
    await frame();
    await frame();
    for (const [seq, top] of tops()) {
      const then = before.get(seq);
      const isInView = top > 64 && top < innerHeight - 64;
      if (then !== undefined && isInView) worst = Math.max(worst, Math.abs(top - then));
    }
  }
  return worst;
}

test('what comes in hundreds while the page is busy is taken in one go: the list shows the last, and one jump leads to it', async () => {
  const ann = house.sdk('ann7');
  const { message } = await ann.sendMessage({ target: { toUserId: 'ben7' }, content: 'before' });
  const ben = await house.enter('ben7');
  await ben.open('ann7');
  await ben.message('before').waitFor();
  const resume = await hold(ben);
  await house.sendMany('ann7', { conversationId: message.conversationId }, BURST);
  await ann.sendMessage({ target: { conversationId: message.conversationId }, content: 'the last one' });
  await resume();
  await ben.row('ann7').getByText('the last one').waitFor();
  // Where the machine is so busy that they come a few at a time, the list has followed them.
  const jump = ben.page.getByRole('button', { name: /^Jump to the latest/ });
  await jump.or(ben.message('the last one')).first().waitFor();
  if (await jump.isVisible()) await jump.click();
  await ben.message('the last one').waitFor();
  // An error on the way, such as of a render that begins over and over, is found when all have left.
});

/** Stops the page as a debugger does: what comes meanwhile is delivered in one go when it goes on. */
async function hold({ context, page }: Person): Promise<() => Promise<void>> {
  const session = await context.newCDPSession(page);
  await session.send('Debugger.enable');
  const paused = new Promise((resolve) => session.once('Debugger.paused', resolve));
  await session.send('Debugger.pause');
  const evaluated = session.send('Runtime.evaluate', { expression: '0' });
  await paused;
  return async () => {
    await session.send('Debugger.resume');
    await evaluated;
    await session.detach();
  };
}

test('the first load is within its bound, and comes from the server alone', async () => {
  const bytes: Record<string, number> = {};
  const context = await house.browser.newContext();
  const page = await context.newPage();
  page.on('response', (response) => {
    void response.body().then((body) => {
      bytes[new URL(response.url()).pathname] = gzipSync(body).length;
    });
  });
  await page.goto(house.server.url, { waitUntil: 'networkidle' });
  await page.getByLabel('Your name').waitFor();
  await context.close();
  const sum = Object.values(bytes).reduce((a, b) => a + b, 0);
  expect(Object.keys(bytes).filter((path) => path.endsWith('.js'))).not.toEqual([]);
  expect(sum).toBeGreaterThan(100_000);
  expect(sum).toBeLessThanOrEqual(PAGE_FIRST_LOAD_GZIP_BYTES_MAX);
});

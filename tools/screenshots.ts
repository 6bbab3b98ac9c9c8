/**
 * `npm run screenshots`: takes docs/images anew, of the real page on a real server with a few people in it.
 * Needs Chromium at CHROMIUM or /usr/bin/chromium, and fonts for Chinese and emoji (Debian: fonts-noto-cjk,
 * fonts-noto-color-emoji). Nothing has to be built before.
 */
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { CHINESE, ENGLISH, play, type Scene } from './pictures/scene.js';
import { buildPage } from './testing/built-page.js';
import { launchChromium } from './testing/chromium.js';
import { startRealServer } from './testing/real-server.js';

const IMAGES = fileURLToPath(new URL('../docs/images/', import.meta.url));
const WIDE = { width: 1120, height: 680 };
const PHONE = { width: 390, height: 780 };

async function enter(browser: Browser, url: string, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ viewport: WIDE, locale: 'en-GB', ...options });
  const page = await context.newPage();
  await page.goto(url);
  await page.getByRole('textbox').fill('alice');
  await page.keyboard.press('Enter');
  await page.getByTestId('conversation').first().waitFor();
  // Names come a moment after the list.
  await page
    .getByTestId('me')
    .getByText(/Alice|艾丽/)
    .waitFor();
  return page;
}

async function openGroup(page: Page, scene: Scene): Promise<void> {
  await page.getByTestId('conversation').filter({ hasText: scene.groupTitle }).click();
  await page.getByTestId('message').filter({ hasText: scene.mention[1] }).waitFor();
  await page.mouse.move(0, 0);
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `${IMAGES}${name}.png` });
  console.log(`docs/images/${name}.png`);
}

async function english(browser: Browser, url: string): Promise<void> {
  const light = await enter(browser, url, { colorScheme: 'light' });
  await openGroup(light, ENGLISH);
  await shoot(light, 'chat');
  await light.getByTestId('message').filter({ hasText: 'two more in my car' }).first().hover();
  await light.getByRole('button', { name: 'More', exact: true }).click();
  await shoot(light, 'message-menu');
  await light.keyboard.press('Escape');
  await light.getByRole('button', { name: 'About this group' }).click();
  await light.getByTestId('member').nth(4).waitFor();
  await shoot(light, 'group');
  const dark = await enter(browser, url, { colorScheme: 'dark' });
  await openGroup(dark, ENGLISH);
  await shoot(dark, 'chat-dark');
  const phone = await enter(browser, url, { viewport: PHONE, isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
  await shoot(phone, 'phone-list');
  await openGroup(phone, ENGLISH);
  await shoot(phone, 'phone-chat');
}

async function scene(
  browser: Browser,
  played: Scene,
  take: (browser: Browser, url: string) => Promise<void>,
  folder: string,
): Promise<void> {
  const server = await startRealServer({ pageFolder: folder });
  const { end } = await play(server.url, played);
  try {
    await take(browser, server.url);
  } finally {
    end();
    await server.end();
  }
}

const page = await buildPage();
const browser = await launchChromium();
try {
  await scene(browser, ENGLISH, english, page.folder);
  await scene(
    browser,
    CHINESE,
    async (_, url) => {
      const chinese = await enter(browser, url, { locale: 'zh-CN' });
      await openGroup(chinese, CHINESE);
      await shoot(chinese, 'chat-zh');
    },
    page.folder,
  );
} finally {
  await browser.close();
  await page.remove();
}

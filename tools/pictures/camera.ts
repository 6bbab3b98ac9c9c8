/** One who signs in to a scene's page with the scene's clock, and takes pictures of it. */
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Scene } from './scene.js';

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const WIDE = { width: 1200, height: 900 };
export const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

/** The page before anybody has signed in. */
export async function visit(browser: Browser, scene: Scene, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: WIDE, locale: 'en-GB', timezoneId: 'UTC', ...options });
  const page = await context.newPage();
  await page.clock.setFixedTime(scene.now());
  await page.goto(scene.server.url);
  return page;
}

export async function enter(browser: Browser, scene: Scene, user: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await visit(browser, scene, options);
  await page.getByRole('textbox').fill(user);
  await page.keyboard.press('Enter');
  // Names come a moment after the list.
  await page.getByTestId('me').getByText(scene.nameOf(user)).waitFor();
  return page;
}

/** `text`: of a message that shows then. */
export async function open(page: Page, title: string, text: string): Promise<void> {
  await page.getByTestId('conversation').filter({ hasText: title }).click();
  await page.getByTestId('message').filter({ hasText: text }).first().waitFor();
  await page.mouse.move(0, 0);
}

export async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `${IMAGES}${name}.png`, animations: 'disabled' });
  console.log(`docs/images/${name}.png`);
}

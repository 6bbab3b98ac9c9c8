/**
 * `npm run screenshots`: takes docs/images anew, of the real page on a real server with a few people in it.
 * Needs Chromium at CHROMIUM or /usr/bin/chromium, and fonts for Chinese and emoji (Debian: fonts-noto-cjk,
 * fonts-noto-color-emoji). Nothing has to be built before.
 */
import type { Browser } from 'playwright-core';
import { Scene } from './pictures/scene.js';
import { chinese, english } from './pictures/screens.js';
import { buildPage } from './testing/built-page.js';
import { launchChromium } from './testing/chromium.js';

async function take(language: 'en' | 'zh', screens: (browser: Browser, scene: Scene) => Promise<void>): Promise<void> {
  const scene = await Scene.play(language, page.folder);
  try {
    await screens(browser, scene);
  } finally {
    await scene.end();
  }
}

const page = await buildPage();
const browser = await launchChromium();
try {
  await take('en', english);
  await take('zh', chinese);
} finally {
  await browser.close();
  await page.remove();
}

/** What the pictures are of. Each function is one scene, in one language. */
import { parseConversationId, parseConversationSeq, parseTenantId } from '@qim/proto';
import { damage } from '@qim/store/testing';
import type { Browser, Page } from 'playwright-core';
import { enter, open, PHONE, shoot, visit } from './camera.js';
import type { Scene } from './scene.js';

/** In the order in which the scene changes: what is looked at is read. */
export async function english(browser: Browser, scene: Scene): Promise<void> {
  const phone = await enter(browser, scene, 'alice', PHONE);
  await phone.getByTestId('online').first().waitFor();
  await shoot(phone, 'phone-list');
  const light = await enter(browser, scene, 'alice');
  await light.getByTestId('online').first().waitFor();
  await openHike(light, scene);
  await everybodyReads(scene);
  await light.getByTestId('read').first().waitFor();
  await shoot(light, 'chat');
  await menus(light);
  await openHike(phone, scene);
  await shoot(phone, 'phone-chat');
  await phone.getByTestId('message').filter({ hasText: 'Count me in' }).tap();
  await phone.getByTestId('actions').waitFor();
  await shoot(phone, 'phone-actions');
  const dark = await enter(browser, scene, 'alice', { colorScheme: 'dark' });
  await dark.getByTestId('online').first().waitFor();
  await openHike(dark, scene);
  await shoot(dark, 'chat-dark');
  await owner(browser, scene);
  await sheets(light);
  await beginnings(browser, scene);
  await troubles(browser, scene);
}

export async function chinese(browser: Browser, scene: Scene): Promise<void> {
  const page = await enter(browser, scene, 'alice', { locale: 'zh-CN' });
  await page.getByTestId('online').first().waitFor();
  await openHike(page, scene);
  await shoot(page, 'chat-zh');
  await page.getByTestId('me').click();
  await page.getByRole('menuitem', { name: '个人资料与设置' }).click();
  await page.getByRole('dialog').waitFor();
  await shoot(page, 'settings-zh');
}

function openHike(page: Page, scene: Scene): Promise<void> {
  return open(page, scene.groupTitle('hike'), scene.nameOf('alice'));
}

async function everybodyReads(scene: Scene): Promise<void> {
  const { conversationId, conversationSeq } = scene.sent('13T17:31');
  for (const user of ['maya', 'jun']) await scene.client(user).markRead(conversationId, conversationSeq);
}

async function menus(page: Page): Promise<void> {
  const message = page.getByTestId('message').filter({ hasText: 'two more in my car' }).first();
  await message.hover();
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem').first().waitFor();
  await shoot(page, 'message-menu');
  await page.keyboard.press('Escape');
  await message.hover();
  await page.getByRole('button', { name: 'React', exact: true }).click();
  await page.getByRole('button', { name: 'React with 🎉' }).waitFor();
  await shoot(page, 'react');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Actions for Sunday hike' }).last().click();
  await page.getByRole('menuitem').first().waitFor();
  await shoot(page, 'conversation-menu');
  await page.keyboard.press('Escape');
}

/** What an owner may do. */
async function owner(browser: Browser, scene: Scene): Promise<void> {
  const page = await enter(browser, scene, 'maya', { viewport: { width: 1200, height: 900 } });
  await openHike(page, scene);
  await page.getByRole('button', { name: 'About this group' }).first().click();
  await page.getByTestId('member').nth(4).waitFor();
  await page.getByText(scene.nameOf('nadia')).last().waitFor();
  await shoot(page, 'group');
}

async function sheets(page: Page): Promise<void> {
  await page.getByTestId('me').click();
  await page.getByRole('menuitem', { name: 'Profile and settings' }).click();
  await page.getByRole('dialog').waitFor();
  await shoot(page, 'settings');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.getByText('Choose a conversation').waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await shoot(page, 'help');
  await page.keyboard.press('Escape');
  await page.keyboard.press('n');
  await page.getByRole('dialog').waitFor();
  await shoot(page, 'new-chat');
  await page.keyboard.press('Escape');
}

async function beginnings(browser: Browser, scene: Scene): Promise<void> {
  const stranger = await visit(browser, scene);
  await shoot(stranger, 'sign-in');
  const newcomer = await enter(browser, scene, 'zoe');
  await newcomer.getByText('No conversations yet').waitFor();
  await shoot(newcomer, 'first-visit');
}

/** Last: nothing is sound after it. */
async function troubles(browser: Browser, scene: Scene): Promise<void> {
  const { conversationId, conversationSeq } = scene.sent('13T11:05');
  const target = {
    tenantId: parseTenantId(0),
    conversationId: parseConversationId(conversationId),
    conversationSeq: parseConversationSeq(conversationSeq),
  };
  await damage({ store: 'embedded', data: scene.server.data }, target, 'recordBitFlipped');
  const page = await enter(browser, scene, 'alice');
  await page.getByTestId('damaged').waitFor();
  await page
    .getByTestId('conversation')
    .filter({ hasText: scene.nameOf('jun') })
    .first()
    .click();
  await page.getByRole('alert').waitFor();
  await shoot(page, 'damaged');
  await openHike(page, scene);
  await scene.server.stop();
  await page.getByRole('status', { name: 'Connection' }).getByText('No connection').waitFor();
  await page.getByLabel('Message', { exact: true }).fill('I will be there ten minutes early.');
  await page.keyboard.press('Enter');
  await page.getByTestId('outgoing').waitFor();
  await shoot(page, 'offline');
}

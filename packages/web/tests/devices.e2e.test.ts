/** Links that break, devices that differ, groups that change: what people meet in a real Chromium on the real server. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually, House } from './support/house.js';

let house: House;

beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house?.close());
afterEach(() => house.clear());

test('two devices of one person show the same, and what one has read the other has read', async () => {
  const [alice, laptop, phone] = [house.sdk('alice'), await house.enter('bob'), await house.enter('bob')];
  await alice.sendMessage({ target: { toUserId: 'bob' }, content: 'to both' });
  await laptop.row('alice').getByText('1 unread').waitFor({ state: 'attached' });
  await phone.row('alice').getByText('1 unread').waitFor({ state: 'attached' });
  await phone.open('alice');
  await laptop.row('alice').getByTestId('badge').waitFor({ state: 'detached' });
  await laptop.open('alice');
  await laptop.say('from the laptop');
  await phone.message('from the laptop').waitFor();
  await phone.choose('from the laptop', 'Recall…');
  await phone.page.getByRole('button', { name: 'Recall', exact: true }).click();
  await laptop.message('This message was recalled').waitFor();
});

test('offline and back with 500 messages waiting: a calm line, all of them there, the reader where he was', async () => {
  const bob = await house.enter('bob3');
  const alice = house.sdk('alice3');
  await alice.sendMessage({ target: { toUserId: 'bob3' }, content: 'before' });
  await bob.open('alice3');
  await bob.message('before').waitFor();
  await bob.row('alice3').getByTestId('badge').waitFor({ state: 'detached' });
  bob.expectLoss();
  await house.server.stop();
  await bob.page.getByRole('status', { name: 'Connection' }).getByText('No connection').waitFor();
  await bob.say('written without a link');
  await bob.page.getByTestId('outgoing').waitFor();
  // The server is back for the others first.
  await bob.context.setOffline(true);
  await house.server.start();
  await house.sendMany('alice3', { toUserId: 'bob3' }, 500);
  await bob.context.setOffline(false);
  await bob.page.getByRole('status', { name: 'Connection' }).getByText('No connection').waitFor({ state: 'detached' });
  await bob.page.getByTestId('outgoing').waitFor({ state: 'detached' });
  await bob.page.getByRole('button', { name: /^Jump to the latest/ }).waitFor();
  await bob.page.getByTestId('unread-line').waitFor();
  await bob.page.getByRole('button', { name: /^Jump to the latest/ }).click();
  await bob.message('written without a link').waitFor();
  await bob.row('alice3').getByTestId('badge').waitFor({ state: 'detached' });
});

test('a tab that is closed while it sends has lost nothing: the next one sends it, once', async () => {
  const [alice, bob] = [await house.enter('alice4'), house.sdk('bob4')];
  await alice.writeTo('bob4', 'first');
  alice.expectLoss();
  await house.server.stop();
  await alice.say('on its way');
  await alice.page.getByTestId('outgoing').waitFor();
  await alice.page.close();
  await house.server.start();
  const again = await alice.context.newPage();
  await again.goto(house.server.url);
  await again.getByRole('textbox').fill('alice4');
  await again.keyboard.press('Enter');
  await again.getByTestId('conversation').getByText('You: on its way').waitFor();
  const [entry] = (await bob.listConversations()).conversations;
  const { messages } = await bob.readHistory({ conversationId: entry?.conversationId ?? '' });
  expect(messages.map(({ content }) => (content.kind === 'text' ? content.text : ''))).toEqual(['first', 'on its way']);
});

test('a restart of the server leaves what is being written as it is, and the page goes on by itself', async () => {
  const [alice, bob] = [await house.enter('alice5'), await house.enter('bob5')];
  await alice.writeTo('bob5', 'before the restart');
  await bob.open('alice5');
  await bob.message('before the restart').waitFor();
  for (const person of [alice, bob]) person.expectLoss();
  await alice.box.pressSequentially('half a sen');
  await house.server.stop();
  await alice.page.keyboard.type('tence');
  await house.server.start();
  expect(await alice.box.inputValue()).toBe('half a sentence');
  await alice.page.keyboard.press('Enter');
  await bob.message('half a sentence').waitFor();
  await bob.page.reload();
  await bob.message('before the restart').waitFor();
  await bob.message('half a sentence').waitFor();
  expect(await bob.page.getByTestId('message').count()).toBe(2);
});

test('two windows are two people, a reload stays the same one, and logging out forgets him', async () => {
  const alice = await house.enter('alice6');
  await alice.page.reload();
  await alice.page.getByTestId('me').getByText('alice6').waitFor();
  const second = await alice.context.newPage();
  await second.goto(house.server.url);
  await second.getByLabel('Your name').waitFor();
  await alice.page.getByRole('button', { name: 'Your menu: alice6' }).click();
  await alice.page.getByRole('menuitem', { name: 'Log out' }).click();
  await alice.page.getByLabel('Your name').waitFor();
  await alice.page.reload();
  await alice.page.getByLabel('Your name').waitFor();
});

test('a group is made, talks, mentions, grows, gives a role, loses an open member and is left, each told in grey', async () => {
  const [alice, bob, carol] = [await house.enter('alice7'), await house.enter('bob7'), await house.enter('carol7')];
  await alice.makeGroup('Tea at four', 'bob7');
  await alice.message('You made “Tea at four” with bob7').waitFor();
  await bob.row('Tea at four').waitFor();
  expect(await bob.row('Tea at four').getByTestId('badge').count()).toBe(0);
  await alice.box.pressSequentially('Cake, @bo');
  await alice.page.getByRole('option', { name: /bob7/ }).waitFor();
  await alice.page.keyboard.press('Enter');
  await alice.page.keyboard.press('Enter');
  await bob.row('Tea at four').getByTestId('mentioned').waitFor();
  await bob.open('Tea at four');
  await bob.message('Cake, @bob7').waitFor();
  await alice.page.getByRole('button', { name: 'About this group' }).first().click();
  await alice.page.getByLabel('Add people').fill('carol7');
  await alice.page.getByRole('button', { name: 'Add', exact: true }).click();
  await bob.message('alice7 added carol7').waitFor();
  await alice.page.getByLabel('Role of bob7').selectOption('admin');
  await bob.message('alice7 made you admin').waitFor();
  await alice.page.getByRole('switch', { name: 'Only admins write' }).click();
  await carol.open('Tea at four');
  await carol.page.getByText('Only admins write in this group.').waitFor();
  await alice.page.getByRole('button', { name: 'Remove carol7' }).click();
  await carol.page.getByText('You are not a member of this conversation any more.').waitFor();
  await carol.page.getByRole('heading', { name: 'Tea at four' }).waitFor();
  await carol.row('Tea at four').waitFor({ state: 'detached' });
  await bob.message('alice7 removed carol7').waitFor();
  await bob.page.getByRole('button', { name: 'About this group' }).first().click();
  await bob.page.getByRole('button', { name: 'Leave the group' }).click();
  await bob.page.getByRole('button', { name: 'Leave', exact: true }).click();
  await bob.row('Tea at four').waitFor({ state: 'detached' });
  await alice.page.keyboard.press('Escape');
  await alice.message('bob7 left').waitFor();
});

test('a group with 250 unread says 200+, leads to the first unread one and back to the latest, and then is read', async () => {
  const alice = house.sdk('alice8');
  const group = await alice.createGroup({ title: 'Busy', memberIds: ['bob8'] });
  await house.sendMany('alice8', { conversationId: group.conversationId }, 250);
  const bob = await house.enter('bob8');
  await bob.row('Busy').getByText('200+', { exact: true }).waitFor();
  await bob.open('Busy');
  await bob.page.getByRole('button', { name: 'Jump to the first unread' }).click();
  await bob.page.getByTestId('unread-line').waitFor();
  const first = bob.page.locator('[data-row][data-seq="2"]');
  await first.waitFor();
  await eventually(() => first.boundingBox().then((box) => (box?.y ?? -1) > 60 && (box?.y ?? 0) < 600)).toBe(true);
  await bob.page.getByRole('button', { name: /^Jump to the latest/ }).click();
  await bob.page.locator('[data-row][data-seq="251"]').waitFor();
  await bob.row('Busy').getByTestId('badge').waitFor({ state: 'detached' });
});

test('somebody is called by the name of his profile, and a blocked one cannot write', async () => {
  const [alice, bob] = [await house.enter('alice9'), await house.enter('bob9')];
  await bob.page.getByRole('button', { name: 'Your menu: bob9' }).click();
  await bob.page.getByRole('menuitem', { name: 'Profile and settings' }).click();
  await bob.page.getByLabel('Your name, as others see it').fill('Bob the Ninth');
  await bob.page.getByRole('button', { name: 'Save' }).click();
  await bob.page.getByTestId('me').getByText('Bob the Ninth').waitFor();
  await bob.page.keyboard.press('Escape');
  await bob.writeTo('alice9', 'hello');
  await alice.open('Bob the Ninth');
  await alice.page.getByRole('button', { name: 'About Bob the Ninth' }).first().click();
  await alice.page.getByRole('button', { name: 'Block', exact: true }).click();
  await alice.page.getByText('Blocked.').waitFor();
  await bob.say('still there?');
  await bob.page.getByText('Not sent. You are not allowed to do this.').waitFor();
});

test('a picture of this server shows, one of elsewhere is not asked for, and one that is none leaves the letters', async () => {
  const [alice, carol, dave] = [house.sdk('alice10'), house.sdk('carol10'), house.sdk('dave10')];
  const { url } = house.server;
  await alice.setProfile({ displayName: 'Alice Ten', avatarUrl: `${url}/favicon.svg` });
  await carol.setProfile({ displayName: 'Carol Ten', avatarUrl: 'https://pictures.example/carol.png' });
  await dave.setProfile({ displayName: 'Dave Ten', avatarUrl: `${url}/` });
  for (const client of [alice, carol, dave]) await client.sendMessage({ target: { toUserId: 'bob10' }, content: 'hello' });
  const bob = await house.enter('bob10');
  const picture = bob.row('Alice Ten').getByTestId('picture');
  await picture.waitFor();
  await eventually(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(0);
  await bob.row('Carol Ten').getByText('CT', { exact: true }).waitFor();
  await bob.row('Dave Ten').getByText('DT', { exact: true }).waitFor();

  // Whoever changes the name on the page keeps the picture that a backend has given.
  await house.sdk('bob10').setProfile({ displayName: 'Bob', avatarUrl: `${url}/favicon.svg` });
  await bob.page.reload();
  await bob.page.getByTestId('me').click();
  await bob.page.getByRole('menuitem', { name: 'Profile and settings' }).click();
  await bob.page.getByLabel('Your name, as others see it').fill('Bob Ten');
  await bob.page.getByRole('button', { name: 'Save' }).click();
  await bob.page.getByTestId('me').getByText('Bob Ten').waitFor();
  const [profile] = await alice.getProfiles(['bob10']);
  expect(profile?.avatarUrl).toBe(`${url}/favicon.svg`);
});

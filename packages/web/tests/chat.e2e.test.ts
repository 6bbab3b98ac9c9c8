/** Two people who chat, in real browser windows, on the page as it is built, from the real server on its embedded store. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually, House } from './support/house.js';

let house: House;

beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house?.close());
afterEach(() => house.clear());

test('bob sees live what alice writes, with the right badge before he opens it and none after; alice sees that he has read it', async () => {
  const [alice, bob] = [await house.enter('alice'), await house.enter('bob')];
  await bob.page.getByText('No conversations yet').waitFor();
  await alice.writeTo('bob', 'Hello Bob');
  await alice.say('Are you there?');
  await bob.row('alice').getByText('2 unread').waitFor({ state: 'attached' });
  await eventually(() => bob.page.title()).toBe('(2) qim');
  expect(await bob.row('alice').textContent()).toContain('Are you there?');
  await bob.open('alice');
  await bob.message('Are you there?').waitFor();
  expect(await bob.page.getByTestId('message').count()).toBe(2);
  await bob.page.getByTestId('unread-line').waitFor();
  await bob.row('alice').getByTestId('badge').waitFor({ state: 'detached' });
  await alice.message('Are you there?').getByTestId('read').waitFor();
  await bob.box.pressSequentially('I am');
  await alice.page.getByTestId('typing').getByText('bob is typing…').waitFor();
  await bob.box.press('Enter');
  await alice.message('I am').waitFor();
  await alice.row('bob').getByTestId('badge').waitFor({ state: 'detached' });
  await alice.page.getByTestId('typing').getByText('bob is typing…').waitFor({ state: 'detached' });
  expect(await alice.page.getByTestId('day').textContent()).toBe('Today');
  // What was read while nobody listened is known as well.
  await alice.page.reload();
  await alice.message('Are you there?').getByTestId('read').waitFor();
});

test('what arrives while the tab is hidden stays unread until it is seen', async () => {
  const [alice, bob] = [await house.enter('alice2'), await house.enter('bob2')];
  await alice.writeTo('bob2', 'one');
  await bob.open('alice2');
  await bob.row('alice2').getByTestId('badge').waitFor({ state: 'detached' });
  await bob.setVisible('hidden');
  await alice.say('two');
  await bob.message('two').waitFor();
  await bob.row('alice2').getByTestId('badge').getByText('1', { exact: true }).waitFor();
  await bob.setVisible('visible');
  await bob.row('alice2').getByTestId('badge').waitFor({ state: 'detached' });
});

test('an edit and a recall show while the other looks, in the list too', async () => {
  const [alice, bob] = [await house.enter('alice5'), await house.enter('bob5')];
  await alice.writeTo('bob5', 'a mistake');
  await bob.open('alice5');
  await bob.message('a mistake').waitFor();
  await alice.choose('a mistake', 'Edit');
  await alice.say('a better one');
  await bob.message('a better one').getByText('edited').waitFor();
  await alice.choose('a better one', 'Recall…');
  await alice.page.getByRole('button', { name: 'Recall', exact: true }).click();
  await bob.message('This message was recalled').waitFor();
  await bob.row('alice5').getByText('A message was recalled').waitFor();
  expect(await bob.page.locator('body').textContent()).not.toContain('a better one');
});

test('a reply quotes what it answers, a reaction shows and comes off, and the emoji come from this server', async () => {
  const [alice, bob] = [await house.enter('alice12'), await house.enter('bob12')];
  await alice.writeTo('bob12', 'Tea or coffee?');
  await bob.open('alice12');
  await bob.choose('Tea or coffee?', 'Reply');
  await bob.page.getByTestId('compose-bar').getByText('Reply to alice12').waitFor();
  await bob.say('Tea');
  await alice.message('Tea').last().getByTestId('quote').getByText('Tea or coffee?').waitFor();
  await bob.message('Tea or coffee?').first().hover();
  await bob.message('Tea or coffee?').first().getByRole('button', { name: 'React', exact: true }).click();
  await bob.page.getByRole('button', { name: 'More emoji' }).click();
  await bob.page.getByLabel('Search emoji').fill('teapot');
  await bob.page.getByRole('gridcell', { name: 'teapot' }).click();
  await alice.page.getByTestId('reaction').getByText('🫖', { exact: true }).waitFor();
  await bob.page.getByTestId('reaction').click();
  await alice.page.getByTestId('reaction').waitFor({ state: 'detached' });
});

test('the newest message stays in view when the room above the box gets less', async () => {
  const [alice, bob] = [house.sdk('alice20'), await house.enter('bob20')];
  for (let n = 1; n <= 30; n += 1) await alice.sendMessage({ target: { toUserId: 'bob20' }, content: `line ${n}.` });
  await bob.open('alice20');
  await bob.message('line 30.').waitFor();
  await bob.row('alice20').getByTestId('badge').waitFor({ state: 'detached' });
  const distance = () => bob.scroller.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
  await eventually(distance).toBeLessThan(2);
  await bob.choose('line 30.', 'Reply');
  await bob.page.getByTestId('compose-bar').waitFor();
  await eventually(distance).toBeLessThan(2);
  await bob.box.fill('one\ntwo\nthree\nfour');
  await eventually(distance).toBeLessThan(2);
});

test('a message that is refused stays, says why, and can be sent again or dropped', async () => {
  const [alice, bob] = [await house.enter('alice8'), await house.enter('bob8')];
  await alice.writeTo('bob8', 'hello');
  await alice.say('x'.repeat(16 * 1024 + 1));
  await alice.page.getByText('Not sent. This is too long.').waitFor();
  await alice.page.getByRole('button', { name: 'Drop' }).click();
  await alice.page.getByTestId('outgoing').waitFor({ state: 'detached' });
  await alice.say('line one');
  await bob.row('alice8').getByText('2', { exact: true }).waitFor();
});

test('text is text: markup and line breaks arrive as they were written, and only http links are links', async () => {
  const [alice, bob] = [await house.enter('alice9'), await house.enter('bob9')];
  const markup = '<img src=x onerror=alert(1)> & **bold** javascript:alert(1)';
  await alice.writeTo('bob9', markup);
  await alice.box.fill('first');
  await alice.box.press('Shift+Enter');
  await alice.box.pressSequentially('see https://example.org/a?b=1.');
  await alice.box.press('Enter');
  await bob.open('alice9');
  await bob.message('example.org').waitFor();
  expect(await bob.message('onerror').getByTestId('text').textContent()).toBe(markup);
  expect(await bob.message('example.org').getByTestId('text').textContent()).toBe('first\nsee https://example.org/a?b=1.');
  expect(await bob.page.locator('img[src="x"]').count()).toBe(0);
  const links = bob.page.getByTestId('message').locator('a');
  expect(await links.count()).toBe(1);
  expect(await links.getAttribute('href')).toBe('https://example.org/a?b=1');
  expect(await links.getAttribute('rel')).toContain('noopener');
});

test('a draft is kept for its conversation, over a reload, and shows in the list', async () => {
  const alice = await house.enter('alice13');
  await alice.writeTo('bob13', 'for bob');
  await alice.box.fill('half written');
  await alice.writeTo('carol13', 'for carol');
  await alice.row('bob13').getByText('half written').waitFor();
  await alice.page.reload();
  await alice.open('bob13');
  await eventually(() => alice.box.inputValue()).toBe('half written');
  await alice.open('carol13');
  await eventually(() => alice.box.inputValue()).toBe('');
});

test('a conversation is pinned, muted, marked unread, hidden and cleared from its menu', async () => {
  const [alice, bob] = [await house.enter('alice14'), house.sdk('bob14')];
  await alice.writeTo('carol14', 'first');
  await bob.sendMessage({ target: { toUserId: 'alice14' }, content: 'hello' });
  await alice.open('bob14');
  await alice.row('bob14').getByTestId('badge').waitFor({ state: 'detached' });
  await alice.open('carol14');
  await alice.chooseOfConversation('Pin to the top');
  await alice.row('carol14').getByLabel('Pinned').waitFor();
  expect(await alice.page.getByTestId('conversation').first().textContent()).toContain('carol14');
  await alice.open('bob14');
  await alice.chooseOfConversation('Mute');
  await alice.row('bob14').getByLabel('Muted').waitFor();
  await alice.closeConversation();
  await alice.row('bob14').hover();
  await alice.page.getByRole('button', { name: 'Actions for bob14' }).click();
  await alice.page.getByRole('menuitem', { name: 'Mark as unread' }).click();
  await alice.row('bob14').getByTestId('badge').waitFor();
  await alice.open('bob14');
  await alice.chooseOfConversation('Clear history…');
  await alice.page.getByRole('button', { name: 'Clear it' }).click();
  await alice.message('hello').waitFor({ state: 'detached' });
  await alice.chooseOfConversation('Hide until a new message');
  await alice.row('bob14').waitFor({ state: 'detached' });
  await bob.sendMessage({ target: { toUserId: 'alice14' }, content: 'me again' });
  await alice.row('bob14').waitFor();
});

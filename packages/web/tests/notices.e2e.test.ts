/** What tells of messages while nobody looks: the browser's notifications, and the number in the tab's title. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually, House } from './support/house.js';
import type { Person } from './support/person.js';

let house: House;

beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house?.close());
afterEach(() => house.clear());

interface Told {
  readonly title: string;
  readonly body: string;
}

/** Runs in the page before it: the browser's own notifications, each of which is written down as it is made. */
function writeDown(): void {
  const told: Notification[] = [];
  const Real = globalThis.Notification;
  globalThis.Notification = class extends Real {
    constructor(title: string, options?: NotificationOptions) {
      super(title, options);
      told.push(this);
    }
  };
  Object.assign(globalThis, { qimTold: told });
}

function told({ page }: Person): Promise<Told[]> {
  return page.evaluate(() => (globalThis as unknown as { qimTold: Notification[] }).qimTold.map(({ title, body }) => ({ title, body })));
}

/** As a click on the newest one. */
function clickNewest({ page }: Person): Promise<void> {
  return page.evaluate(() => {
    (globalThis as unknown as { qimTold: Notification[] }).qimTold.at(-1)?.dispatchEvent(new Event('click'));
  });
}

async function turnOn(person: Person): Promise<void> {
  await person.page.getByTestId('me').click();
  await person.page.getByRole('menuitem', { name: 'Profile and settings' }).click();
  await person.page.getByRole('switch', { name: 'Notifications on this device' }).click();
}

test('a message is notified while the page is hidden, unless it is muted, one’s own or a grey line; a click opens it', async () => {
  const [alice, own] = [house.sdk('alice'), house.sdk('bob')];
  const group = await alice.createGroup({ title: 'Tea at four', memberIds: ['bob'] });
  const quiet = await alice.createGroup({ title: 'Quiet', memberIds: ['bob'] });
  await own.setConversationFlags(quiet.conversationId, { muted: true });
  const bob = await house.enter('bob');
  await bob.context.grantPermissions(['notifications'], { origin: house.server.url });
  await bob.page.addInitScript(writeDown);
  await bob.page.reload();
  await bob.row('Quiet').waitFor();
  await turnOn(bob);
  await eventually(() => bob.page.getByRole('switch', { name: 'Notifications on this device' }).isChecked()).toBe(true);
  await bob.page.keyboard.press('Escape');

  await alice.sendMessage({ target: { toUserId: 'bob' }, content: 'looked at' });
  await bob.row('alice').getByText('looked at').waitFor();
  await bob.setVisible('hidden');
  await alice.sendMessage({ target: { toUserId: 'bob' }, content: 'psst' });
  await eventually(() => told(bob)).toEqual([{ title: 'alice', body: 'psst' }]);
  await alice.sendMessage({ target: { conversationId: quiet.conversationId }, content: 'nobody needs to hear this' });
  await own.sendMessage({ target: { toUserId: 'alice' }, content: 'from another device' });
  await alice.updateConversation(group.conversationId, { title: 'Tea at five' });
  await bob.row('Tea at five').waitFor();
  await alice.sendMessage({ target: { conversationId: group.conversationId }, content: 'tea is ready' });
  await eventually(() => told(bob)).toEqual([
    { title: 'alice', body: 'psst' },
    { title: 'Tea at five', body: 'alice: tea is ready' },
  ]);

  await clickNewest(bob);
  await bob.message('tea is ready').waitFor();
});

test('where the browser does not allow them, the switch says so and stays off', async () => {
  const bob = await house.enter('bob2');
  await turnOn(bob);
  await bob.page.getByText('The browser does not allow them for this page.').waitFor();
  expect(await bob.page.getByRole('switch', { name: 'Notifications on this device' }).isChecked()).toBe(false);
});

test('the tab’s title says how much is unread, without what is muted, and no more once it is read', async () => {
  const [alice, own] = [house.sdk('alice3'), house.sdk('bob3')];
  const quiet = await alice.createGroup({ title: 'Quiet', memberIds: ['bob3'] });
  await own.setConversationFlags(quiet.conversationId, { muted: true });
  const bob = await house.enter('bob3');
  await bob.row('Quiet').waitFor();
  expect(await bob.page.title()).toBe('qim');
  await alice.sendMessage({ target: { conversationId: quiet.conversationId }, content: 'muted' });
  await alice.sendMessage({ target: { toUserId: 'bob3' }, content: 'one' });
  await alice.sendMessage({ target: { toUserId: 'bob3' }, content: 'two' });
  await eventually(() => bob.page.title()).toBe('(2) qim');
  await bob.row('Quiet').getByText('1 unread').waitFor({ state: 'attached' });
  await bob.open('alice3');
  await eventually(() => bob.page.title()).toBe('qim');
  const busy = await alice.createGroup({ title: 'Busy', memberIds: ['bob3'] });
  await house.sendMany('alice3', { conversationId: busy.conversationId }, 201);
  await eventually(() => bob.page.title()).toMatch(/^\(\d+\+\) qim$/);
});

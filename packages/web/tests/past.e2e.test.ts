/** What lies far back in a long conversation: shown by what is around it, not by everything since. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { fillConversation } from '../../../tools/testing/fill-conversation.js';
import { eventually, House } from './support/house.js';

const MANY = 3_000;
/** Frames of a jump: two pages, read marks and what keeps the link, not the sixty pages that lie between. */
const FRAMES_MAX = 15;

let house: House;

beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house?.close());
afterEach(() => house.clear());

test('a reply quotes what is not loaded, a click leads there at once, one reads on from it, and one jump leads back', async () => {
  const ann = house.sdk('ann');
  const { message: first } = await ann.sendMessage({ target: { toUserId: 'ben' }, content: 'the very first' });
  const { conversationId } = first;
  await fillConversation(house.server, { conversationId, userId: 'ann', count: MANY });
  const { message } = await ann.sendMessage({ target: { conversationId }, content: 'remember this?', replyTo: first });
  const ben = await house.enter('ben');
  let sent = 0;
  ben.page.on('websocket', (socket) => socket.on('framesent', () => (sent += 1)));
  await ben.page.reload();
  await ben.open('ann');
  const at = (seq: number) => ben.page.locator(`[data-row][data-seq="${seq}"]`);
  const quote = ben.message('remember this?').getByTestId('quote');
  await quote.getByText('the very first').waitFor();
  await ben.row('ann').getByTestId('badge').waitFor({ state: 'detached' });

  const before = sent;
  await quote.click();
  await at(1).waitFor();
  await eventually(() =>
    at(1)
      .boundingBox()
      .then((box) => (box?.y ?? -1) > 60 && (box?.y ?? 0) < 600),
  ).toBe(true);
  expect(sent - before).toBeLessThanOrEqual(FRAMES_MAX);

  await ann.sendMessage({ target: { conversationId }, content: 'meanwhile' });
  await ben.row('ann').getByText('1 unread').waitFor({ state: 'attached' });
  expect(await ben.message('meanwhile').count()).toBe(0);
  // By its last row: what lies a screen further on is passed over.
  await eventually(async () => {
    await ben.scroller.evaluate((box) => box.scrollBy({ top: 2_000 }));
    return Number(await ben.page.locator('[data-row][data-seq]').last().getAttribute('data-seq'));
  }).toBeGreaterThan(150);

  await ben.page.getByRole('button', { name: /^Jump to the latest/ }).click();
  await ben.message('meanwhile').waitFor();
  await at(message.conversationSeq).waitFor();
  await ben.row('ann').getByTestId('badge').waitFor({ state: 'detached' });

  await quote.click();
  await at(1).waitFor();
  await ben.say('written while looking back');
  await ben.message('written while looking back').waitFor();
  await at(message.conversationSeq).waitFor();
});

test('what was recalled is quoted without its text', async () => {
  const ann = house.sdk('ann2');
  const { message: first } = await ann.sendMessage({ target: { toUserId: 'ben2' }, content: 'a slip' });
  const { conversationId } = first;
  await fillConversation(house.server, { conversationId, userId: 'ann2', count: 100 });
  await ann.sendMessage({ target: { conversationId }, content: 'an answer', replyTo: first });
  const ben = await house.enter('ben2');
  await ben.open('ann2');
  const quote = ben.message('an answer').getByTestId('quote');
  await quote.getByText('a slip').waitFor();
  await ann.recallMessage(first);
  await quote.getByText('This message was recalled').waitFor();
});

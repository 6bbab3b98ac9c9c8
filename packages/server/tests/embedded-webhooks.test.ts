/** The webhook's queue on the disk. */
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../src/open-store.js';
import { temporaryFolder } from './running.js';
import { minuteWithoutReceiver } from './webhook-minute.js';

test('a receiver that is down for a minute under load: the embedded store loses nothing, and keeps the order', async () => {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const server = await minuteWithoutReceiver(await openStore({ store: 'embedded', data: folder }, { as: 'server' }), 30);
  await server.stop();
  const again = await openStore({ store: 'embedded', data: folder }, { as: 'server' });
  expect(await again.hooks.backlog()).toMatchObject({ waiting: 0, dead: 4 });
  await again.close();
});

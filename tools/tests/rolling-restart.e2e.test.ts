/** Two processes on one Redis are restarted one after the other, as an operator does it, while people write. */
import { expect, onTestFinished, test } from 'vitest';
import { seededRandom } from '../../packages/store/src/testing/random.js';
import { Load } from '../chaos/load.js';
import { divergingDevices, readersOf } from '../chaos/run-chaos.js';
import { judge } from '../chaos/verdict.js';
import { openWorld } from '../chaos/world.js';

test('a rolling restart under load loses nothing and doubles nothing: its users see a reconnect', async () => {
  const world = await openWorld('redis', 2);
  const load = new Load(world, seededRandom(7));
  onTestFinished(async () => {
    load.close();
    await world.close();
  });
  await load.prepare();
  const reconnected = new Set<string>();
  const stopped = new Set<string>();
  for (const { user, name, client } of load.devices) {
    let lost = false;
    client.connection.subscribe(() => {
      const { status } = client.connection.snapshot();
      if (status === 'stopped') stopped.add(`${user} ${name}`);
      if (status === 'waiting') lost = true;
      if (status === 'online' && lost) reconnected.add(`${user} ${name}`);
    });
  }
  load.start();
  const acknowledged = () => load.intentions.filter((each) => each.acknowledged !== undefined).length;
  for (const server of world.servers) {
    const before = acknowledged();
    await server.end('SIGTERM');
    await server.start();
    await expect.poll(acknowledged, { timeout: 60_000 }).toBeGreaterThan(before);
  }
  await load.finished();
  expect(judge(load.intentions, await readersOf(world, load))).toEqual({ lost: [], doubled: [], divergences: [] });
  expect(await divergingDevices(world, load)).toEqual([]);
  expect(reconnected.size).toBe(load.devices.length);
  expect(stopped.size).toBe(0);
}, 240_000);

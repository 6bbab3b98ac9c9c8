/** Cases: where browsers of users take notifications. */
import { parseDeviceId, WEB_PUSH_PER_USER_MAX } from '@qim/proto';
import { expect } from 'vitest';
import type { WebPushSubscription } from '../../users/users.js';
import { type Fixture, OTHER_TENANT, refusedWith, TENANT } from './fixture.js';
import type { Cases } from './suite.js';

function start(fixture: Fixture) {
  const { users } = fixture.store;
  const bob = fixture.user('bob');
  const of = async (userId = bob) => (await users.webPush(TENANT, [userId]))[0]?.map(({ endpoint }) => endpoint).sort();
  return { users, bob, carol: fixture.user('carol'), of };
}

function subscription(name: string, device?: string): WebPushSubscription {
  const deviceId = device === undefined ? undefined : parseDeviceId(device);
  return { endpoint: `https://push.example/${name}`, p256dh: `key of ${name}`, auth: `secret of ${name}`, deviceId };
}

export const webPush: Cases = {
  async 'are kept per user and tenant, and read in the order asked for'(fixture) {
    const { users, bob, carol } = start(fixture);
    const [one, other] = [subscription('one', 'a "phone": 手机'), subscription('other')];
    await users.addWebPush(TENANT, bob, one);
    await users.addWebPush(TENANT, carol, other);
    expect(await users.webPush(TENANT, [carol, fixture.user('dave'), bob])).toEqual([[other], [], [one]]);
    expect(await users.webPush(OTHER_TENANT, [bob])).toEqual([[]]);
    expect(await users.webPush(TENANT, [])).toEqual([]);
  },

  async 'of one device take the place of each other, and so do those of one endpoint'(fixture) {
    const { users, bob, of } = start(fixture);
    await users.addWebPush(TENANT, bob, subscription('old', 'phone'));
    await users.addWebPush(TENANT, bob, subscription('desk', 'phone 2'));
    await users.addWebPush(TENANT, bob, subscription('new', 'phone'));
    expect(await of()).toEqual(['https://push.example/desk', 'https://push.example/new']);
    const renewed = { ...subscription('new'), p256dh: 'another key' };
    await users.addWebPush(TENANT, bob, renewed);
    expect((await users.webPush(TENANT, [bob]))[0]).toContainEqual(renewed);
    expect(await of()).toHaveLength(2);
    await users.addWebPush(TENANT, bob, subscription('nameless'));
    expect(await of()).toHaveLength(3);
  },

  async 'go by their endpoint, whichever device had it, and of that user alone'(fixture) {
    const { users, bob, carol, of } = start(fixture);
    for (const user of [bob, carol]) await users.addWebPush(TENANT, user, subscription('shared', 'phone'));
    await users.addWebPush(TENANT, bob, subscription('kept'));
    await users.removeWebPush(TENANT, bob, 'https://push.example/shared');
    await users.removeWebPush(TENANT, bob, 'https://push.example/unknown');
    expect(await of()).toEqual(['https://push.example/kept']);
    expect(await of(carol)).toEqual(['https://push.example/shared']);
  },

  async 'are at most WEB_PUSH_PER_USER_MAX; one more is refused, a new one of a known device is not'(fixture) {
    const { users, bob, of } = start(fixture);
    for (let n = 0; n < WEB_PUSH_PER_USER_MAX; n += 1) await users.addWebPush(TENANT, bob, subscription(`s${n}`, `d${n}`));
    await refusedWith(users.addWebPush(TENANT, bob, subscription('more', 'another')), 'ResourceLimit');
    expect(await of()).toHaveLength(WEB_PUSH_PER_USER_MAX);
    await users.addWebPush(TENANT, bob, subscription('moved', 'd3'));
    expect(await of()).toHaveLength(WEB_PUSH_PER_USER_MAX);
    expect(await of()).toContain('https://push.example/moved');
  },

  async 'go with the user'(fixture) {
    const { users, bob, of } = start(fixture);
    await users.addWebPush(TENANT, bob, subscription('one', 'phone'));
    await users.erase(TENANT, bob);
    expect(await of()).toEqual([]);
  },
};

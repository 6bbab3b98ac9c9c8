/** Cases: profiles, blocks, suspensions, reports. */
import {
  BLOCKED_USERS_MAX,
  parseDeviceId,
  parseMessageId,
  parseTenantId,
  parseUserId,
  REPORTS_KEPT_MAX,
  SUSPENDED_DEVICES_MAX,
  type TenantId,
} from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import { expect } from 'vitest';
import type { Report } from '../../users/users.js';
import { type Fixture, OTHER_TENANT, refusedWith, seq, TENANT } from './fixture.js';
import type { Cases } from './suite.js';

function start(fixture: Fixture) {
  return { users: fixture.store.users, bob: fixture.user('bob'), carol: fixture.user('carol') };
}

export const profiles: Cases = {
  async 'are what was set last, in the order asked for, and undefined where none was'(fixture) {
    const { users, bob, carol } = start(fixture);
    const first = { displayName: 'Bob "the" é 用户', avatarUrl: 'https://example.com/b.png' };
    await users.setProfile(TENANT, bob, first);
    expect(await users.profiles(TENANT, [carol, bob, bob])).toEqual([undefined, first, first]);
    await users.setProfile(TENANT, bob, { displayName: '', avatarUrl: '' });
    expect(await users.profiles(TENANT, [bob])).toEqual([{ displayName: '', avatarUrl: '' }]);
    expect(await users.profiles(TENANT, [])).toEqual([]);
  },

  async 'are per tenant'(fixture) {
    const { users, bob } = start(fixture);
    await users.setProfile(TENANT, bob, { displayName: 'Bob', avatarUrl: '' });
    expect(await users.profiles(OTHER_TENANT, [bob])).toEqual([undefined]);
  },
};

export const blocks: Cases = {
  async 'are made and lifted, again and again, and listed by the bytes of the ids'(fixture) {
    const { users, bob, carol } = start(fixture);
    const others = ['ü', 'z', 'a:b', '{a}', '😀'].map((name) => parseUserId(name));
    for (const other of [...others, ...others]) await users.block(TENANT, bob, other);
    const sorted = ['a:b', 'z', '{a}', 'ü', '😀'];
    expect(await users.blocked(TENANT, bob)).toEqual(sorted);
    for (const other of others) expect(await users.hasBlocked(TENANT, bob, other)).toBe(true);
    expect(await users.hasBlocked(TENANT, bob, carol)).toBe(false);
    expect(await users.hasBlocked(TENANT, parseUserId('z'), bob)).toBe(false);
    expect(await users.hasBlocked(OTHER_TENANT, bob, parseUserId('z'))).toBe(false);
    await users.unblock(TENANT, bob, carol);
    await users.unblock(TENANT, bob, parseUserId('z'));
    expect(await users.blocked(TENANT, bob)).toEqual(sorted.filter((name) => name !== 'z'));
  },

  async 'are at most BLOCKED_USERS_MAX; one more is refused, one of them is not'(fixture) {
    const { users, bob, carol } = start(fixture);
    const others = Array.from({ length: BLOCKED_USERS_MAX }, (_, n) => fixture.user(`u${n}`));
    await Promise.all(others.map((other) => users.block(TENANT, bob, other)));
    await refusedWith(users.block(TENANT, bob, carol), 'ResourceLimit');
    await users.block(TENANT, bob, others[0] ?? carol);
    expect(await users.blocked(TENANT, bob)).toHaveLength(BLOCKED_USERS_MAX);
  },
};

export const suspensions: Cases = {
  async 'are of the user or of one device, each lifted by itself'(fixture) {
    const { users, bob } = start(fixture);
    const [phone, laptop] = [parseDeviceId('phone'), parseDeviceId('laptop')];
    const state = async () => [
      await users.isSuspended(TENANT, bob, undefined),
      await users.isSuspended(TENANT, bob, phone),
      await users.isSuspended(TENANT, bob, laptop),
    ];
    expect(await state()).toEqual([false, false, false]);
    await users.suspend(TENANT, bob, phone, true);
    expect(await state()).toEqual([false, true, false]);
    await users.suspend(TENANT, bob, undefined, true);
    await users.suspend(TENANT, bob, undefined, true);
    expect(await state()).toEqual([true, true, true]);
    await users.suspend(TENANT, bob, undefined, false);
    expect(await state()).toEqual([false, true, false]);
    await users.suspend(TENANT, bob, phone, false);
    expect(await state()).toEqual([false, false, false]);
  },

  async 'are per user and tenant'(fixture) {
    const { users, bob, carol } = start(fixture);
    await users.suspend(TENANT, bob, undefined, true);
    expect(await users.isSuspended(TENANT, carol, undefined)).toBe(false);
    expect(await users.isSuspended(OTHER_TENANT, bob, undefined)).toBe(false);
  },

  async 'of devices are at most SUSPENDED_DEVICES_MAX beside that of the user'(fixture) {
    const { users, bob } = start(fixture);
    await users.suspend(TENANT, bob, undefined, true);
    for (let n = 0; n < SUSPENDED_DEVICES_MAX; n += 1) await users.suspend(TENANT, bob, parseDeviceId(`d${n}`), true);
    await refusedWith(users.suspend(TENANT, bob, parseDeviceId('one more'), true), 'ResourceLimit');
    await users.suspend(TENANT, bob, parseDeviceId('d0'), true);
  },
};

function report(fixture: Fixture, comment: string): Report {
  return {
    reportId: uuidv7(),
    reportedAtMs: 1_700_000_000_000,
    reporterId: fixture.user('bob'),
    conversationId: fixture.conversationId(),
    conversationSeq: seq(3),
    messageId: parseMessageId(uuidv7()),
    senderId: fixture.user('mallory'),
    comment,
  };
}

/** A tenant that no other case reports to. */
function tenantOf(fixture: Fixture): TenantId {
  return parseTenantId(Number.parseInt(fixture.user('').slice(-7), 16));
}

export const reports: Cases = {
  async 'are kept by tenant, the newest first'(fixture) {
    const { users } = start(fixture);
    const tenantId = tenantOf(fixture);
    const made = ['one', 'two "é"', ''].map((comment) => report(fixture, comment));
    for (const each of made) await users.addReport(tenantId, each);
    expect(await users.reports(tenantId, 200)).toEqual(made.toReversed());
    expect(await users.reports(tenantId, 1)).toEqual(made.slice(-1));
    expect(await users.reports(parseTenantId(tenantId + 1), 200)).toEqual([]);
  },

  async 'are at most REPORTS_KEPT_MAX: the oldest makes room'(fixture) {
    const { users } = start(fixture);
    const tenantId = tenantOf(fixture);
    const first = report(fixture, 'first');
    const second = report(fixture, 'second');
    await users.addReport(tenantId, first);
    await users.addReport(tenantId, second);
    for (let from = 2; from < REPORTS_KEPT_MAX; from += 500) {
      const count = Math.min(500, REPORTS_KEPT_MAX - from);
      await Promise.all(Array.from({ length: count }, () => users.addReport(tenantId, report(fixture, 'more'))));
    }
    expect((await users.reports(tenantId, REPORTS_KEPT_MAX)).at(-1)).toEqual(first);
    await users.addReport(tenantId, report(fixture, 'one more'));
    const kept = await users.reports(tenantId, REPORTS_KEPT_MAX + 1);
    expect([kept.length, kept.at(-1)]).toEqual([REPORTS_KEPT_MAX, second]);
  },
};

export const erasure: Cases = {
  async 'takes profile and blocks, and leaves suspensions and what others have'(fixture) {
    const { users, bob, carol } = start(fixture);
    await users.setProfile(TENANT, bob, { displayName: 'Bob', avatarUrl: '' });
    await users.block(TENANT, bob, carol);
    await users.block(TENANT, carol, bob);
    await users.suspend(TENANT, bob, undefined, true);
    await users.erase(TENANT, bob);
    expect(await users.profiles(TENANT, [bob])).toEqual([undefined]);
    expect(await users.blocked(TENANT, bob)).toEqual([]);
    expect(await users.hasBlocked(TENANT, carol, bob)).toBe(true);
    expect(await users.isSuspended(TENANT, bob, undefined)).toBe(true);
  },
};

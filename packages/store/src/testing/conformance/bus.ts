/** Cases: what one process publishes is heard where its users are, by everybody but itself. */
import { BUS_USERS_PER_MESSAGE_MAX, LEGACY_TENANT_ID, parseTenantId, parseUserId, type TenantId, type UserId } from '@qim/proto';
import { expect, vi } from 'vitest';
import type { BusEvent, BusLink } from '../../bus/bus.js';
import type { Fixture } from './fixture.js';
import type { Cases } from './suite.js';

const OTHER_TENANT = parseTenantId(7);
let processes = 0;

interface Process {
  readonly link: BusLink;
  readonly heard: BusEvent[];
}

/** A process that listens, as another one than all before. */
function joined({ store }: Fixture): Process {
  const heard: BusEvent[] = [];
  processes += 1;
  const link = store.bus.connect(`process-${processes}`, {
    received: (event) => heard.push(event),
    malformed: () => expect.unreachable('nothing else is on the channels'),
    interrupted: () => {},
  });
  return { link, heard };
}

function event(userIds: readonly UserId[], text: string, tenantId: TenantId = LEGACY_TENANT_ID): BusEvent {
  return { tenantId, userIds, payload: new TextEncoder().encode(text) };
}

/** What reached a user, in its order. */
function textsFor({ heard }: Process, userId: UserId, tenantId: TenantId = LEGACY_TENANT_ID): string[] {
  const theirs = heard.filter((each) => each.tenantId === tenantId && each.userIds.includes(userId));
  return theirs.map(({ payload }) => new TextDecoder().decode(payload));
}

const soon = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 5 });

export const bus: Cases = {
  async 'what is published after a subscription is heard, in its order'(fixture) {
    const [here, there] = [joined(fixture), joined(fixture)];
    const alice = fixture.user('alice');
    await there.link.subscribe(LEGACY_TENANT_ID, alice);
    const texts = Array.from({ length: 50 }, (_, n) => `event ${n}`);
    await here.link.publish(texts.slice(0, 20).map((text) => event([alice], text)));
    for (const text of texts.slice(20)) await here.link.publish([event([alice], text)]);
    await soon(() => expect(textsFor(there, alice)).toEqual(texts));
    here.link.close();
    there.link.close();
  },

  async 'nobody hears itself, and all others do'(fixture) {
    const [here, there, elsewhere] = [joined(fixture), joined(fixture), joined(fixture)];
    const alice = fixture.user('alice');
    for (const { link } of [here, there, elsewhere]) await link.subscribe(LEGACY_TENANT_ID, alice);
    await here.link.publish([event([alice], 'from here')]);
    await there.link.publish([event([alice], 'from there')]);
    await soon(() => expect(textsFor(elsewhere, alice).sort()).toEqual(['from here', 'from there']));
    await soon(() => expect([textsFor(here, alice), textsFor(there, alice)]).toEqual([['from there'], ['from here']]));
    for (const { link } of [here, there, elsewhere]) link.close();
  },

  async 'each of the users hears it, however many they are, and nobody of another tenant'(fixture) {
    const [here, there] = [joined(fixture), joined(fixture)];
    const many = Array.from({ length: 2 * BUS_USERS_PER_MESSAGE_MAX + 1 }, (_, n) => parseUserId(`${fixture.user('one')}-${n}`));
    const watched = [many[0], many[BUS_USERS_PER_MESSAGE_MAX], many.at(-1)].filter((userId) => userId !== undefined);
    for (const userId of watched) {
      await there.link.subscribe(LEGACY_TENANT_ID, userId);
      await there.link.subscribe(OTHER_TENANT, userId);
    }
    await here.link.publish([event(many, 'first'), event(many, 'second')]);
    for (const userId of watched) {
      await soon(() => expect(textsFor(there, userId)).toEqual(['first', 'second']));
      expect(textsFor(there, userId, OTHER_TENANT)).toEqual([]);
    }
    here.link.close();
    there.link.close();
  },

  async 'a subscription holds until all for the user have ended, and a payload arrives byte for byte'(fixture) {
    const [here, there] = [joined(fixture), joined(fixture)];
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const end = await there.link.subscribe(LEGACY_TENANT_ID, alice);
    await there.link.subscribe(LEGACY_TENANT_ID, alice);
    end();
    end();
    const payload = Uint8Array.from({ length: 256 }, (_, n) => n);
    await here.link.publish([{ tenantId: LEGACY_TENANT_ID, userIds: [bob, alice], payload }]);
    await soon(() =>
      expect(there.heard.filter(({ userIds }) => userIds.includes(alice)).map((each) => [...each.payload])).toEqual([[...payload]]),
    );
    here.link.close();
    there.link.close();
  },

  async 'who has closed hears nothing more'(fixture) {
    const [here, there, witness] = [joined(fixture), joined(fixture), joined(fixture)];
    const alice = fixture.user('alice');
    for (const { link } of [there, witness]) await link.subscribe(LEGACY_TENANT_ID, alice);
    there.link.close();
    await here.link.publish([event([alice], 'late')]);
    await soon(() => expect(textsFor(witness, alice)).toEqual(['late']));
    expect(textsFor(there, alice)).toEqual([]);
    here.link.close();
    witness.link.close();
  },
};

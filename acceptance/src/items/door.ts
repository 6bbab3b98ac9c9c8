import { createHmac } from 'node:crypto';
import type { Item } from '../item.js';
import { mintToken } from '../people.js';
import { Device } from '../socket.js';
import type { Stage } from '../stage.js';

const LIST = 'SessionService/ListConversations';

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function unsigned(claims: object): string {
  return `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`;
}

/** The right secret under another algorithm. */
function hs512(secret: string, claims: object): string {
  const signed = `${part({ alg: 'HS512' })}.${part(claims)}`;
  return `${signed}.${createHmac('sha512', secret).update(signed).digest('base64url')}`;
}

async function badTokens(stage: Stage): Promise<Record<string, { token: string; reason: string }>> {
  const exp = Math.floor(Date.now() / 1000) + 600;
  const bad = (token: string) => ({ token, reason: 'UNAUTHENTICATED' });
  const good = await stage.token({ sub: 'mallory' });
  return {
    'no token at all': bad(''),
    'not a JWT': bad('abc'),
    expired: { token: await stage.token({ sub: 'mallory' }, -1), reason: 'TOKEN_EXPIRED' },
    'signed with another secret': bad(await mintToken('x'.repeat(64), { sub: 'mallory' })),
    'alg none': bad(unsigned({ sub: 'mallory', exp })),
    'another algorithm': bad(hs512(stage.secret, { sub: 'mallory', exp })),
    'a changed payload': bad(good.replace(/\.[^.]+\./, `.${part({ sub: 'root', exp })}.`)),
    'no subject': bad(await stage.token({})),
    'an empty subject': bad(await stage.token({ sub: '' })),
    'a null tenant': bad(await stage.token({ sub: 'mallory', tenant: null })),
    'a text as tenant': bad(await stage.token({ sub: 'mallory', tenant: '7' })),
    'a negative tenant': bad(await stage.token({ sub: 'mallory', tenant: -1 })),
    'a tenant past 2^32-1': bad(await stage.token({ sub: 'mallory', tenant: 2 ** 32 })),
  };
}

export const door: Item = {
  number: '1',
  name: 'door',
  shows: 'a valid token gets in; missing, expired, forged, wrong-algorithm and other-tenant tokens stay out',
  async run(stage) {
    const alice = await stage.person('alice');
    const bob = await stage.person('bob');
    const sent = await alice.sayTo(bob.id, 'in the legacy tenant');
    await bob.entry(sent.conversationId);

    for (const [what, { token, reason }] of Object.entries(await badTokens(stage))) {
      await stage.api.fails(LIST, token === '' ? undefined : token, {}, { code: 'unauthenticated', reason });
      const { device, answer } = await Device.hello(stage.url, token, 'phone');
      const error = answer.error as { reason?: string } | undefined;
      if (error?.reason !== reason) throw new Error(`${what}: the socket answered ${JSON.stringify(answer)}`);
      await device.until(() => device.closeCode !== undefined, 'the close');
      if (device.closeCode !== 4401) throw new Error(`${what}: closed with ${device.closeCode}`);
    }

    const elsewhere = await stage.deviceOf(bob.id, { tenant: 7 });
    if ((await elsewhere.list()).length !== 0) throw new Error('another tenant saw the list');
    await elsewhere.refused('SessionService/ReadHistory', { conversationId: sent.conversationId }, 'not_found', 'NOT_MEMBER');
  },
};

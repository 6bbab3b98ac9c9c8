import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  isQimError,
  JWKS_AGE_MS_MAX,
  JWKS_COOLDOWN_MS,
  LEGACY_TENANT_ID,
  parseDeviceId,
  parseTenantId,
  parseUserId,
  TOKEN_CHARS_MAX,
  TOKEN_CLOCK_TOLERANCE_MS_MAX,
} from '@qim/proto';
import fc from 'fast-check';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createJwksVerifier, createSecretTokens } from '../src/index.js';
import { ManualClock } from './support/clock.js';
import { OTHER_SECRET, SECRET } from './support/server.js';

const clock = new ManualClock();
const now = clock.now;
const nowSeconds = () => Math.floor(now() / 1000);
const tokens = createSecretTokens({ secrets: [SECRET], now });

function part(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

/** Signed by hand, so that claims of any JSON may stand in it. */
function signed(claims: unknown, how: { secret?: string; header?: object; hash?: string } = {}): string {
  const { secret = SECRET, header = { alg: 'HS256' }, hash = 'sha256' } = how;
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`;
}

async function refused(token: string, verifier: Pick<typeof tokens, 'verify'> = tokens): Promise<string> {
  const error: unknown = await verifier.verify(token).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return isQimError(error) ? error.code : `let in, or failed otherwise: ${String(error)}`;
}

describe('tokens by a secret', () => {
  const exp = nowSeconds() + 600;

  it('says who it is once its signature and time are right', async () => {
    expect(await tokens.verify(signed({ sub: 'alice', tenant: 7, device: 'phone', admin: true, exp }))).toEqual({
      tenantId: 7,
      userId: 'alice',
      deviceId: 'phone',
      admin: true,
      expiresAtMs: exp * 1000,
    });
  });

  it('takes a token without a tenant for the legacy tenant, without a device for none, without admin for no admin', async () => {
    expect(await tokens.verify(signed({ sub: 'alice', exp }))).toMatchObject({
      tenantId: LEGACY_TENANT_ID,
      deviceId: undefined,
      admin: false,
    });
  });

  it.each([
    ['null', null],
    ['text', '7'],
    ['negative', -1],
    ['a fraction', 1.5],
    ['past 2^32-1', 2 ** 32],
    ['true', true],
    ['a list', [7]],
  ])('refuses a tenant that is %s rather than taking it for 0', async (_, tenant) => {
    expect(await refused(signed({ sub: 'alice', tenant, exp }))).toBe('Unauthenticated');
  });

  it('takes the last tenant id', async () => {
    expect(await tokens.verify(signed({ sub: 'alice', tenant: 2 ** 32 - 1, exp }))).toMatchObject({ tenantId: 2 ** 32 - 1 });
  });

  it.each([
    ['absent', undefined],
    ['empty', ''],
    ['a number', 5],
    ['null', null],
    ['65 bytes', 'x'.repeat(65)],
    ['with a control character', 'a\u0000b'],
  ])('refuses a subject that is %s', async (_, sub) => {
    expect(await refused(signed({ sub, exp }))).toBe('Unauthenticated');
  });

  it.each([
    ['null', null],
    ['a number', 1],
    ['empty', ''],
    ['65 bytes', 'x'.repeat(65)],
  ])('refuses a device that is %s', async (_, device) => {
    expect(await refused(signed({ sub: 'alice', device, exp }))).toBe('Unauthenticated');
  });

  it.each([
    ['text', 'true'],
    ['1', 1],
    ['null', null],
  ])('takes admin that is %s for no admin', async (_, admin) => {
    expect(await tokens.verify(signed({ sub: 'alice', admin, exp }))).toMatchObject({ admin: false });
  });

  it('holds longer, and from earlier, by the tolerance of clocks and no second more', async () => {
    const tolerant = createSecretTokens({ secrets: [SECRET], now, clockToleranceMs: TOKEN_CLOCK_TOLERANCE_MS_MAX });
    const seconds = TOKEN_CLOCK_TOLERANCE_MS_MAX / 1000;
    const late = nowSeconds() - seconds;
    expect(await tolerant.verify(signed({ sub: 'alice', exp: late + 1 }))).toMatchObject({
      expiresAtMs: (late + 1) * 1000 + TOKEN_CLOCK_TOLERANCE_MS_MAX,
    });
    expect(await refused(signed({ sub: 'alice', exp: late }), tolerant)).toBe('TokenExpired');
    expect(await tolerant.verify(signed({ sub: 'alice', exp, nbf: nowSeconds() + seconds }))).toMatchObject({ userId: 'alice' });
    expect(await refused(signed({ sub: 'alice', exp, nbf: nowSeconds() + seconds + 1 }), tolerant)).toBe('Unauthenticated');
  });

  it('is expired at its second of expiry, and not before', async () => {
    expect(await refused(signed({ sub: 'alice', exp: nowSeconds() }))).toBe('TokenExpired');
    expect(await tokens.verify(signed({ sub: 'alice', exp: nowSeconds() + 1 }))).toMatchObject({ userId: 'alice' });
  });

  it('tells nobody that a forged token has expired', async () => {
    expect(await refused(signed({ sub: 'alice', exp: 1 }, { secret: OTHER_SECRET }))).toBe('Unauthenticated');
  });

  it.each([
    ['no expiry', signed({ sub: 'alice' })],
    ['an expiry in text', signed({ sub: 'alice', exp: '9999999999' })],
    ['an endless expiry', signed('{"sub":"alice","exp":1e999}')],
    ['a time before which it is not valid', signed({ sub: 'alice', exp, nbf: nowSeconds() + 1 })],
    ['another secret', signed({ sub: 'alice', exp }, { secret: OTHER_SECRET })],
    ['alg none', `${part({ alg: 'none' })}.${part({ sub: 'alice', exp })}.`],
    ['alg none with a signature', signed({ sub: 'alice', exp }, { header: { alg: 'none' } })],
    ['HS512', signed({ sub: 'alice', exp }, { header: { alg: 'HS512' }, hash: 'sha512' })],
    ['no alg', signed({ sub: 'alice', exp }, { header: {} })],
    ['a critical header that nobody knows', signed({ sub: 'alice', exp }, { header: { alg: 'HS256', crit: ['x'], x: 1 } })],
    ['claims that are no object', signed([1])],
    ['claims that are no JSON', signed('{')],
    ['nothing', ''],
    ['no JWT', 'abc'],
    ['two parts', 'a.b'],
    ['a changed payload', signed({ sub: 'mallory', exp }).replace(/\.[^.]+\./, `.${part({ sub: 'alice', exp })}.`)],
    ['more than TOKEN_CHARS_MAX', signed({ sub: 'alice', exp, more: 'x'.repeat(TOKEN_CHARS_MAX) })],
  ])('refuses a token with %s', async (_, token) => {
    expect(await refused(token)).toBe('Unauthenticated');
  });

  it('takes a token of TOKEN_CHARS_MAX characters, and no longer one', async () => {
    const least = signed({ sub: 'alice', exp, more: '' }).length;
    const ofLength = (chars: number) => {
      for (let more = Math.floor(((chars - least) * 3) / 4) - 4; ; more++) {
        const token = signed({ sub: 'alice', exp, more: 'x'.repeat(more) });
        if (token.length >= chars) return token;
      }
    };
    const longest = ofLength(TOKEN_CHARS_MAX);
    expect(longest.length).toBe(TOKEN_CHARS_MAX);
    expect(await tokens.verify(longest)).toMatchObject({ userId: 'alice' });
    expect(await refused(ofLength(TOKEN_CHARS_MAX + 1))).toBe('Unauthenticated');
  });

  it('still takes tokens of the previous secret, and signs with the current one', async () => {
    const rotated = createSecretTokens({ secrets: [OTHER_SECRET, SECRET], now });
    expect(await rotated.verify(signed({ sub: 'alice', exp }))).toMatchObject({ userId: 'alice' });
    const { token } = await rotated.mint({
      tenantId: LEGACY_TENANT_ID,
      userId: parseUserId('bob'),
      deviceId: undefined,
      admin: false,
      ttlSeconds: 60,
    });
    expect(await refused(token)).toBe('Unauthenticated');
    expect(await createSecretTokens({ secrets: [OTHER_SECRET], now }).verify(token)).toMatchObject({ userId: 'bob' });
  });

  it('verifies what it minted, to the second of its expiry', async () => {
    const claims = { tenantId: parseTenantId(9), userId: parseUserId('ålice'), deviceId: parseDeviceId('phone'), admin: true };
    const { token, expiresAtMs } = await tokens.mint({ ...claims, ttlSeconds: 60 });
    expect(expiresAtMs).toBe((nowSeconds() + 60) * 1000);
    expect(await tokens.verify(token)).toEqual({ ...claims, expiresAtMs });
  });

  it('refuses a secret of 31 bytes', () => {
    expect(() => createSecretTokens({ secrets: ['x'.repeat(31)], now })).toThrow('32 bytes');
    expect(() => createSecretTokens({ secrets: ['x'.repeat(32), 'short'], now })).toThrow('32 bytes');
    createSecretTokens({ secrets: ['x'.repeat(32)], now });
  });

  it('answers any text with a refusal and nothing else', async () => {
    const anyToken = fc.oneof(
      fc.string(),
      fc.tuple(fc.json(), fc.json(), fc.string()).map(([header, claims, rest]) => `${part(header)}.${part(claims)}.${part(rest)}`),
      fc.json().map((claims) => signed(claims)),
    );
    await fc.assert(
      fc.asyncProperty(anyToken, async (token) => {
        expect(await refused(token)).toBe('Unauthenticated');
      }),
    );
  });
});

describe('tokens by a key set', () => {
  let server: Server | undefined;
  let requests = 0;
  const exp = nowSeconds() + 600;

  afterEach(() => {
    server?.close();
    requests = 0;
  });

  async function keyServer(answer: () => { status?: number; body: string }): Promise<URL> {
    const started = createServer((_, response) => {
      requests++;
      const { status = 200, body } = answer();
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
    server = started;
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
    return new URL(`http://127.0.0.1:${(started.address() as AddressInfo).port}/jwks.json`);
  }

  async function pair(alg: string, kid?: string) {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const sign = (claims: Record<string, unknown>) =>
      new SignJWT({ exp, ...claims }).setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) }).sign(privateKey);
    return { sign, jwk: { ...(await exportJWK(publicKey)), alg, ...(kid === undefined ? {} : { kid }) } };
  }

  it.each(['RS256', 'ES256', 'EdDSA'])('takes %s', async (alg) => {
    const { sign, jwk } = await pair(alg, 'one');
    const verifier = createJwksVerifier({ url: await keyServer(() => ({ body: JSON.stringify({ keys: [jwk] }) })), now });
    expect(await verifier.verify(await sign({ sub: 'alice', tenant: 3 }))).toMatchObject({ userId: 'alice', tenantId: 3 });
  });

  it('asks the key server once for many tokens, and not for each unknown key id', async () => {
    const { sign, jwk } = await pair('ES256', 'one');
    const stranger = await pair('ES256', 'two');
    const verifier = createJwksVerifier({ url: await keyServer(() => ({ body: JSON.stringify({ keys: [jwk] }) })), now });
    for (let i = 0; i < 3; i++) {
      await verifier.verify(await sign({ sub: 'alice' }));
      expect(await refused(await stranger.sign({ sub: 'alice' }), verifier)).toBe('Unauthenticated');
    }
    expect(requests).toBe(1);
  });

  it('takes a new key once it may look again, and refuses a withdrawn one when what it has is too old', async () => {
    // Of the key set's own clock; its timers are left alone.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    const [first, second] = [await pair('ES256', 'one'), await pair('ES256', 'two')];
    let published = [first.jwk];
    const verifier = createJwksVerifier({ url: await keyServer(() => ({ body: JSON.stringify({ keys: published }) })), now });
    const verdict = async ({ sign }: typeof first) => {
      const token = await sign({ sub: 'alice' });
      return verifier.verify(token).then(
        () => 'taken',
        (error: unknown) => (isQimError(error) ? error.code : error),
      );
    };
    expect([await verdict(first), await verdict(second)]).toEqual(['taken', 'Unauthenticated']);
    published = [second.jwk, first.jwk];
    expect(await verdict(second)).toBe('Unauthenticated');
    vi.setSystemTime(Date.now() + JWKS_COOLDOWN_MS);
    expect([await verdict(second), await verdict(first)]).toEqual(['taken', 'taken']);
    published = [second.jwk];
    vi.setSystemTime(Date.now() + JWKS_AGE_MS_MAX - 1);
    expect(await verdict(first)).toBe('taken');
    vi.setSystemTime(Date.now() + 1);
    expect([await verdict(first), await verdict(second)]).toEqual(['Unauthenticated', 'taken']);
  });

  it('tries every key that fits when tokens name none', async () => {
    const [first, second] = [await pair('ES256'), await pair('ES256')];
    const body = JSON.stringify({ keys: [first.jwk, second.jwk] });
    const verifier = createJwksVerifier({ url: await keyServer(() => ({ body })), now });
    expect(await verifier.verify(await second.sign({ sub: 'alice' }))).toMatchObject({ userId: 'alice' });
    expect(await refused(await second.sign({ sub: 'alice', exp: 1 }), verifier)).toBe('TokenExpired');
    expect(await refused(await (await pair('ES256')).sign({ sub: 'alice' }), verifier)).toBe('Unauthenticated');
  });

  it('refuses HS256 by a public key, other algorithms, and another issuer or audience', async () => {
    const { sign, jwk } = await pair('RS256', 'one');
    const ps = await pair('PS256', 'two');
    const url = await keyServer(() => ({ body: JSON.stringify({ keys: [jwk, ps.jwk] }) }));
    const verifier = createJwksVerifier({ url, now, issuer: 'us', audience: 'qim' });
    expect(await verifier.verify(await sign({ sub: 'alice', iss: 'us', aud: 'qim' }))).toMatchObject({ userId: 'alice' });
    expect(await refused(await sign({ sub: 'alice', iss: 'them', aud: 'qim' }), verifier)).toBe('Unauthenticated');
    expect(await refused(await sign({ sub: 'alice', iss: 'us', aud: 'other' }), verifier)).toBe('Unauthenticated');
    expect(await refused(await ps.sign({ sub: 'alice', iss: 'us', aud: 'qim' }), verifier)).toBe('Unauthenticated');
    const byPublicKey = signed(
      { sub: 'alice', iss: 'us', aud: 'qim', exp },
      { secret: JSON.stringify(jwk), header: { alg: 'HS256', kid: 'one' } },
    );
    expect(await refused(byPublicKey, verifier)).toBe('Unauthenticated');
  });

  it.each([
    ['answers with a fault', { status: 500, body: '{}' }],
    ['answers with a redirect', { status: 302, body: '{}' }],
    ['answers with no JSON', { body: '<html>' }],
    ['answers with no keys', { body: '{}' }],
  ])('is unavailable, not refused, while the key server %s', async (_, answer) => {
    const { sign } = await pair('ES256', 'one');
    const verifier = createJwksVerifier({ url: await keyServer(() => answer), now });
    expect(await refused(await sign({ sub: 'alice' }), verifier)).toBe('StoreUnavailable');
  });

  it('is unavailable, not refused, while no key server listens', async () => {
    const { sign } = await pair('ES256', 'one');
    const url = await keyServer(() => ({ body: '' }));
    await new Promise((resolve) => server?.close(resolve));
    expect(await refused(await sign({ sub: 'alice' }), createJwksVerifier({ url, now }))).toBe('StoreUnavailable');
  });
});

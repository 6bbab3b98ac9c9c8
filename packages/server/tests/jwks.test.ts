/** Tokens that somebody else signs: a server with `--jwks-url` in place of a secret. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openMemoryStore } from '@qim/store/memory';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../src/config.js';
import { startServer } from '../src/server.js';
import { call, testIo } from './running.js';

const LIST = 'qim.v1.SessionService/ListConversations';

function jwt(key: KeyObject, claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 600;
  const signed = `${part({ alg: 'EdDSA', kid: 'k1' })}.${part({ exp, ...claims })}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

async function serverWithKeys(flags: { jwksIssuer?: string; jwksAudience?: string } = {}) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const body = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'EdDSA', use: 'sig' }] });
  const keys = createServer((_, response) => response.setHeader('content-type', 'application/json').end(body)).listen(0, '127.0.0.1');
  await once(keys, 'listening');
  onTestFinished(() => void keys.close());
  const jwksUrl = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/keys`;
  const config = loadConfig({ flags: { port: '0', logLevel: 'silent', jwksUrl, ...flags }, environment: {} });
  const server = await startServer(config, testIo(openMemoryStore({ now: Date.now })));
  onTestFinished(() => server.stop());
  return { privateKey, ask: async (token: string, method = LIST, more = {}) => (await call(server.url, method, token, more)).status };
}

test('a token by a key of the JWKS is taken, and one by another key is not', async () => {
  const { privateKey, ask } = await serverWithKeys();
  expect(await ask(jwt(privateKey, { sub: 'alice' }))).toBe(200);
  expect(await ask(jwt(generateKeyPairSync('ed25519').privateKey, { sub: 'alice' }))).toBe(401);
});

test('--jwks-issuer and --jwks-audience are compared with the token', async () => {
  const { privateKey, ask } = await serverWithKeys({ jwksIssuer: 'https://id.example', jwksAudience: 'qim' });
  const right = { sub: 'alice', iss: 'https://id.example', aud: ['qim', 'other'] };
  expect(await ask(jwt(privateKey, right))).toBe(200);
  expect(await ask(jwt(privateKey, { ...right, iss: 'https://id.example.evil' }))).toBe(401);
  expect(await ask(jwt(privateKey, { ...right, aud: 'other' }))).toBe(401);
  expect(await ask(jwt(privateKey, { sub: 'alice' }))).toBe(401);
});

test('a server that signs no tokens does not mint any', async () => {
  const { privateKey, ask } = await serverWithKeys();
  expect(await ask(jwt(privateKey, { sub: 'backend', admin: true }), 'qim.v1.AdminService/MintToken', { userId: 'alice' })).toBe(501);
});

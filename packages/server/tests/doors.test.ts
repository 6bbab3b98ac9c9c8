/** TLS by file, and pages of other origins, against a whole server. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { openMemoryStore } from '@qim/store/memory';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { StartError } from '../src/errors.js';
import { startTestServer, type TestServer, temporaryFolder } from './running.js';
import { CERTIFICATE, KEY, OTHER_KEY } from './tls-certificate.js';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function files(cert: string, key: string) {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const [tlsCertFile, tlsKeyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  await Promise.all([writeFile(tlsCertFile, cert), writeFile(tlsKeyFile, key)]);
  return { tlsCertFile, tlsKeyFile };
}

async function refused(flags: Parameters<typeof startTestServer>[0]): Promise<string> {
  const error: unknown = await startTestServer(flags).then(
    () => undefined,
    (why: unknown) => why,
  );
  return error instanceof StartError ? `${error.code}: ${error.message}` : `started, or ${String(error)}`;
}

describe('a server with --tls-cert-file and --tls-key-file', () => {
  test('speaks HTTPS and wss, and tells browsers to come back so', async () => {
    server = await startTestServer(await files(CERTIFICATE, KEY));
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/$/);
    const asked = request(new URL('/healthz', server.url), { ca: CERTIFICATE }).end();
    const [response] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
    response.resume();
    expect([response.statusCode, response.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000']);
    const socket = new WebSocket(new URL('/ws', server.url.replace(/^https/, 'wss')), ['qim.v1+json'], { ca: CERTIFICATE });
    await once(socket, 'open');
    socket.send(JSON.stringify({ id: 0, hello: { token: await server.token({ user: 'alice' }) } }));
    const [frame] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(String(frame))).toMatchObject({ welcome: { userId: 'alice' } });
    socket.terminate();
  });

  test('answers nothing to who speaks plain HTTP', async () => {
    server = await startTestServer(await files(CERTIFICATE, KEY));
    await expect(fetch(server.url.replace(/^https/, 'http'))).rejects.toThrow('fetch failed');
  });

  test.each([
    ['the key of another certificate', CERTIFICATE, OTHER_KEY],
    ['no certificate', 'nothing', KEY],
    ['no key', CERTIFICATE, 'nothing'],
  ])('does not start with %s, and says so without a word of the files', async (_, cert, key) => {
    const message = await refused(await files(cert, key));
    expect(message).toMatch(/^BadCertificate: .*cert\.pem and .*key\.pem are no certificate and its key/);
    expect(message).not.toContain(OTHER_KEY.split('\n')[1]);
  });

  test('does not start where a file is missing', async () => {
    expect(await refused({ ...(await files(CERTIFICATE, KEY)), tlsKeyFile: '/nowhere/key.pem' })).toBe(
      'BadCertificate: cannot read /nowhere/key.pem: ENOENT',
    );
  });
});

describe('pages of other origins', () => {
  const PAGE = 'https://chat.example';
  const LIST = 'qim.v1.SessionService/ListConversations';
  const ask = async (origin: string, method: 'OPTIONS' | 'POST') => {
    if (server === undefined) throw new Error('no server');
    const token = await server.token({ user: 'alice' });
    const asking = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type' };
    const calling = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = method === 'POST' ? { body: '{}' } : {};
    return fetch(new URL(`/${LIST}`, server.url), { method, headers: { origin, ...(method === 'POST' ? calling : asking) }, ...init });
  };

  test('may call where they are allowed, without credentials of the browser', async () => {
    server = await startTestServer({ allowedOrigins: PAGE });
    const before = await ask(PAGE, 'OPTIONS');
    expect([before.status, before.headers.get('access-control-allow-origin')]).toEqual([204, PAGE]);
    for (const name of ['Authorization', 'Content-Type', 'Connect-Protocol-Version', 'Qim-On-Behalf-Of']) {
      expect(before.headers.get('access-control-allow-headers')).toContain(name);
    }
    const answer = await ask(PAGE, 'POST');
    expect([answer.status, answer.headers.get('access-control-allow-origin'), answer.headers.get('vary')]).toEqual([200, PAGE, 'Origin']);
    expect(answer.headers.get('access-control-expose-headers')).toContain('Retry-After');
    for (const { headers } of [before, answer]) expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  test.each(['https://evil.example', 'https://chat.example.evil', 'http://chat.example', 'null'])(
    'get no leave when they are of %s',
    async (origin) => {
      server = await startTestServer({ allowedOrigins: PAGE });
      for (const method of ['OPTIONS', 'POST'] as const) {
        const { status, headers } = await ask(origin, method);
        expect(headers.get('access-control-allow-origin')).toBeNull();
        expect(headers.get('access-control-allow-headers')).toBeNull();
        if (method === 'OPTIONS') expect(status).not.toBe(204);
      }
    },
  );

  test('get no leave where none is allowed', async () => {
    server = await startTestServer({}, { store: openMemoryStore({ now: Date.now }) });
    expect((await ask(PAGE, 'OPTIONS')).headers.get('access-control-allow-origin')).toBeNull();
  });
});

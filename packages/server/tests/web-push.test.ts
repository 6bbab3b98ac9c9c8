/** Whole servers and a push service of the test's own: what browsers get, and what they are never sent. */
import { createECDH, generateKeyPairSync } from 'node:crypto';
import { WEB_PUSH_ENDPOINT_BYTES_MAX } from '@qim/proto';
import { openMemoryStore } from '@qim/store/memory';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../src/config.js';
import { webPushOf } from '../src/web-push/web-push.js';
import { type Browser, startPushService } from './push-receiver.js';
import { startTestServer, type TestServer } from './running.js';
import { CERTIFICATE } from './tls-certificate.js';
import { vapidKeyFile } from './vapid-key.js';
import { eventually, send } from './webhook-receiver.js';

const SUBJECT = 'mailto:ops@chat.example';

/** --dev, because the push service is on this machine. */
async function serve(flags: Parameters<typeof startTestServer>[0] = {}, store = openMemoryStore({ now: Date.now })) {
  const server = await startTestServer({ dev: 'true', vapidKeyFile: await vapidKeyFile(), vapidSubject: SUBJECT, ...flags }, { store });
  onTestFinished(() => server.stop());
  return server;
}

async function register(server: TestServer, user: string, browser: Browser, device?: string): Promise<Response> {
  const token = await server.token({ user, ...(device === undefined ? {} : { device }) });
  return server.call('qim.v1.PushService/RegisterWebPush', token, browser);
}

const metrics = async (server: TestServer) => (await fetch(new URL('/metrics', server.url))).text();

describe('a browser of a user who is away', () => {
  test('gets the badge that the list shows and where to look, signed and encrypted, and nothing that was written', async () => {
    const service = await startPushService();
    const server = await serve();
    expect((await register(server, 'bob', service.browser('bobs'), 'phone')).status).toBe(200);
    await send(server, 'alice', { toUserId: 'bob' });
    const sent = await send(server, 'alice', { toUserId: 'bob', text: 'another secret' });
    await eventually(() => expect(service.pushed).toHaveLength(2));
    expect(service.wrong).toEqual([]);
    const { message } = (await sent.json()) as { message: { conversationId: string; messageId: string } };
    const key = await (await server.call('qim.v1.PushService/GetWebPushKey', await server.token({ user: 'bob' }), {})).json();
    for (const { headers, claims, publicKey } of service.pushed) {
      expect({ publicKey }).toEqual(key);
      expect([claims.aud, claims.sub]).toEqual([service.origin, SUBJECT]);
      expect(claims.exp * 1_000).toBeGreaterThan(Date.now());
      expect(claims.exp * 1_000).toBeLessThan(Date.now() + 24 * 60 * 60 * 1_000);
      expect(headers).toMatchObject({ 'content-encoding': 'aes128gcm', ttl: '86400', urgency: 'high' });
    }
    // Of one conversation a browser that was off gets the newest alone.
    expect(new Set(service.pushed.map(({ headers }) => headers.topic)).size).toBe(1);
    const totals = await (await server.call('qim.v1.SessionService/GetTotals', await server.token({ user: 'bob' }), {})).json();
    const last = service.pushed.find(({ payload }) => payload.messageId === message.messageId);
    expect(last?.payload).toEqual({
      type: 'message',
      tenantId: 0,
      userId: 'bob',
      conversationId: message.conversationId,
      conversationSeq: '2',
      messageId: message.messageId,
      badge: totals,
    });
    await eventually(async () => expect(await server.store.hooks.backlog()).toMatchObject({ waiting: 0, dead: 0 }));
    expect(await metrics(server)).toContain('qim_web_push_total{outcome="taken"} 2');
  });

  test('gets who wrote and the beginning of the text where the operator lets it', async () => {
    const service = await startPushService();
    const server = await serve({ webPushContent: 'true' });
    await register(server, 'bob', service.browser('bobs'));
    await send(server, 'alice', { toUserId: 'bob', text: `hello ${'é'.repeat(1_000)}` });
    await eventually(() => expect(service.pushed).toHaveLength(1));
    expect(service.pushed[0]?.payload).toMatchObject({ senderUserId: 'alice', text: `hello ${'é'.repeat(125)}`, truncated: true });
  });

  test('gets nothing after it was unregistered, and another one of the same device takes its place', async () => {
    const service = await startPushService();
    const server = await serve();
    const [old, fresh, desk] = [service.browser('old'), service.browser('new'), service.browser('desk')];
    await register(server, 'bob', old, 'phone');
    await register(server, 'bob', fresh, 'phone');
    await register(server, 'bob', desk, 'desk');
    const bob = await server.token({ user: 'bob' });
    const gone = await server.call('qim.v1.PushService/UnregisterWebPush', bob, { endpoint: desk.endpoint });
    expect(gone.status).toBe(200);
    await send(server, 'alice', { toUserId: 'bob' });
    await eventually(async () => {
      expect(await server.store.hooks.backlog()).toMatchObject({ waiting: 0 });
      expect(service.pushed.map(({ path }) => path)).toEqual(['/new']);
    });
  });
});

test('404 and 410 remove the subscription; a redirect is not followed, and keeps it', async () => {
  const service = await startPushService();
  const server = await serve({ logLevel: 'warn' });
  const statuses: Record<string, number> = { '/never': 404, '/gone': 410, '/moved': 307, '/kept': 201 };
  for (const path of Object.keys(statuses)) await register(server, 'bob', service.browser(path.slice(1)));
  const asked: string[] = [];
  service.answering((path) => {
    asked.push(path);
    return statuses[path] ?? 201;
  });
  await send(server, 'alice', { toUserId: 'bob' });
  await eventually(() => expect(asked).toHaveLength(4));
  await send(server, 'alice', { toUserId: 'bob' });
  await eventually(() => expect(asked).toHaveLength(6));
  expect(asked.slice(4).sort()).toEqual(['/kept', '/moved']);
  const logged = server.lines.err.join('\n');
  expect(logged).toContain('a push service refused a notification');
  for (const word of [service.origin, '/moved', 'a secret']) expect(logged).not.toContain(word);
});

test('what was not sent when a server stopped is sent by the next one', async () => {
  const service = await startPushService();
  const file = await vapidKeyFile();
  const store = { ...openMemoryStore({ now: Date.now }), close: async () => {} };
  const first = await serve({ vapidKeyFile: file }, store);
  await register(first, 'bob', service.browser('bobs'));
  service.answering(() => 503);
  await send(first, 'alice', { toUserId: 'bob' });
  await eventually(async () => expect(await metrics(first)).toContain('qim_web_push_total{outcome="failed"}'));
  await first.stop();
  service.answering(() => 201);
  await serve({ vapidKeyFile: file }, store);
  await eventually(() => expect(service.pushed).toHaveLength(1));
});

test('over HTTPS it is sent to who has the certificate, and to nobody else', async () => {
  const service = await startPushService({ tls: true });
  const options = { dev: true, vapidKeyFile: await vapidKeyFile(), vapidSubject: SUBJECT, webPushContent: false, log: { warn: () => {} } };
  const { endpoint, p256dh, auth } = service.browser('bobs');
  const notification = { ...(await anyNotification()), subscription: { endpoint, p256dh, auth, deviceId: undefined } };
  const trusting = await webPushOf({ ...options, ca: CERTIFICATE });
  const { signal } = new AbortController();
  for (let n = 0; n < 3; n += 1) expect(await trusting?.send(notification, signal)).toBe('taken');
  expect([service.pushed.length, service.connections()]).toEqual([3, 1]);
  expect(await (await webPushOf(options))?.send(notification, signal)).toBe('failed');
  expect(service.pushed).toHaveLength(3);
  const broken = { ...notification, subscription: { ...notification.subscription, p256dh: 'no key' } };
  expect(await trusting?.send(broken, signal)).toBe('refused');
  // The rule of a server that is no --dev one, whatever was registered.
  expect(await (await webPushOf({ ...options, dev: false, ca: CERTIFICATE }))?.send(notification, signal)).toBe('refused');
});

test('a push service that never answers is given up after the time of one call, and at once when the server stops', async () => {
  const service = await startPushService();
  service.answering(() => 'never');
  const options = { dev: true, vapidKeyFile: await vapidKeyFile(), vapidSubject: SUBJECT, webPushContent: false, log: { warn: () => {} } };
  const notification = { ...(await anyNotification()), subscription: { ...service.browser('bobs'), deviceId: undefined } };
  const patient = await webPushOf(options);
  const stop = new AbortController();
  const waiting = patient?.send(notification, stop.signal);
  await eventually(() => expect(service.connections()).toBe(1));
  stop.abort();
  expect(await waiting).toBe('failed');
  const hasty = await webPushOf({ ...options, timeoutMs: 50 });
  expect(await hasty?.send(notification, new AbortController().signal)).toBe('failed');
});

/** Of a message that was sent. */
async function anyNotification() {
  const server = await serve();
  await send(server, 'alice', { toUserId: 'bob' });
  const [message] = await server.store.messages.readMessages(...(await onlyMessage(server)));
  if (message === undefined) throw new Error('it was sent');
  const badge = { unreadConversations: 1, unreadCount: 1, mentionCount: 0, exact: true };
  return { userId: message.record.sender.userId, message, badge };
}

async function onlyMessage(server: TestServer): Promise<Parameters<TestServer['store']['messages']['readMessages']>> {
  const list = await server.call('qim.v1.SessionService/ListConversations', await server.token({ user: 'bob' }), {});
  const { conversations } = (await list.json()) as { conversations: readonly { readonly conversationId: string }[] };
  const place = conversations[0]?.conversationId as Parameters<TestServer['store']['messages']['readMessages']>[1];
  return [0 as Parameters<TestServer['store']['messages']['readMessages']>[0], place, [1 as never]];
}

describe('a subscription', () => {
  const point = createECDH('prime256v1').generateKeys();
  const good: Browser = {
    endpoint: 'https://push.example/bobs',
    p256dh: point.toString('base64url'),
    auth: Buffer.alloc(16).toString('base64url'),
  };
  const offCurve = Buffer.from(point);
  offCurve[64] = (offCurve[64] ?? 0) ^ 1;
  const ofLength = (length: number) => `https://push.example/${'x'.repeat(length - 'https://push.example/'.length)}`;

  test('is refused by the field that is wrong, and taken at its bounds', async () => {
    const server = await startTestServer({ vapidKeyFile: await vapidKeyFile(), vapidSubject: SUBJECT });
    onTestFinished(() => server.stop());
    const cases: readonly (readonly [Partial<Browser>, string])[] = [
      [{ endpoint: 'http://push.example/bobs' }, 'endpoint'],
      [{ endpoint: 'https://127.0.0.1/bobs' }, 'endpoint'],
      [{ endpoint: ofLength(WEB_PUSH_ENDPOINT_BYTES_MAX + 1) }, 'endpoint'],
      [{ p256dh: '' }, 'p256dh'],
      [{ p256dh: offCurve.toString('base64url') }, 'p256dh'],
      [{ p256dh: createECDH('prime256v1').generateKeys('base64url', 'compressed') }, 'p256dh'],
      [{ auth: Buffer.alloc(15).toString('base64url') }, 'auth'],
      [{ auth: Buffer.alloc(17).toString('base64url') }, 'auth'],
      [{ auth: `${good.auth}==` }, 'auth'],
    ];
    for (const [part, field] of cases) {
      const answer = await register(server, 'bob', { ...good, ...part });
      const text = await answer.text();
      expect([JSON.stringify(part).slice(0, 60), answer.status, text.includes(`"field":"${field}"`)]).toEqual([
        JSON.stringify(part).slice(0, 60),
        400,
        true,
      ]);
    }
    for (const endpoint of [good.endpoint, ofLength(WEB_PUSH_ENDPOINT_BYTES_MAX)]) {
      expect((await register(server, 'bob', { ...good, endpoint })).status).toBe(200);
    }
  });

  test('is not taken by a server that sends none, which says so and has no key', async () => {
    const server = await startTestServer();
    onTestFinished(() => server.stop());
    expect((await register(server, 'bob', good)).status).toBe(501);
    const key = await server.call('qim.v1.PushService/GetWebPushKey', await server.token({ user: 'bob' }), {});
    expect(await key.json()).toEqual({ publicKey: '' });
  });
});

test('a server does not start with a file that is no private key of P-256, nor with half of the settings', async () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey.export({ format: 'pem', type: 'pkcs8' });
  const other = generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey.export({ format: 'pem', type: 'pkcs8' });
  const half = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'pem', type: 'spki' });
  for (const pem of [rsa, other, half, 'no key']) {
    const file = await vapidKeyFile(pem);
    await expect(startTestServer({ vapidKeyFile: file, vapidSubject: SUBJECT })).rejects.toMatchObject({ code: 'BadSecret' });
  }
  expect(() => loadConfig({ flags: { dev: 'true', vapidKeyFile: 'x' }, environment: {} })).toThrow('--vapid-subject');
  expect(() => loadConfig({ flags: { dev: 'true', vapidSubject: 'ops', vapidKeyFile: 'x' }, environment: {} })).toThrow('mailto');
});

/** A push service and the browsers that it serves: takes what is posted, checks who signed it, and decrypts it, by the RFCs alone. */
import { createDecipheriv, createECDH, createPublicKey, type ECDH, hkdfSync, randomBytes, verify } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { CERTIFICATE, KEY } from './tls-certificate.js';

export interface Pushed {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Decrypted. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** Of the signed token, once its signature was checked by the key that stands beside it. */
  readonly claims: { readonly aud: string; readonly exp: number; readonly sub: string };
  readonly publicKey: string;
}

/** As PushSubscription.toJSON has it, but flat. */
export interface Browser {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

export interface PushService {
  readonly origin: string;
  readonly pushed: Pushed[];
  /** That were made to it so far. */
  readonly connections: () => number;
  /** What was wrong with what came. */
  readonly wrong: unknown[];
  browser(name: string): Browser;
  /** By the path of the endpoint; `never`: the connection stays, and nothing is said. */
  answering(next: (path: string) => number | 'never'): void;
}

export async function startPushService({ tls = false } = {}): Promise<PushService> {
  const keys = new Map<string, { readonly ecdh: ECDH; readonly auth: Buffer }>();
  const pushed: Pushed[] = [];
  const wrong: unknown[] = [];
  let answer: (path: string) => number | 'never' = () => 201;
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const status = answer(path);
    if (status === 'never') return;
    try {
      const key = keys.get(path);
      if (key === undefined) throw new Error(`nobody subscribed at ${path}`);
      if (status < 300) pushed.push({ path, headers: request.headers, ...signed(request.headers), payload: decrypted(key, parts) });
    } catch (error) {
      wrong.push(error);
    }
    const body = 'x'.repeat(1_000);
    response.writeHead(status, { 'content-length': body.length, ...(status === 307 ? { location: '/elsewhere' } : {}) }).end(body);
  };
  const listener: RequestListener = (request, response) => void take(request, response);
  const server = tls ? createTlsServer({ cert: CERTIFICATE, key: KEY }, listener) : createServer(listener);
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const origin = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    pushed,
    connections: () => connections,
    wrong,
    browser(name) {
      const ecdh = createECDH('prime256v1');
      const p256dh = ecdh.generateKeys().toString('base64url');
      const auth = randomBytes(16);
      keys.set(`/${name}`, { ecdh, auth });
      return { endpoint: `${origin}/${name}`, p256dh, auth: auth.toString('base64url') };
    },
    answering: (next) => {
      answer = next;
    },
  };
}

/** RFC 8291 section 3.4 and RFC 8188: one record, which is the last one. */
function decrypted({ ecdh, auth }: { readonly ecdh: ECDH; readonly auth: Buffer }, parts: readonly Buffer[]) {
  const body = Buffer.concat(parts);
  const salt = body.subarray(0, 16);
  const idLength = body[20] ?? 0;
  const theirs = body.subarray(21, 21 + idLength);
  const sealed = body.subarray(21 + idLength);
  if (body.readUInt32BE(16) < sealed.length) throw new Error('more than one record');
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), theirs]);
  const secret = Buffer.from(hkdfSync('sha256', ecdh.computeSecret(theirs), auth, info, 32));
  const key = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: aes128gcm\0', 16));
  const nonce = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: nonce\0', 12));
  const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(sealed.subarray(-16));
  const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  const end = plain.lastIndexOf(2);
  return JSON.parse(plain.subarray(0, end).toString('utf8')) as Pushed['payload'];
}

/** RFC 8292 section 3: the token verifies by the key that is sent along. */
function signed({ authorization = '' }: IncomingHttpHeaders): Pick<Pushed, 'claims' | 'publicKey'> {
  const [, token = '', publicKey = ''] = /^vapid t=([^,\s]+), ?k=([^,\s]+)$/.exec(authorization) ?? [];
  const [head = '', body = '', signature = ''] = token.split('.');
  const point = Buffer.from(publicKey, 'base64url');
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')];
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  const genuine = verify('sha256', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
  if (!genuine) throw new Error('the token is not signed by its key');
  return { claims: JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as Pushed['claims'], publicKey };
}

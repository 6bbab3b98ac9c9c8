/** What the HTTP server answers beside the API: health, metrics, the page, --dev's login; and the headers of every answer. */
import fastifyStatic from '@fastify/static';
import {
  HTTP_BODY_BYTES_MAX,
  invalidArgument,
  LEGACY_TENANT_ID,
  parseDeviceId,
  parseUserId,
  payloadTooLarge,
  READY_TIMEOUT_MS,
  TOKEN_TTL_SECONDS_DEFAULT,
} from '@qim/proto';
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import type { Clock } from './clock.js';
import type { GatewayOptions, TokenMinter } from './contract.js';
import { allowOrigin } from './cors.js';
import { unknownMethod } from './dispatch.js';
import { hostIsAllowed, originIsAllowed } from './origin.js';
import { plainError } from './plain-error.js';
import { REQUEST_ID } from './request-id.js';
import type { Work } from './work.js';

/** Scripts, styles and connections from here alone; pictures also from within the page. Nobody may frame it. */
const PAGE_POLICY = [
  "default-src 'self'",
  "connect-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** The page needs none of them. */
const NO_DEVICES = 'camera=(), geolocation=(), microphone=(), payment=(), usb=()';

const HEADERS = {
  'content-security-policy': PAGE_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': NO_DEVICES,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/** Names of the build's own making, such as app-3f9a.js, never change their content. */
const HASHED_NAMES = /\/assets\//;

/** A year, by RFC 6797: a browser that was here over TLS comes back over TLS alone. */
const OVER_TLS = { 'strict-transport-security': 'max-age=31536000' } as const;

export function registerDoor(
  app: FastifyInstance,
  { devLogin, log, tls, allowedOrigins = [] }: Pick<GatewayOptions, 'devLogin' | 'log' | 'tls' | 'allowedOrigins'>,
): void {
  const headers = { ...HEADERS, ...(tls === undefined ? {} : OVER_TLS) };
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...headers, [REQUEST_ID]: request.id });
    // Also for the API: its library would leave a request without a usable host unanswered.
    if (!hostIsAllowed(request.headers.host, devLogin)) {
      await reply.code(403).send({ code: 'permission_denied', message: 'no such host' });
      return;
    }
    if (allowOrigin(request, reply, allowedOrigins)) return reply;
  });
  app.setNotFoundHandler((request, reply) => {
    if (request.url.startsWith('/qim.v1.')) return reply.code(404).send(plainError(unknownMethod()).body);
    return reply.code(404).send({ code: 'not_found', message: 'no such path' });
  });
  app.setErrorHandler((error: FastifyError, request, reply) => answerError(error, reply, request.id, log));
}

function answerError(error: FastifyError, reply: FastifyReply, requestId: string, log: GatewayOptions['log']): FastifyReply {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return sendError(reply, payloadTooLarge('body', HTTP_BODY_BYTES_MAX));
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return reply.code(415).send({ code: 'invalid_argument', message: 'the content type must be application/json or application/proto' });
  }
  const status = error.statusCode ?? 500;
  if (error.code?.startsWith('FST_ERR_CTP_') || error instanceof SyntaxError) return sendError(reply, invalidArgument('body', 'JSON'));
  if (status >= 400 && status < 500) return reply.code(status).send({ code: 'invalid_argument', message: 'malformed request' });
  log.error({ requestId, err: error }, 'a request failed unexpectedly');
  return sendError(reply, error);
}

function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  const { status, body } = plainError(error);
  return reply.code(status).send(body);
}

export function registerHealth(app: FastifyInstance, options: GatewayOptions, work: Work, clock: Clock): void {
  const { ackDurability, ackReplicas = 0 } = options;
  const worth = { ackDurability, ...(ackReplicas > 0 ? { ackReplicas } : {}) };
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_, reply) => {
    const reason = work.stopping ? 'stopping' : (await answersInTime(options.ready, clock)) ? undefined : 'store';
    if (reason === undefined) return { ready: true, ...worth };
    return reply.code(503).send({ ready: false, reason, ...worth });
  });
  app.get('/metrics', async (_, reply) => {
    const { contentType, text } = await options.metrics();
    return reply.type(contentType).send(text);
  });
}

async function answersInTime(ready: () => Promise<void>, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(READY_TIMEOUT_MS, () => resolve(false));
    const settle = (answered: boolean) => {
      cancel();
      resolve(answered);
    };
    ready().then(
      () => settle(true),
      () => settle(false),
    );
  });
}

/** For one's own machine: a token for whoever asks. */
export function registerDevLogin(app: FastifyInstance, minter: TokenMinter, allowedOrigins: readonly string[]): void {
  app.post('/dev/login', async (request, reply) => {
    const { origin, host } = request.headers;
    if (!originIsAllowed(origin, host, allowedOrigins))
      return reply.code(403).send({ code: 'permission_denied', message: 'no such origin' });
    try {
      const { userId, deviceId } = loginOf(request.body);
      const { token } = await minter.mint({
        tenantId: LEGACY_TENANT_ID,
        userId,
        deviceId,
        admin: false,
        ttlSeconds: TOKEN_TTL_SECONDS_DEFAULT,
      });
      return { token };
    } catch (error) {
      return sendError(reply, error);
    }
  });
}

function loginOf(body: unknown) {
  if (typeof body !== 'object' || body === null) throw invalidArgument('body', 'a JSON object');
  const { user, device } = body as { user?: unknown; device?: unknown };
  return {
    userId: parseUserId(typeof user === 'string' ? user : '', 'user'),
    deviceId: device === undefined ? undefined : parseDeviceId(typeof device === 'string' ? device : '', 'device'),
  };
}

export async function registerPage(app: FastifyInstance, folder: string): Promise<void> {
  await app.register(fastifyStatic, {
    root: folder,
    dotfiles: 'ignore',
    cacheControl: false,
    setHeaders: (response, path) => {
      response.setHeader('cache-control', HASHED_NAMES.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache');
    },
  });
}

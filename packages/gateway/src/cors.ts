/**
 * The API for pages of other origins that the operator has allowed: what browsers ask before, and what they let a page read.
 * No cookie is ever looked at, so that credentials are not allowed and a page acts by the token that it holds.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';

const ALLOWED_METHODS = 'GET, POST';
/** What Connect, gRPC-Web and this API's clients send. */
const ALLOWED_HEADERS = [
  ...['Authorization', 'Content-Type', 'Qim-On-Behalf-Of', 'Qim-Request-Id'],
  ...['Connect-Protocol-Version', 'Connect-Timeout-Ms', 'Grpc-Timeout', 'X-Grpc-Web', 'X-User-Agent'],
].join(', ');
const EXPOSED_HEADERS = 'Qim-Request-Id, Retry-After, Grpc-Status, Grpc-Message';
/** How long a browser need not ask again. Seconds. */
const REMEMBERED = '600';

/** True: it was the browser's question, and is answered. Others than the allowed origins get nothing of it. */
export function allowOrigin(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return false;
  reply.header('vary', 'Origin');
  const { origin } = request.headers;
  if (origin === undefined || !allowed.includes(origin)) return false;
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS });
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
  reply
    .code(204)
    .headers({
      'access-control-allow-methods': ALLOWED_METHODS,
      'access-control-allow-headers': ALLOWED_HEADERS,
      'access-control-max-age': REMEMBERED,
    })
    .send();
  return true;
}

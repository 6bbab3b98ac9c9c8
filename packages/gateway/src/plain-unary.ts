/**
 * The short way of a plain unary POST: the same paths, tokens, checks, answers and errors as Connect's own handler gives, byte
 * for byte, without what that one builds around a call (headers twice, an abort signal, a context, iterators over bodies).
 *
 * Whatever is not plain goes on to Connect: another method than POST, another content type, an encoding, another version of
 * the protocol, a stream. `--fast-paths false` leaves this out.
 */
import type { IncomingMessage } from 'node:http';
import { type DescMessage, type Message, toBinary, toJson } from '@bufbuild/protobuf';
import { codeToHttpStatus, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import type { MethodName } from '@qim/proto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ON_BEHALF_OF, signedIn } from './authenticate.js';
import { clientAddress, type Trust } from './client-address.js';
import type { GatewayOptions, TokenVerifier } from './contract.js';
import type { Dispatcher } from './dispatch.js';
import { connectErrorOf, qimErrorOf } from './error-map.js';
import { EMIT } from './frames.js';
import { decodeBody, readBody } from './request-body.js';

export interface PlainUnaryDeps {
  readonly dispatcher: Dispatcher;
  readonly verifier: TokenVerifier;
  readonly isSuspended: GatewayOptions['isSuspended'];
  readonly trust: Trust;
}

const JSON_TYPE = 'application/json';
const PROTO_TYPE = 'application/proto';
const PROTOCOL_VERSION = '1';
/** Each of them is Connect's to judge. */
const NOT_PLAIN = ['content-encoding', 'connect-content-encoding', 'grpc-encoding', 'grpc-timeout'];

/** Before Connect's routes. `names`: of the unary methods that are served. */
export function registerPlainUnary(app: FastifyInstance, deps: PlainUnaryDeps, names: readonly MethodName[]): void {
  const methods = new Map<string, MethodName>(names.map((name) => [`/${name}`, name]));
  app.addHook('onRequest', async (request, reply) => {
    const name = methods.get(request.raw.url ?? '');
    if (name === undefined || !isPlain(request.raw)) return;
    await answer(deps, name, request, reply);
    return reply;
  });
}

function isPlain({ method, headers }: IncomingMessage): boolean {
  const type = headers['content-type'];
  if (method !== 'POST' || (type !== JSON_TYPE && type !== PROTO_TYPE)) return false;
  const version = headers['connect-protocol-version'];
  return (version === undefined || version === PROTOCOL_VERSION) && NOT_PLAIN.every((header) => headers[header] === undefined);
}

async function answer(deps: PlainUnaryDeps, name: MethodName, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { raw } = request;
  const type = raw.headers['content-type'] === JSON_TYPE ? JSON_TYPE : PROTO_TYPE;
  const json = type === JSON_TYPE;
  try {
    const { output, message } = await deps.dispatcher.call({
      name,
      requestId: request.id,
      address: () => clientAddress(raw, deps.trust),
      identify: () => signedIn(deps, raw.headers.authorization, single(raw.headers[ON_BEHALF_OF])),
      decode: async (input) => decodeBody(await readBody(raw), json, input),
    });
    reply
      .code(200)
      .header('content-type', type)
      .send(encoded(output, message, json));
  } catch (error) {
    fail(reply, error);
  }
}

function encoded(output: DescMessage, message: Message, json: boolean): Buffer {
  if (json) return Buffer.from(JSON.stringify(toJson(output, message, EMIT)));
  const bytes = toBinary(output, message);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Node has one value of a header that is given twice, but for a few; Connect joins them as Fetch does. */
function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}

function fail(reply: FastifyReply, error: unknown): void {
  const known = qimErrorOf(error);
  const told = connectErrorOf(known);
  reply.code(codeToHttpStatus(told.code)).header('content-type', JSON_TYPE);
  for (const [name, value] of told.metadata) reply.header(name, value);
  // What was not read to its end would be taken for the next request.
  if (known.code === 'PayloadTooLarge') reply.header('connection', 'close');
  reply.send(Buffer.from(errorToJsonBytes(told, EMIT)));
}

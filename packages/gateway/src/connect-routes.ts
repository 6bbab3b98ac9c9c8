/** The API over HTTP: Connect (JSON and binary) and gRPC-Web, every method by the one dispatcher. */
import { create, type DescMethod, type DescMethodUnary, type DescService } from '@bufbuild/protobuf';
import { type ConnectRouter, type ContextValues, createContextKey, createContextValues, type HandlerContext } from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from '@connectrpc/connect/protocol';
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify';
import { HTTP_BODY_BYTES_MAX, invalidArgument } from '@qim/proto';
import {
  AdminService,
  ConversationService,
  EventService,
  MessageService,
  ModerationService,
  ProfileService,
  PushService,
  SessionService,
  SubscribeResponseSchema,
} from '@qim/proto/schema';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { identityOf, ON_BEHALF_OF, signedIn } from './authenticate.js';
import { clientAddress, type Trust } from './client-address.js';
import type { GatewayOptions, TokenVerifier } from './contract.js';
import type { Dispatcher } from './dispatch.js';
import { connectErrorOf, qimErrorOf } from './error-map.js';
import { EMIT } from './frames.js';
import { methodName } from './method.js';
import { registerPlainUnary } from './plain-unary.js';
import { type BodyForm, bodyForm, emptyBody, readRequest } from './request-body.js';
import type { Subscriptions } from './subscriptions.js';

const SERVICES: readonly DescService[] = [
  AdminService,
  ConversationService,
  EventService,
  MessageService,
  ModerationService,
  ProfileService,
  PushService,
  SessionService,
];

const REQUEST_ID_KEY = createContextKey('');
const ADDRESS_KEY = createContextKey<() => string>(() => '');
const BODY_KEY = createContextKey<
  { readonly chunks: AsyncIterable<Uint8Array>; readonly form: BodyForm; readonly encoding: string } | undefined
>(undefined);

export interface ConnectDeps {
  readonly dispatcher: Dispatcher;
  readonly verifier: TokenVerifier;
  readonly isSuspended: GatewayOptions['isSuspended'];
  readonly subscriptions: Subscriptions;
  readonly fastPaths: boolean;
  readonly trust: Trust;
}

export async function registerConnect(app: FastifyInstance, deps: ConnectDeps): Promise<void> {
  if (deps.fastPaths)
    registerPlainUnary(
      app,
      deps,
      servedMethods(deps)
        .filter((method) => method.methodKind === 'unary')
        .map(methodName),
    );
  await app.register(fastifyConnectPlugin, {
    routes: (router) => routes(router, deps),
    // gRPC proper needs HTTP/2, and a port of its own.
    grpc: false,
    jsonOptions: EMIT,
    // Compression is a proxy's to do: here it would unpack what a stranger packed.
    acceptCompression: [],
    readMaxBytes: HTTP_BODY_BYTES_MAX,
    contextValues: (request: FastifyRequest): ContextValues =>
      createContextValues()
        .set(REQUEST_ID_KEY, request.id)
        .set(ADDRESS_KEY, () => clientAddress(request.raw, deps.trust)),
  });
}

function routes(router: ConnectRouter, deps: ConnectDeps): void {
  for (const method of servedMethods(deps)) {
    if (method === EventService.method.subscribe) router.rpc(EventService.method.subscribe, (_, context) => subscribe(context, deps));
    else router.rpc(method as DescMethodUnary, (_, context) => unary(method, context, deps));
  }
  for (const [index, handler] of router.handlers.entries()) router.handlers[index] = withOwnBody(handler);
}

function servedMethods({ dispatcher }: ConnectDeps): readonly DescMethod[] {
  return SERVICES.flatMap((service) => service.methods).filter((method) => dispatcher.serves(methodName(method)));
}

/** Leaves the library an empty message to decode, and hands the body itself on to the handler. */
function withOwnBody(handler: UniversalHandler): UniversalHandler {
  const handle = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const form = bodyForm(request.header.get('content-type'));
    if (form === undefined || request.method !== 'POST') return handler(request);
    const header = new Headers(request.header);
    const encoding = ENCODINGS.map((name) => header.get(name)).find((value) => value !== null && value !== 'identity') ?? '';
    for (const name of REPLACED) header.delete(name);
    const values = request.contextValues ?? createContextValues();
    values.set(BODY_KEY, { chunks: request.body as AsyncIterable<Uint8Array>, form, encoding });
    return handler({ ...request, header, body: once(emptyBody(form)), contextValues: values });
  };
  return Object.assign(handle, {
    protocolNames: handler.protocolNames,
    allowedMethods: handler.allowedMethods,
    supportedContentType: handler.supportedContentType,
    requestPath: handler.requestPath,
    service: handler.service,
    method: handler.method,
  });
}

const ENCODINGS = ['content-encoding', 'connect-content-encoding', 'grpc-encoding'];
/** Deadlines too: a client keeps its own, and the server ends no write halfway. */
const REPLACED = [...ENCODINGS, 'content-length', 'connect-timeout-ms', 'grpc-timeout'];

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function unary(method: DescMethod, context: HandlerContext, deps: ConnectDeps) {
  try {
    const { message } = await deps.dispatcher.call({
      name: methodName(method),
      requestId: context.values.get(REQUEST_ID_KEY),
      address: context.values.get(ADDRESS_KEY),
      identify: () => signedIn(deps, ...credentials(context)),
      decode: (input) => {
        const body = bodyOf(context);
        return readRequest(body.chunks, body.form, input);
      },
    });
    return message;
  } catch (error) {
    throw answered(error, context);
  }
}

async function* subscribe(context: HandlerContext, { dispatcher, verifier, subscriptions }: ConnectDeps) {
  const requestId = context.values.get(REQUEST_ID_KEY);
  const name = methodName(EventService.method.subscribe);
  try {
    const events = await dispatcher.guarded(name, requestId, async () => {
      const identity = await identityOf(verifier, ...credentials(context));
      dispatcher.admit(name, identity, requestId);
      const body = bodyOf(context);
      await readRequest(body.chunks, body.form, EventService.method.subscribe.input);
      return subscriptions.open(identity, context.values.get(ADDRESS_KEY)(), context.signal);
    });
    for await (const event of events) yield create(SubscribeResponseSchema, { event });
  } catch (error) {
    throw answered(error, context);
  }
}

function credentials({ requestHeader }: HandlerContext) {
  return [requestHeader.get('authorization'), requestHeader.get(ON_BEHALF_OF)] as const;
}

function bodyOf({ values }: HandlerContext) {
  const body = values.get(BODY_KEY);
  if (body === undefined) throw new Error('a handler ran without a body');
  if (body.encoding !== '') throw invalidArgument('Content-Encoding', 'absent: bodies are taken uncompressed');
  return body;
}

function answered(error: unknown, { responseHeader }: HandlerContext) {
  const known = qimErrorOf(error);
  // What was not read to its end would be taken for the next request.
  if (known.code === 'PayloadTooLarge') responseHeader.set('connection', 'close');
  return connectErrorOf(known);
}

/** The rooms put together: who is given what. Nothing is started here. */

import { createGateway, createJwksVerifier, createSecretTokens, type Gateway, type TokenMinter, type TokenVerifier } from '@qim/gateway';
import { type AnnounceRead, CONNECTIONS_PER_ADDRESS_MAX, CONNECTIONS_PER_USER_MAX } from '@qim/proto';
import { createPush, type Push } from '@qim/push';
import { type Session, startSession } from '@qim/session';
import type { MessageStore, Store } from '@qim/store';
import { createWriter, type Writer, type WriterDeps } from '@qim/writer';
import { uuidv7 } from 'uuidv7';
import { directMessagesOf } from './direct-messages.js';
import type { ServerIo } from './io.js';
import type { Log } from './log.js';
import type { Metrics } from './metrics.js';
import type { Secrets } from './secrets.js';
import { sendLimitsOf } from './send-rates.js';
import type { Config } from './settings.js';
import type { TlsFiles } from './tls.js';
import type { TracedParts } from './tracing/traced.js';
import type { WebPush } from './web-push/web-push.js';
import { beforeSendOf, hooksOf } from './webhooks/webhooks.js';

export interface Parts {
  readonly config: Config;
  readonly io: ServerIo;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: Store;
  /** Undefined: tokens are checked by a JWKS. */
  readonly secrets: Secrets | undefined;
  /** Undefined: there are no webhooks. */
  readonly webhookSecrets: Secrets | undefined;
  /** Undefined: no Web Push is sent. */
  readonly webPush: WebPush | undefined;
  readonly traced: Pick<TracedParts, 'tracing' | 'writer' | 'session'>;
  /** Undefined: HTTP. */
  readonly tls: TlsFiles | undefined;
  /** True from the moment a stop begins. */
  readonly stopping: () => boolean;
}

export function wire(parts: Parts): { readonly push: Push; readonly gateway: Gateway } {
  const push = wirePush(parts, (caller) => session.getTotals(caller));
  const announceRead: AnnounceRead = (...mark) => push.announceRead(...mark);
  const writer = parts.traced.writer(wireWriter(parts, announceRead));
  const read = startSession(parts.store, {
    announceRead,
    announceChange: (...of) => push.announceChange(...of),
    announceTyping: (...of) => push.announceTyping(...of),
    announceSuspended: (...of) => push.announceSuspended(...of),
    now: parts.io.now,
    newId: uuidv7,
    webPush: parts.webPush,
  });
  const session = parts.traced.session(read);
  return { push, gateway: wireGateway(parts, writer, session, push) };
}

function wirePush(
  { config, io, log, metrics, store, webhookSecrets: secrets, webPush, traced }: Parts,
  getTotals: Session['getTotals'],
): Push {
  return createPush({
    messages: store.messages,
    directory: store.directory,
    users: store.users,
    outbox: store.outbox,
    bus: store.bus,
    hooks: hooksOf({ config, secrets, now: io.now, webPush: webPush?.send }, store.hooks, getTotals),
    now: io.now,
    monotonicNow: io.monotonicNow,
    sleep: io.sleep,
    ownerId: uuidv7(),
    log,
    observer: metrics,
    leaseMs: config.pushLease,
    tracing: traced.tracing,
  });
}

function wireWriter({ config, io, log, metrics, store, webhookSecrets: secrets }: Parts, announceRead: AnnounceRead): Writer {
  return createWriter({
    messages: countingCommits(store.messages, metrics, io.monotonicNow),
    directory: store.directory,
    users: store.users,
    directMessages: directMessagesOf(config.directMessages),
    now: io.now,
    newId: uuidv7,
    announceRead,
    recallWindowMs: config.recallWindow,
    beforeSend: beforeSendOf({ config, secrets, now: io.now }, (outcome) => metrics.beforeSendAsked(outcome)),
    observer: { afterCommitFailed: (error) => log.warn({ err: error }, 'a list entry was not written before the answer') },
  });
}

function wireGateway({ config, io, log, metrics, store, ...parts }: Parts, writer: Writer, session: Session, push: Push): Gateway {
  const { verifier, minter } = wireTokens(config, io, parts.secrets);
  const whole = config.roles.includes('gateway');
  const sendLimits = sendLimitsOf(config.sendRates, config.tenantQuotas, config.dev);
  return createGateway({
    writer,
    session,
    push,
    verifier,
    isSuspended: (...of) => store.users.isSuspended(...of),
    minter,
    devLogin: config.dev && whole,
    pageFolder: whole ? io.pageFolder : undefined,
    onlyServices: whole ? undefined : config.roles.includes('session') ? ['qim.v1.SessionService'] : [],
    ackDurability: store.ackDurability,
    ackReplicas: store.ackReplicas?.wanted ?? 0,
    ready: async () => {
      if (parts.stopping()) throw new Error('the server is stopping');
      await store.ping();
    },
    backlog: () => store.outbox.backlog(),
    recallWindowMs: config.recallWindow,
    metrics: () =>
      metrics.expose(store.outbox, parts.webhookSecrets === undefined && parts.webPush === undefined ? undefined : store.hooks),
    observer: metrics,
    log,
    now: io.now,
    allowedOrigins: config.allowedOrigins ?? [],
    ...(config.trustedProxies === undefined ? {} : { trustedProxies: config.trustedProxies }),
    ...(parts.tls === undefined ? {} : { tls: parts.tls }),
    fastPaths: config.fastPaths,
    tracing: parts.traced.tracing,
    ...(sendLimits === undefined ? {} : { sendRates: { limits: sendLimits, counter: store.rates } }),
    limits: {
      ...connectionLimits(config),
      helloTimeoutMs: config.helloTimeout,
      pingIntervalMs: config.pingInterval,
      socketQueueBytesMax: config.socketQueueBytes,
    },
  });
}

/** On one's own machine everybody has the same address, and often the same name. */
function connectionLimits({ dev, connectionsPerUser, connectionsPerAddress }: Config) {
  return {
    connectionsPerUserMax: connectionsPerUser ?? (dev ? Infinity : CONNECTIONS_PER_USER_MAX),
    connectionsPerAddressMax: connectionsPerAddress ?? (dev ? Infinity : CONNECTIONS_PER_ADDRESS_MAX),
  };
}

function wireTokens(
  { jwksUrl, jwksIssuer, jwksAudience, tokenClockTolerance: clockToleranceMs }: Config,
  { now }: ServerIo,
  secrets: Secrets | undefined,
): { readonly verifier: TokenVerifier; readonly minter: TokenMinter | undefined } {
  if (secrets !== undefined) {
    const tokens = createSecretTokens({ secrets, now, clockToleranceMs });
    return { verifier: tokens, minter: tokens };
  }
  // The configuration has refused a server that has neither.
  if (jwksUrl === undefined) throw new Error('assertion failed: a secret or a JWKS URL');
  const issuer = jwksIssuer === undefined ? {} : { issuer: jwksIssuer };
  const audience = jwksAudience === undefined ? {} : { audience: jwksAudience };
  return { verifier: createJwksVerifier({ url: jwksUrl, now, clockToleranceMs, ...issuer, ...audience }), minter: undefined };
}

/** What the writer needs of the store; the metric learns of each message that was written by it, and of no duplicate. */
function countingCommits(messages: MessageStore, metrics: Metrics, monotonicNow: () => number): WriterDeps['messages'] {
  return {
    async commit(request) {
      const startedAt = monotonicNow();
      const outcome = await messages.commit(request);
      if (!outcome.duplicate) metrics.committed((monotonicNow() - startedAt) / 1_000);
      return outcome;
    },
    amend: (request) => messages.amend(request),
    react: (request) => messages.react(request),
    readMessages: (tenantId, conversationId, sequences) => messages.readMessages(tenantId, conversationId, sequences),
    readConversation: (tenantId, conversationId, userId) => messages.readConversation(tenantId, conversationId, userId),
    readMembers: (tenantId, conversationId) => messages.readMembers(tenantId, conversationId),
  };
}

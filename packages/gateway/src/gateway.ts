/** Composes the edge, and takes it down again in order. */
import type { IncomingMessage } from 'node:http';
import {
  assert,
  CONNECTIONS_PER_ADDRESS_MAX,
  CONNECTIONS_PER_USER_MAX,
  HANDSHAKES_MAX,
  HELLO_TIMEOUT_MS,
  HTTP_BODY_BYTES_MAX,
  PING_INTERVAL_MS,
  SOCKET_QUEUE_BYTES_MAX,
} from '@qim/proto';
import Fastify, { type FastifyInstance } from 'fastify';
import { trustNobody } from './client-address.js';
import { type Clock, nodeTimer } from './clock.js';
import { registerConnect } from './connect-routes.js';
import { OpenConnections } from './connection-counts.js';
import type { Gateway, GatewayLimits, GatewayOptions } from './contract.js';
import { createDispatcher } from './dispatch.js';
import { EventEncoder } from './event-encoding.js';
import { registerDevLogin, registerDoor, registerHealth, registerPage } from './http.js';
import { Replies } from './replies.js';
import { REQUEST_ID, requestIdOf } from './request-id.js';
import { Subscriptions } from './subscriptions.js';
import { SocketDoor } from './websocket.js';
import { Work } from './work.js';

const LIMITS: GatewayLimits = {
  helloTimeoutMs: HELLO_TIMEOUT_MS,
  pingIntervalMs: PING_INTERVAL_MS,
  socketQueueBytesMax: SOCKET_QUEUE_BYTES_MAX,
  handshakesMax: HANDSHAKES_MAX,
  connectionsPerUserMax: CONNECTIONS_PER_USER_MAX,
  connectionsPerAddressMax: CONNECTIONS_PER_ADDRESS_MAX,
};

export function createGateway(options: GatewayOptions): Gateway {
  const clock: Clock = { now: options.now, after: options.after ?? nodeTimer };
  const limits = { ...LIMITS, ...options.limits };
  const { push, verifier, isSuspended, ackDurability, observer, log, devLogin, allowedOrigins = [], fastPaths = true } = options;
  const { trustedProxies: trust = trustNobody, tls } = options;
  const connections = new OpenConnections(limits);
  const work = new Work();
  const encoder = new EventEncoder();
  const { recallWindowMs, backlog, sendRates } = options;
  const operator = { sendLimits: sendRates?.limits, limits, connections, recallWindowMs, ackDurability, backlog };
  const dispatcher = createDispatcher(options, operator, work);
  const subscriptions = new Subscriptions({
    push,
    isSuspended,
    encoder,
    ackDurability,
    observer,
    clock,
    connections,
    queueBytesMax: limits.socketQueueBytesMax,
  });
  const shared = { dispatcher, push, verifier, isSuspended, encoder, ackDurability, observer, log, clock, limits, connections };
  const served = dispatcher.serves('qim.v1.EventService/Subscribe');
  const sockets = new SocketDoor({ ...shared, allowedOrigins, loopbackOnly: devLogin, fastPaths, served, work, trust });
  const app = createApp(tls);
  const replies = new Replies(app.server);
  app.server.on('upgrade', (request, socket, head) => void sockets.upgrade(request, socket, head));

  return {
    async listen(host, port) {
      registerDoor(app, options);
      registerHealth(app, options, work, clock);
      if (devLogin) {
        assert(options.minter !== undefined, 'a login mints tokens');
        registerDevLogin(app, options.minter, allowedOrigins);
      }
      await registerConnect(app, { dispatcher, verifier, isSuspended, subscriptions, fastPaths, trust });
      if (options.pageFolder !== undefined) await registerPage(app, options.pageFolder);
      await app.listen({ host, port });
      const address = app.server.address();
      assert(address !== null && typeof address === 'object', 'a TCP server has a port');
      return { url: `${tls === undefined ? 'http' : 'https'}://${urlHost(host)}:${address.port}`, port: address.port };
    },
    async stop(deadlineMs) {
      let overdue = false;
      let cancelDeadline = () => {};
      const deadline = new Promise<void>((resolve) => {
        cancelDeadline = clock.after(deadlineMs, () => {
          overdue = true;
          resolve();
        });
      });
      // The listener stays until the end, so that /readyz can say no.
      const finished = work.stop();
      subscriptions.endAll();
      await Promise.race([Promise.all([finished, sockets.drain()]).then(() => replies.sent()), deadline]);
      cancelDeadline();
      if (overdue) log.warn({ deadlineMs }, 'the deadline passed with work in flight');
      sockets.closeAll();
      sockets.terminateAll();
      const closed = app.close();
      app.server.closeAllConnections();
      await closed;
    },
  };
}

function createApp(tls: GatewayOptions['tls']): FastifyInstance {
  // Half-open connections of event streams are noticed by the kernel.
  const server = { keepAlive: true, keepAliveInitialDelay: PING_INTERVAL_MS };
  const options = {
    logger: false as const,
    bodyLimit: HTTP_BODY_BYTES_MAX,
    genReqId: (request: IncomingMessage) => requestIdOf(request.headers[REQUEST_ID]),
    requestIdHeader: false as const,
  };
  const app: FastifyInstance =
    tls === undefined ? Fastify({ ...options, http: server }) : Fastify({ ...options, https: { ...server, ...tls } });
  // A form of any page may send text without asking first; JSON it may not.
  app.removeContentTypeParser('text/plain');
  return app;
}

/** What a browser can open: no wildcard address, brackets around IPv6. */
function urlHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * The door to /ws: who may open a connection at all. A refused upgrade is a plain HTTP answer.
 *
 * Origins: no cookie is ever looked at, so a foreign page could only connect with a token that it holds already. A browser
 * still gets in from the gateway's own pages and the allowed origins alone: it costs nothing, and a token that leaked into
 * some page is of no use there.
 */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { CLIENT_FRAME_READ_BYTES_MAX, CloseCode, CONNECTIONS_RETRY_AFTER_MS, forbidden, invalidArgument, QimError } from '@qim/proto';
import { WebSocket, WebSocketServer } from 'ws';
import { type Identity, identityOf, ON_BEHALF_OF } from './authenticate.js';
import { clientAddress, type Trust } from './client-address.js';
import { Connection, type ConnectionDeps } from './connection.js';
import { frameErrorOf } from './error-map.js';
import { type FrameCodec, jsonFrames, protoFrames } from './frames.js';
import { Handshakes } from './handshakes.js';
import { hotProtoFrames } from './hot-frames.js';
import { hostIsAllowed, originIsAllowed } from './origin.js';
import { type PlainError, plainError } from './plain-error.js';
import { REQUEST_ID, requestIdOf } from './request-id.js';
import { serverStopping, type Work } from './work.js';

const CODECS: readonly FrameCodec[] = [protoFrames, jsonFrames];

/** ws closes with 1009 on what is beyond its bound; with our own code the client knows not to send it again. */
class QimSocket extends WebSocket {
  override close(code?: number, data?: string | Buffer): void {
    super.close(code === 1009 ? CloseCode.FrameTooLarge : code, data);
  }
}

export interface SocketDoorOptions extends ConnectionDeps {
  readonly allowedOrigins: readonly string[];
  readonly loopbackOnly: boolean;
  readonly fastPaths: boolean;
  /** False: this server has no events, and /ws is no path of it. */
  readonly served: boolean;
  readonly work: Work;
  readonly trust: Trust;
}

export class SocketDoor {
  readonly #options: SocketDoorOptions;
  readonly #connections = new Set<Connection>();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: CLIENT_FRAME_READ_BYTES_MAX,
    handleProtocols: (offered) => chosenCodec(offered)?.subprotocol ?? false,
    WebSocket: QimSocket,
  });
  readonly #requestIds = new WeakMap<IncomingMessage, string>();
  readonly #handshakes: Handshakes;
  /** Those that are being told to come back: past the bound they are not even told. */
  readonly #turnedAway: Handshakes;
  readonly #leaving = new Set<WebSocket>();
  #whenEmpty: (() => void) | undefined;

  constructor(options: SocketDoorOptions) {
    this.#options = options;
    this.#handshakes = new Handshakes(options.limits.handshakesMax);
    this.#turnedAway = new Handshakes(options.limits.handshakesMax);
    this.#server.on('headers', (lines, request) => lines.push(`Qim-Request-Id: ${this.#requestIds.get(request) ?? ''}`));
  }

  /** For the HTTP server's `upgrade` event. Never rejects. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Until ws takes over, a peer that goes away would be an unhandled error of the socket.
    socket.on('error', ignore);
    const requestId = requestIdOf(request.headers[REQUEST_ID]);
    let done = ignore;
    try {
      const codec = this.#admit(request);
      const address = clientAddress(request, this.#options.trust);
      const uncount = this.#count(address);
      if (uncount === undefined) return this.#turnAway(request, socket, head, codec, CONNECTIONS_RETRY_AFTER_MS);
      socket.once('close', uncount);
      const admitted = this.#handshakes.begin();
      if (admitted === undefined) return this.#turnAway(request, socket, head, codec, this.#handshakes.retryAfterMs());
      done = admitted;
      const identity = await this.#identity(request);
      if (this.#options.work.stopping) throw serverStopping();
      const onBehalfOf = single(request.headers[ON_BEHALF_OF]);
      this.#requestIds.set(request, requestId);
      socket.once('close', done);
      const upgrade = { requestId, identity, onBehalfOf, address, welcomed: done, stream: socket };
      this.#server.handleUpgrade(request, socket, head, (webSocket) => this.#open(webSocket, codec, upgrade));
    } catch (error) {
      done();
      if (error instanceof UpgradeRefusal) refuse(socket, requestId, error.answer, error.retryAfter);
      else refuse(socket, requestId, plainError(error));
    }
  }

  /** Closes what is idle, then each as its last reply goes out; resolves once none is open. */
  drain(): Promise<void> {
    for (const connection of this.#connections) connection.drain();
    if (this.#connections.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenEmpty = resolve;
    });
  }

  /** At the end of the deadline: closes at once, then cuts what does not answer. */
  closeAll(): void {
    for (const connection of this.#connections) connection.close(CloseCode.ServerStopping, 'the server is stopping');
  }

  terminateAll(): void {
    for (const connection of this.#connections) connection.terminate();
    for (const socket of this.#leaving) socket.terminate();
  }

  #admit(request: IncomingMessage): FrameCodec {
    const { headers, url = '' } = request;
    // Node hands every kind of upgrade to us, such as the h2c that some HTTP clients offer with each request.
    if (headers.upgrade?.toLowerCase() !== 'websocket') {
      throw new UpgradeRefusal(400, 'invalid_argument', 'only WebSocket is upgraded to: send the request without Upgrade');
    }
    const { loopbackOnly, allowedOrigins, served, fastPaths } = this.#options;
    if (!served || url.split('?')[0] !== '/ws') throw new UpgradeRefusal(404, 'not_found', 'no such path');
    if (!hostIsAllowed(headers.host, loopbackOnly)) throw new UpgradeRefusal(403, 'permission_denied', 'no such host');
    if (!originIsAllowed(headers.origin, headers.host, allowedOrigins)) throw forbidden('a page of this server');
    const codec = chosenCodec(offeredBy(request));
    if (codec === undefined) throw subprotocolMissing();
    return fastPaths && codec === protoFrames ? hotProtoFrames : codec;
  }

  /** Undefined: as many as may be are open from there. */
  #count(address: string): (() => void) | undefined {
    try {
      return this.#options.connections.fromAddress(address);
    } catch {
      return undefined;
    }
  }

  async #identity({ headers }: IncomingMessage): Promise<Identity | undefined> {
    if (headers.authorization === undefined) return undefined;
    return identityOf(this.#options.verifier, headers.authorization, single(headers[ON_BEHALF_OF]));
  }

  /** A browser is not shown the answer to a refused upgrade: so it is upgraded, told, and closed at once. */
  #turnAway(request: IncomingMessage, socket: Duplex, head: Buffer, codec: FrameCodec, retryAfterMs: number): void {
    const told = this.#turnedAway.begin();
    if (told === undefined) throw new UpgradeRefusal(503, 'unavailable', 'too many connect at once', Math.ceil(retryAfterMs / 1000));
    socket.once('close', told);
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      this.#leaving.add(webSocket);
      webSocket.on('close', () => this.#leaving.delete(webSocket));
      webSocket.on('error', ignore);
      webSocket.send(codec.error(0n, frameErrorOf(new QimError('RateLimited', { retryAfterMs }, 'too many connect at once'))), {
        binary: codec.binary,
      });
      webSocket.close(CloseCode.TryLater, 'too many connect at once');
    });
  }

  #open(socket: WebSocket, codec: FrameCodec, upgrade: ConstructorParameters<typeof Connection>[3]): void {
    const connection = new Connection(this.#options, socket, codec, upgrade);
    this.#connections.add(connection);
    socket.on('close', () => {
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#whenEmpty?.();
    });
  }
}

class UpgradeRefusal extends Error {
  readonly answer: PlainError;

  /** Seconds, for Retry-After; undefined: no reason to come back. */
  readonly retryAfter: number | undefined;

  constructor(status: number, code: string, message: string, retryAfter?: number) {
    super(message);
    this.answer = { status, body: { code, message } };
    this.retryAfter = retryAfter;
  }
}

function offeredBy({ headers }: IncomingMessage): Set<string> {
  return new Set((headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim()));
}

/** The client's first choice among ours. */
function chosenCodec(offered: ReadonlySet<string>): FrameCodec | undefined {
  for (const name of offered) {
    const codec = CODECS.find(({ subprotocol }) => subprotocol === name);
    if (codec !== undefined) return codec;
  }
  return undefined;
}

function subprotocolMissing(): QimError {
  return invalidArgument('Sec-WebSocket-Protocol', CODECS.map(({ subprotocol }) => subprotocol).join(' or '));
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function ignore(): void {}

function refuse(socket: Duplex, requestId: string, { status, body }: PlainError, retryAfter?: number): void {
  const text = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    `Qim-Request-Id: ${requestId}`,
    ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`);
}

/** A WebSocket client of the JSON subprotocol by hand, and of the binary one by the generated schema. */
import { once } from 'node:events';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ClientFrameSchema, type ServerFrame, ServerFrameSchema } from '@qim/proto/schema';
import { WebSocket } from 'ws';
import type { Json, JsonObject } from './http.js';

export interface SocketOptions {
  readonly headers?: Record<string, string>;
}

/** Frames in the order of their arrival, each waited for in turn. */
class Inbox<Frame> {
  readonly #frames: Frame[] = [];
  readonly #waiting: ((frame: Frame) => void)[] = [];

  put(frame: Frame): void {
    const waiter = this.#waiting.shift();
    if (waiter === undefined) this.#frames.push(frame);
    else waiter(frame);
  }

  next(): Promise<Frame> {
    const frame = this.#frames.shift();
    if (frame !== undefined) return Promise.resolve(frame);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  get size(): number {
    return this.#frames.length;
  }
}

abstract class TestSocket<Frame> {
  readonly socket: WebSocket;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly #inbox = new Inbox<Frame>();

  constructor(socket: WebSocket, parse: (data: Buffer, isBinary: boolean) => Frame) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('message', (data, isBinary) => this.#inbox.put(parse(data as Buffer, isBinary)));
    this.closed = new Promise((resolve) => socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })));
  }

  next(): Promise<Frame> {
    return this.#inbox.next();
  }

  /** Frames that nobody has taken yet. */
  get unread(): number {
    return this.#inbox.size;
  }

  raw(data: string | Uint8Array): void {
    this.socket.send(data);
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }
}

function newSocket(url: string, subprotocols: string[], { headers = {} }: SocketOptions = {}): WebSocket {
  return new WebSocket(new URL('/ws', url.replace(/^http/, 'ws')), subprotocols, { headers });
}

export async function openSocket(url: string, subprotocols: string[], options?: SocketOptions): Promise<WebSocket> {
  const socket = newSocket(url, subprotocols, options);
  await once(socket, 'open');
  return socket;
}

export class JsonSocket extends TestSocket<JsonObject> {
  #nextId = 1;

  static async open(url: string, options?: SocketOptions): Promise<JsonSocket> {
    // Listening from the start: a welcome may come in the packet that opens the connection.
    const opened = new JsonSocket(newSocket(url, ['qim.v1+json'], options), (data, isBinary) => {
      if (isBinary) throw new Error('JSON frames are text');
      return JSON.parse(String(data)) as JsonObject;
    });
    await once(opened.socket, 'open');
    return opened;
  }

  /** Welcomed already. */
  static async signedIn(url: string, token: string): Promise<JsonSocket> {
    const socket = await JsonSocket.open(url);
    socket.send({ id: 0, hello: { token } });
    const { welcome } = await socket.next();
    if (welcome === undefined) throw new Error('no welcome');
    return socket;
  }

  send(frame: Json): void {
    this.raw(JSON.stringify(frame));
  }

  /** The reply or error of one call, when nothing else is on the way. */
  async call(method: string, body: Json): Promise<JsonObject> {
    const id = this.#nextId++;
    this.send({ id, call: { method: `qim.v1.${method}`, body } });
    const frame = await this.next();
    if (frame.id !== id) throw new Error(`another frame came first: ${JSON.stringify(frame)}`);
    return frame;
  }
}

export class ProtoSocket extends TestSocket<ServerFrame> {
  static async open(url: string, options?: SocketOptions): Promise<ProtoSocket> {
    const opened = new ProtoSocket(newSocket(url, ['qim.v1+proto'], options), (data, isBinary) => {
      if (!isBinary) throw new Error('protobuf frames are binary');
      return fromBinary(ServerFrameSchema, data);
    });
    await once(opened.socket, 'open');
    return opened;
  }

  send(frame: Parameters<typeof create<typeof ClientFrameSchema>>[1]): void {
    this.raw(toBinary(ClientFrameSchema, create(ClientFrameSchema, frame)));
  }
}

/** What a refused upgrade answers. */
export async function refusedUpgrade(
  url: string,
  subprotocols: string[],
  headers: Record<string, string> = {},
  path = '/ws',
): Promise<{ readonly status: number; readonly body: JsonObject }> {
  const socket = new WebSocket(new URL(path, url.replace(/^http/, 'ws')), subprotocols, { headers });
  socket.on('error', () => {});
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, NodeJS.ReadableStream & { statusCode: number }];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, body: text === '' ? {} : (JSON.parse(text) as JsonObject) };
}

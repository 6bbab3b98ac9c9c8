/**
 * A real WebSocket server on a loopback port that speaks binary frames over the model, and misbehaves on request: events
 * lost, doubled or shuffled, answers lost, links cut. A token is the user's name.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { ClientFrameSchema, EventSchema, ServerFrameSchema } from '@qim/proto/schema';
import { type WebSocket, WebSocketServer } from 'ws';
import { ChatModel } from './chat-model.js';
import { type Method, methodsOf, Refusal } from './model-methods.js';

type Event = MessageInitShape<typeof EventSchema>;
type ServerKind = NonNullable<MessageInitShape<typeof ServerFrameSchema>['kind']>;

/** What becomes of a call: answered, carried out without an answer, not even seen, or refused. */
export type CallFate = 'answer' | 'loseAnswer' | 'ignore' | { readonly code: string; readonly reason: string };

export interface SeenCall {
  readonly user: string;
  readonly method: string;
  readonly body: Uint8Array;
}

export class FrameServer {
  readonly chat = new ChatModel();
  readonly calls: SeenCall[] = [];
  fate: (call: SeenCall) => CallFate | Promise<CallFate> = () => 'answer';
  /** Which events really go out, and in which order. */
  deliver: (event: Event) => readonly Event[] = (event) => [event];
  #server: WebSocketServer | undefined;
  #port = 0;
  readonly #online = new Map<WebSocket, string>();
  readonly #methods: Record<string, Method>;

  constructor() {
    this.#methods = methodsOf(this.chat, (to, event) => this.emit(to, event));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** On the port of before, when it was started before. */
  async start(): Promise<this> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: this.#port, path: '/ws' });
    this.#server = server;
    server.on('connection', (socket) => socket.on('message', (data) => void this.#received(socket, data as Buffer)));
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    this.cut();
    for (const socket of server.clients) socket.terminate();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  /** Ends every connection without a close frame, as a lost network does. */
  cut(): void {
    for (const socket of this.#online.keys()) socket.terminate();
    this.#online.clear();
  }

  emit(to: Iterable<string>, event: Event): void {
    const users = new Set(to);
    for (const one of this.deliver(event)) {
      for (const [socket, user] of this.#online) if (users.has(user)) send(socket, 0, { case: 'event', value: create(EventSchema, one) });
    }
  }

  /** Commits and tells the members, as a send by someone else does. */
  say(id: string, sender: string, text?: string, holes = 0): void {
    const message = this.chat.commit(id, sender, text === undefined ? { holes } : { text, holes });
    this.emit(this.chat.get(id).members, { kind: { case: 'messageCommitted', value: { message } } });
  }

  callsOf(method: string): SeenCall[] {
    return this.calls.filter((call) => call.method.endsWith(`/${method}`));
  }

  async #received(socket: WebSocket, data: Buffer): Promise<void> {
    const frame = fromBinary(ClientFrameSchema, data);
    if (frame.kind.case === 'hello') this.#hello(socket, frame.kind.value.token, frame.kind.value.device);
    else if (frame.kind.case === 'call') await this.#call(socket, Number(frame.id), frame.kind.value.method, frame.kind.value.body);
  }

  #hello(socket: WebSocket, token: string, device: string): void {
    this.#online.set(socket, token);
    socket.on('close', () => this.#online.delete(socket));
    send(socket, 0, { case: 'welcome', value: { userId: token, device, ackDurability: 'synced' } });
  }

  async #call(socket: WebSocket, id: number, method: string, body: Uint8Array): Promise<void> {
    const user = this.#online.get(socket) ?? '';
    const call = { user, method, body };
    this.calls.push(call);
    const fate = await this.fate(call);
    if (fate === 'ignore') return;
    if (typeof fate === 'object') {
      send(socket, id, { case: 'error', value: { ...fate, message: fate.reason } });
      return;
    }
    const answer = this.#answer(call);
    if (fate === 'answer') send(socket, id, answer);
  }

  #answer({ user, method, body }: SeenCall): ServerKind {
    const run = this.#methods[method];
    if (run === undefined) return { case: 'error', value: { code: 'unimplemented', reason: 'UNIMPLEMENTED', message: method } };
    try {
      return { case: 'reply', value: run(user, body) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { case: 'error', value: { code: error.code, reason: error.reason, message: error.message } };
    }
  }
}

function send(socket: WebSocket, id: number, kind: ServerKind): void {
  if (socket.readyState === socket.OPEN) socket.send(toBinary(ServerFrameSchema, create(ServerFrameSchema, { id: BigInt(id), kind })));
}

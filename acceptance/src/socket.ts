/** The WebSocket as documented: JSON frames, written by hand so that the SDK cannot hide a fault of the server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type RawData, WebSocket } from 'ws';
import { type Json, type JsonObject, object } from './api.js';

/** Past the 15 s for which a killed server's leases hold: until they run out, nobody delivers its partitions. */
const WAIT_MS = 30_000;

export class Device {
  readonly events: JsonObject[] = [];
  closeCode: number | undefined;
  readonly #socket: WebSocket;
  readonly #replies = new Map<number, (frame: JsonObject) => void>();
  readonly #watchers = new Set<() => void>();
  #nextId = 1;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.#take(object(JSON.parse(textOf(data)) as Json)));
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      this.closeCode = code;
      this.#notify();
    });
  }

  /** Says hello, and waits for welcome: from then on events flow. */
  static async connect(url: string, token: string, device: string): Promise<Device> {
    const { device: connected, answer } = await Device.hello(url, token, device);
    assert.ok('welcome' in answer, `no welcome: ${JSON.stringify(answer)}`);
    return connected;
  }

  /** The first answer, whatever it is. */
  static async hello(url: string, token: string, device: string): Promise<{ device: Device; answer: JsonObject }> {
    const socket = new WebSocket(new URL('/ws', url.replace(/^http/, 'ws')), 'qim.v1+json');
    await once(socket, 'open');
    const connected = new Device(socket);
    const answer = connected.#reply(0);
    socket.send(JSON.stringify({ id: 0, hello: { token, device } }));
    return { device: connected, answer: await answer };
  }

  call(method: string, body: JsonObject): Promise<JsonObject> {
    const id = this.#nextId++;
    const reply = this.#reply(id);
    this.#socket.send(JSON.stringify({ id, call: { method: `qim.v1.${method}`, body } }));
    return reply;
  }

  /** Resolves once the condition holds; it is looked at after each frame. */
  async until(condition: () => boolean, what: string): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#watchers.delete(look);
        reject(new Error(`waited in vain for ${what}; events: ${JSON.stringify(this.events).slice(0, 2_000)}`));
      }, WAIT_MS);
      const look = () => {
        if (!condition()) return;
        clearTimeout(timer);
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
    });
  }

  /** Messages that were pushed, in order of arrival. */
  pushed(conversationId?: string): JsonObject[] {
    return this.events
      .flatMap((event) => ('messageCommitted' in event ? [object(object(event.messageCommitted).message)] : []))
      .filter((message) => conversationId === undefined || message.conversationId === conversationId);
  }

  async close(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.#socket, 'close');
    this.#socket.close();
    await closed;
  }

  #reply(id: number): Promise<JsonObject> {
    return new Promise((resolve) => this.#replies.set(id, resolve));
  }

  #take(frame: JsonObject): void {
    if ('event' in frame) this.events.push(object(frame.event));
    else {
      const id = Number(frame.id ?? 0);
      this.#replies.get(id)?.(frame);
      this.#replies.delete(id);
    }
    this.#notify();
  }

  #notify(): void {
    for (const look of [...this.#watchers]) look();
  }
}

function textOf(data: RawData): string {
  return (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString('utf8');
}

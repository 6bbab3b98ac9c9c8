/** A whole server in this process, and what strangers and users may send it over HTTP and WebSocket. */
import { createECDH, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ClientFrameSchema, ServerFrameSchema } from '@qim/proto/schema';
import { openMemoryStore } from '@qim/store/memory';
import fc from 'fast-check';
import { WebSocket } from 'ws';
import { Caller } from '../testing/caller.js';
import { devToken, startRealServer } from '../testing/real-server.js';
import { broken, nastyJson, nastyText } from './hostile.js';
import { type Known, METHODS, requestBytes, requestJson } from './requests.js';
import { must, type Target, target } from './target.js';

/** Longer than anything takes; what is not answered by then hangs. */
const ANSWER_MS = 30_000;
const HEADERS_TOO_LONG = 431;
/** Frames sent before a look whether the connection still answers. */
const FRAMES_AT_ONCE = 16;

export interface LiveServer {
  readonly targets: readonly Target[];
  /** What the server called its own fault. */
  readonly faults: () => readonly string[];
  /** Connections that it counts as open; asked over HTTP. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

export async function startLive(): Promise<LiveServer> {
  // Called durable, so that nothing but faults is said on standard error.
  const store = { ...openMemoryStore({ now: Date.now }), ackDurability: 'synced' as const };
  const keys = await mkdtemp(join(tmpdir(), 'qim-fuzz-'));
  const vapidKeyFile = join(keys, 'vapid.pem');
  await writeFile(vapidKeyFile, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const flags = { logLevel: 'error', port: '0', vapidKeyFile, vapidSubject: 'mailto:ops@chat.example' };
  const server = await startRealServer({ openStore: async () => store, pageFolder: undefined }, flags);
  const token = await devToken(server.url, 'alice');
  const known = await scene(server.url, token);
  const link = new Link(server.url, token);
  return {
    targets: [httpTarget(server.url, token, known), frameTarget(link, known)],
    faults: () => server.errors,
    async connections() {
      const text = await (await fetch(new URL('/metrics', server.url))).text();
      return Number(/^qim_connections (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
    },
    async close() {
      link.close();
      await server.end();
      await rm(keys, { recursive: true, force: true });
    },
  };
}

/** A group and a message, so that requests may be about something. */
async function scene(url: string, token: string): Promise<Known> {
  const caller = new Caller(url, token);
  const made = await caller.call('ConversationService/CreateGroup', { title: 'fuzz', memberIds: ['bob', 'carol'] });
  const { conversationId } = made.conversation as { conversationId: string };
  const said = { conversationId, clientMessageId: 'c', type: 'MESSAGE_TYPE_TEXT', text: 'x' };
  const { messageId } = (await caller.call('MessageService/SendMessage', said)).message as { messageId: string };
  return {
    conversationId: [conversationId],
    messageId: [messageId],
    conversationSeq: ['1', '2', '3'],
    userId: ['alice', 'bob', 'carol', 'dave'],
    toUserId: ['bob', 'alice'],
    memberId: ['dave', 'bob'],
    mentionUserId: ['bob', 'dave'],
    emoji: ['👍', '🎉'],
    type: ['MESSAGE_TYPE_TEXT', 'MESSAGE_TYPE_CONTROL'],
    // Of the one who sends, and so is never notified.
    endpoint: ['https://push.example/x', 'https://127.0.0.1/x'],
    p256dh: [createECDH('prime256v1').generateKeys('base64url')],
    auth: [Buffer.alloc(16).toString('base64url')],
  };
}

const headers = fc.dictionary(
  fc.constantFrom(
    'Qim-On-Behalf-Of',
    'Qim-Request-Id',
    'Connect-Protocol-Version',
    'Connect-Timeout-Ms',
    'Content-Encoding',
    'X-Forwarded-For',
    'Origin',
    'Cookie',
    'Range',
  ),
  fc.oneof(fc.constantFrom('1', 'gzip', 'identity', 'alice', '1e9', 'null', 'a'.repeat(2_000)), fc.string({ maxLength: 40 })),
  { maxKeys: 2 },
);
const contentTypes = fc.oneof(
  { arbitrary: fc.constantFrom('application/json', 'application/proto'), weight: 6 },
  {
    arbitrary: fc.constantFrom(
      'application/connect+json',
      'application/grpc-web+proto',
      'text/plain',
      'application/json; charset=utf-16',
      '',
    ),
    weight: 1,
  },
);

function httpTarget(url: string, token: string, known: Known): Target {
  const bodies = fc.constantFrom(...METHODS).chain(({ name, input }) =>
    fc.record({
      path: fc.oneof(
        { arbitrary: fc.constant(`/${name}`), weight: 12 },
        { arbitrary: nastyText.map((text) => `/${encodeURI(wellFormed(text))}`), weight: 1 },
      ),
      type: contentTypes,
      body: fc.oneof(
        requestJson(input, known).map((json) => Buffer.from(JSON.stringify(json))),
        requestBytes(input, known),
        nastyJson.map((json) => Buffer.from(JSON.stringify(json) ?? '')),
      ),
      signedIn: fc.nat(9).map((n) => n > 0),
      more: headers,
    }),
  );
  return target({
    name: 'requests over HTTP, to a whole server',
    weight: 4,
    input: bodies,
    async holds({ path, type, body, signedIn, more }) {
      const authorization: Record<string, string> = signedIn ? { authorization: `Bearer ${token}` } : {};
      const headersOf = new Headers({ ...authorization, ...(type === '' ? {} : { 'content-type': type }) });
      for (const [name, value] of Object.entries(more)) if (isHeaderValue(value)) headersOf.set(name, value);
      const answer = await fetch(urlOf(url, path), {
        method: 'POST',
        headers: headersOf,
        body: Uint8Array.from(body),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      const text = await answer.text();
      must(answer.status !== 500 && !text.includes('"INTERNAL"'), `${answer.status} to ${path}: ${text}`);
      // Headers that are too long to be read have no request to give an id to.
      must(
        answer.status === HEADERS_TOO_LONG || answer.headers.get('qim-request-id') !== null,
        `an answer without Qim-Request-Id: ${answer.status} to ${path}`,
      );
    },
  });
}

/** By its text: as a reference `//x` would be another host. */
export function urlOf(server: string, path: string): URL {
  return new URL(`${new URL(server).origin}${path}`);
}

function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(value);
}

function wellFormed(text: string): string {
  return Buffer.from(text).toString('utf8');
}

/** One connection, made again when the server ended it. */
class Link {
  readonly #url: string;
  readonly #token: string;
  #socket: WebSocket | undefined;
  #probe = 2n ** 52n;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Sends all, and waits until the connection answers what comes after them, or is closed. */
  async send(frames: readonly Uint8Array[]): Promise<void> {
    this.#socket ??= await this.#open();
    const socket = this.#socket;
    const probe = this.#probe++;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no answer: the connection hangs')), ANSWER_MS);
      const end = (failure?: Error) => {
        clearTimeout(timer);
        socket.off('message', take).off('close', closed);
        if (failure === undefined) resolve();
        else reject(failure);
      };
      const take = (data: Buffer) => {
        const { id, kind } = fromBinary(ServerFrameSchema, data);
        if (kind.case === 'error' && kind.value.reason === 'INTERNAL') end(new Error(`INTERNAL to frame ${id}`));
        else if (id === probe) end();
      };
      const closed = (code: number) => {
        this.#socket = undefined;
        end([4400, 4401, 4413, 4508].includes(code) ? undefined : new Error(`closed with ${code}`));
      };
      socket.on('message', take).on('close', closed);
      for (const frame of frames) socket.send(frame);
      const call = { method: 'qim.v1.SessionService/GetTotals', body: new Uint8Array(0) };
      socket.send(toBinary(ClientFrameSchema, create(ClientFrameSchema, { id: probe, kind: { case: 'call', value: call } })));
    });
  }

  async #open(): Promise<WebSocket> {
    const socket = new WebSocket(new URL('/ws', this.#url.replace(/^http/, 'ws')), ['qim.v1+proto']);
    socket.on('error', () => {});
    await once(socket, 'open');
    socket.send(toBinary(ClientFrameSchema, create(ClientFrameSchema, { kind: { case: 'hello', value: { token: this.#token } } })));
    await once(socket, 'message');
    return socket;
  }

  close(): void {
    this.#socket?.terminate();
  }
}

function frameTarget(link: Link, known: Known): Target {
  const frame = fc
    .constantFrom(...METHODS)
    .chain(({ name, input }) =>
      requestBytes(input, known).map((body) =>
        toBinary(ClientFrameSchema, create(ClientFrameSchema, { id: 1n, kind: { case: 'call', value: { method: name, body } } })),
      ),
    );
  const frames = fc.array(fc.oneof({ arbitrary: frame, weight: 30 }, { arbitrary: broken(frame), weight: 1 }), {
    minLength: 1,
    maxLength: FRAMES_AT_ONCE,
  });
  return target({ name: 'frames in one connection, to a whole server', weight: 2, input: frames, holds: (each) => link.send(each) });
}

/** Unary calls over plain HTTP, many connections kept open, one call on its way on each. */
import { connect, type Socket } from 'node:net';
import { interleaved, ratioOf, spreadOf } from '../measure.js';
import { devToken, startBare, startQim } from '../process.js';
import type { Results } from '../result.js';
import type { Scale } from '../scale.js';
import { type Cleanup, redisServer, withCleanup } from '../stores.js';
import { connectClient } from './chats.js';

const CONNECTIONS = 32;
const QIM_JSON = 'qim, POST with JSON';
const QIM_PROTO = 'qim, POST with protobuf';
const BARE = 'bare Fastify, the same read';
const SUBJECT = 'HTTP, GetConversation';

export function httpCalls(results: Results, scale: Scale): Promise<void> {
  return withCleanup(async (cleanup) => {
    const redis = await redisServer(cleanup);
    const qim = await startQim(cleanup, { store: redis.url });
    const sender = await connectClient(cleanup, qim.url, 'ann');
    const { message } = await sender.sendMessage({ target: { toUserId: 'bob' }, content: 'hello' });
    sender.close();
    const { conversationId } = message;
    const bare = await startBare(cleanup, 'fastify', [redis.url, 'ann']);
    const json = JSON.stringify({ conversationId });
    const path = '/qim.v1.SessionService/GetConversation';
    const authorization = `Bearer ${await devToken(qim.url, 'ann')}`;
    // Field 1, a string.
    const proto = Buffer.concat([Buffer.from([0x0a, conversationId.length]), Buffer.from(conversationId)]);
    const contenders = [
      { name: QIM_JSON, url: qim.url, request: post(path, 'application/json', Buffer.from(json), authorization) },
      { name: QIM_PROTO, url: qim.url, request: post(path, 'application/proto', proto, authorization) },
      { name: BARE, url: bare.url, request: post('/conversation', 'application/json', Buffer.from(json), '') },
    ];
    const turns = [];
    for (const { name, url, request } of contenders) {
      const lines = await Lines.open(cleanup, url, CONNECTIONS);
      await lines.check(request, conversationId);
      turns.push({ name, turn: () => lines.rate(request, scale.turnMs * 2) });
    }
    const samples = await interleaved(turns, scale.rounds);
    for (const [name, values] of samples) results.row('e2e', SUBJECT, name, 'per second', spreadOf(values));
    results.ratios.http_unary_vs_bare_fastify = ratioOf(samples, QIM_JSON, BARE);
  });
}

function post(path: string, type: string, body: Buffer, authorization: string): Buffer {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Content-Type: ${type}`,
    ...(authorization === '' ? [] : [`Authorization: ${authorization}`]),
    `Content-Length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
}

/** A client that costs next to nothing, so that the server is what is measured. */
class Lines {
  readonly #sockets: Socket[] = [];

  static async open(cleanup: Cleanup, url: string, count: number): Promise<Lines> {
    const lines = new Lines();
    for (let i = 0; i < count; i += 1) {
      const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true });
      await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
      cleanup.add(async () => socket.destroy());
      lines.#sockets.push(socket);
    }
    return lines;
  }

  async check(request: Buffer, conversationId: string): Promise<void> {
    const [socket] = this.#sockets;
    if (socket === undefined) throw new Error('a line is open');
    const answer = await exchange(socket, request);
    if (!answer.startsWith('HTTP/1.1 200 ') || !answer.includes(conversationId)) throw new Error(`a call was answered wrongly: ${answer}`);
  }

  async rate(request: Buffer, forMs: number): Promise<number> {
    const begin = performance.now();
    let done = 0;
    await Promise.all(
      this.#sockets.map(async (socket) => {
        for (; performance.now() - begin < forMs; done += 1) {
          const answer = await exchange(socket, request);
          if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(`a call was answered wrongly: ${answer}`);
        }
      }),
    );
    return done / ((performance.now() - begin) / 1000);
  }
}

/** One request and its whole answer, by its Content-Length. */
function exchange(socket: Socket, request: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let read = '';
    const take = (chunk: Buffer): void => {
      read += chunk.toString('latin1');
      const bodyAt = read.indexOf('\r\n\r\n') + 4;
      if (bodyAt < 4) return;
      const length = Number(/content-length: (\d+)/i.exec(read)?.[1] ?? Number.NaN);
      const whole = Number.isNaN(length) ? read.endsWith('0\r\n\r\n') : read.length - bodyAt >= length;
      if (!whole) return;
      socket.off('data', take).off('close', lost);
      resolve(read);
    };
    const lost = () => reject(new Error('a connection was closed'));
    socket.on('data', take).on('close', lost);
    socket.write(request);
  });
}

/** Load: SDK senders and recipients of direct chats over WebSocket, each chat with one message on its way. */
import { type Client, createClient } from '@qim/client';
import WebSocket from 'ws';
import { TEXT } from '../data.js';
import { quantile } from '../measure.js';
import { devToken } from '../process.js';
import type { Cleanup } from '../stores.js';

/** So many chats share one sender's connection. */
const CHATS_PER_SENDER = 4;

export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

export interface Paced {
  readonly ack: Latency;
  readonly deliver: Latency;
}

/** Something that carries messages of numbered chats, acknowledges each and delivers each. */
export interface Carrier {
  readonly chats: number;
  /** Resolves when it was acknowledged and every recipient has it; calls `acked` in between. */
  readonly send: (chat: number, acked: () => void) => Promise<void>;
}

/** Messages a second, each chat sending its next one when the last was acknowledged and delivered. */
export async function saturated({ chats, send }: Carrier, forMs: number): Promise<number> {
  const begin = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: chats }, async (_, chat) => {
      for (; performance.now() - begin < forMs; done += 1) await send(chat, () => {});
    }),
  );
  return done / ((performance.now() - begin) / 1000);
}

/** Latencies at a steady rate; a message that comes late does not hold back the next one of another chat. */
export async function paced({ chats, send }: Carrier, perSecond: number, forMs: number): Promise<Paced> {
  const [acks, deliveries]: [number[], number[]] = [[], []];
  const begin = performance.now();
  const total = Math.max(1, Math.floor((perSecond * forMs) / 1000));
  const all: Promise<void>[] = [];
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - begin) * perSecond) / 1000));
    for (; sent < due; sent += 1) {
      const start = performance.now();
      const one = send(sent % chats, () => acks.push(performance.now() - start));
      all.push(one.then(() => void deliveries.push(performance.now() - start)));
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(all);
  return { ack: latencyOf(acks), deliver: latencyOf(deliveries) };
}

function latencyOf(values: readonly number[]): Latency {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99) };
}

/** Who waits for which message, by its client message id and by who receives it. */
class Deliveries {
  readonly #waiting = new Map<string, { left: number; readonly done: () => void }>();

  expect(id: string, receivers: number): Promise<void> {
    return new Promise((done) => this.#waiting.set(id, { left: receivers, done }));
  }

  came(id: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || --waiting.left > 0) return;
    this.#waiting.delete(id);
    waiting.done();
  }
}

export async function connectClient(cleanup: Cleanup, url: string, user: string): Promise<Client> {
  const token = await devToken(url, user);
  const client = createClient({ url, WebSocket, token: () => token });
  cleanup.add(async () => client.close());
  const online = new Promise<void>((resolve) => {
    client.connection.subscribe(() => {
      if (client.connection.snapshot().status === 'online') resolve();
    });
  });
  client.connect();
  await online;
  return client;
}

export interface Place {
  /** Where senders connect. */
  readonly senders: string;
  /** Where recipients do: the same process, or another one. */
  readonly recipients: string;
}

function receiving(client: Client, deliveries: Deliveries): void {
  client.onEvent((event) => {
    if (event.kind === 'messageCommitted') deliveries.came(event.message.clientMessageId);
  });
}

let runs = 0;
let sent = 0;

/** Direct chats between two SDKs each. */
export async function directChats(cleanup: Cleanup, place: Place, chats: number): Promise<Carrier> {
  const deliveries = new Deliveries();
  const run = ++runs;
  const senders: Client[] = [];
  for (let i = 0; i < Math.ceil(chats / CHATS_PER_SENDER); i += 1) {
    senders.push(await connectClient(cleanup, place.senders, `sender-${run}-${i}`));
  }
  for (let i = 0; i < chats; i += 1) receiving(await connectClient(cleanup, place.recipients, `recipient-${run}-${i}`), deliveries);
  return {
    chats,
    async send(chat, acked) {
      const clientMessageId = `bench-${++sent}`;
      const delivered = deliveries.expect(clientMessageId, 1);
      const sender = senders[Math.floor(chat / CHATS_PER_SENDER)];
      const answer = await sender?.sendMessage({ target: { toUserId: `recipient-${run}-${chat}` }, content: TEXT, clientMessageId });
      if (answer?.duplicate !== false || answer.message.clientMessageId !== clientMessageId) throw new Error('a send was answered wrongly');
      acked();
      await delivered;
    },
  };
}

/** One group whose every other member has an SDK connected. */
export async function group(cleanup: Cleanup, place: Place, members: number): Promise<Carrier> {
  const deliveries = new Deliveries();
  const run = ++runs;
  const names = Array.from({ length: members - 1 }, (_, i) => `member-${run}-${i}`);
  const sender = await connectClient(cleanup, place.senders, `maker-${run}`);
  const { conversationId } = await sender.createGroup({ title: 'bench', memberIds: names.slice(0, 200) });
  for (let from = 200; from < names.length; from += 200) await sender.addMembers(conversationId, names.slice(from, from + 200));
  for (const name of names) receiving(await connectClient(cleanup, place.recipients, name), deliveries);
  return {
    chats: 1,
    async send(_, acked) {
      const clientMessageId = `bench-${++sent}`;
      const delivered = deliveries.expect(clientMessageId, names.length);
      await sender.sendMessage({ target: { conversationId }, content: TEXT, clientMessageId });
      acked();
      await delivered;
    },
  };
}

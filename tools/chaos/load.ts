/**
 * People who send, recall and read through the SDK while everything around them breaks. What they meant to do is known:
 * each intention is tried again under its one client message id until it is answered.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, isQimClientError, type OpenConversation } from '@qim/client';
import { WebSocket } from 'ws';
import type { Random } from '../../packages/store/src/testing/random.js';
import type { World } from './world.js';

export interface Intention {
  readonly by: string;
  readonly conversationId: string;
  readonly words: string;
  readonly clientMessageId: string;
  /** Undefined: never acknowledged. */
  acknowledged: { readonly messageId: string; readonly conversationSeq: number } | undefined;
  recalled: boolean;
}

export interface Mark {
  /** The server said that this holds. */
  held: number;
  asked: number;
}

export interface Device {
  readonly user: string;
  readonly name: string;
  readonly client: Client;
  readonly open: ReadonlyMap<string, OpenConversation>;
}

const USERS = ['ann', 'ben', 'cho', 'dee'] as const;
const PAUSE_MS = { min: 5, spread: 40 } as const;
const RECALLED_OF = 15;
const READING_OF = 6;
const RETRY_PAUSE_MS = 100;
/** After the last fault: far past every pause and timeout of the SDK. */
const FINISH_WITHIN_MS = 120_000;

export class Load {
  readonly intentions: Intention[] = [];
  /** By user and conversation. */
  readonly marks = new Map<string, Mark>();
  readonly devices: Device[] = [];
  /** Who is in which. */
  readonly members = new Map<string, readonly string[]>();
  readonly #world: World;
  readonly #random: Random;
  #running: Promise<unknown> = Promise.resolve();
  #stopped = false;
  #finishBy = Number.POSITIVE_INFINITY;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  /** Before anything is broken: a group of all, a direct conversation of two, a phone for each and a tablet for one. */
  async prepare(): Promise<void> {
    const [first, second, ...others] = USERS;
    const founder = await this.#connect(first, 'founder', 0);
    const group = await founder.createGroup({ title: 'chaos', memberIds: [second, ...others] });
    const { message } = await founder.sendMessage({ target: { toUserId: second }, content: 'hello' });
    founder.close();
    this.members.set(group.conversationId, USERS);
    this.members.set(message.conversationId, [first, second]);
    const { conversationId, clientMessageId } = message;
    const acknowledged = { messageId: message.messageId, conversationSeq: message.conversationSeq };
    this.intentions.push({ by: first, conversationId, words: 'hello', clientMessageId, acknowledged, recalled: false });
    const places = [...USERS.map((user) => [user, 'phone'] as const), [first, 'tablet'] as const];
    for (const [i, [user, name]] of places.entries()) {
      const client = await this.#connect(user, name, i);
      const mine = [...this.members].filter(([, users]) => users.includes(user)).map(([id]) => id);
      this.devices.push({ user, name, client, open: new Map(mine.map((id) => [id, client.openConversation(id)])) });
    }
  }

  /** As applications do it when the network seems to be back; the SDK's own pauses grow to half a minute. */
  retryNow(): void {
    for (const { client } of this.devices) client.retryNow();
  }

  /** Until `finished`. */
  start(): void {
    const phones = this.devices.filter(({ name }) => name === 'phone');
    this.#running = Promise.all(phones.flatMap((device) => [...device.open.keys()].map((id) => this.#turns(device, id))));
    // Whoever asks for the end hears of it.
    this.#running.catch(() => undefined);
  }

  /** No new intentions; resolves when those that are there are answered. Rejects when one could not be brought to its end. */
  async finished(): Promise<void> {
    this.#stopped = true;
    this.#finishBy = performance.now() + FINISH_WITHIN_MS;
    await this.#running;
  }

  close(): void {
    for (const { client } of this.devices) client.close();
  }

  async #connect(user: string, device: string, at: number): Promise<Client> {
    const server = this.#world.servers[at % this.#world.servers.length];
    if (server === undefined) throw new Error('there is a server');
    const client = createClient({ url: server.url, device, token: () => this.#world.token(user, device), WebSocket });
    client.connect();
    return client;
  }

  async #turns({ user, client }: Device, conversationId: string): Promise<void> {
    for (let turn = 1; !this.#stopped; turn += 1) {
      const words = `${user} ${turn} in ${conversationId}`;
      const intention: Intention = {
        by: user,
        conversationId,
        words,
        clientMessageId: randomUUID(),
        acknowledged: undefined,
        recalled: false,
      };
      this.intentions.push(intention);
      const seq = await this.#send(client, intention);
      if (this.#random.below(RECALLED_OF) === 0) await this.#recall(client, intention);
      if (this.#random.below(READING_OF) === 0) await this.#read(client, user, conversationId, Math.max(1, seq - this.#random.below(8)));
      await pause(PAUSE_MS.min + this.#random.below(PAUSE_MS.spread));
    }
  }

  async #send(client: Client, intention: Intention): Promise<number> {
    const { conversationId, words, clientMessageId } = intention;
    let tried = false;
    const { message } = await this.#again(() => {
      // A failed one waits in the SDK's outbox to be retried or dropped.
      if (tried) return client.outbox.retry(clientMessageId);
      tried = true;
      return client.sendMessage({ target: { conversationId }, content: words, clientMessageId });
    });
    const { messageId, conversationSeq } = message;
    intention.acknowledged = { messageId, conversationSeq };
    return conversationSeq;
  }

  async #recall(client: Client, intention: Intention): Promise<void> {
    const { acknowledged, conversationId } = intention;
    if (acknowledged === undefined) return;
    await this.#again(async () => {
      try {
        await client.recallMessage({ conversationId, ...acknowledged });
      } catch (error) {
        // An earlier try of this very call was carried out, and its answer lost.
        if (!isQimClientError(error) || error.reason !== 'MESSAGE_FINAL') throw error;
      }
    });
    intention.recalled = true;
  }

  async #read(client: Client, user: string, conversationId: string, seq: number): Promise<void> {
    const key = markKey(user, conversationId);
    const mark = this.marks.get(key) ?? { held: 0, asked: 0 };
    this.marks.set(key, mark);
    mark.asked = Math.max(mark.asked, seq);
    mark.held = Math.max(mark.held, await this.#again(() => client.markRead(conversationId, seq)));
  }

  async #again<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!isQimClientError(error) || performance.now() > this.#finishBy) throw error;
        await pause(RETRY_PAUSE_MS);
      }
    }
  }
}

export function markKey(user: string, conversationId: string): string {
  return `${user} ${conversationId}`;
}

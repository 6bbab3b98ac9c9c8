/** The real server on its embedded store, the page as it is built, and people in windows of one Chromium. */
import { type Client, createClient, memoryStorage } from '@qim/client';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { type BuiltPage, buildPage } from '../../../../tools/testing/built-page.js';
import { launchChromium } from '../../../../tools/testing/chromium.js';
import { devToken, type RealServer, startRealServer } from '../../../../tools/testing/real-server.js';
import { Person } from './person.js';

/** Calls under way at the same time when many messages are sent. */
const PARALLEL = 128;

/** A condition to wait for; long, because a busy machine is slow and nothing is decided by it. */
export function eventually<T>(read: () => T | Promise<T>, timeout = 60_000) {
  return expect.poll(read, { timeout, interval: 20 });
}

export class House {
  readonly server: RealServer;
  readonly browser: Browser;
  readonly #page: BuiltPage;
  #people: Person[] = [];
  #clients: Client[] = [];

  private constructor(page: BuiltPage, server: RealServer, browser: Browser) {
    this.#page = page;
    this.server = server;
    this.browser = browser;
  }

  static async open(): Promise<House> {
    const page = await buildPage();
    return new House(page, await startRealServer({ pageFolder: page.folder }), await launchChromium());
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.server.end();
    await this.#page.remove();
  }

  /** After each test: everybody leaves, and nobody has seen an error. */
  async clear(): Promise<void> {
    const problems = this.#people.flatMap((person) => person.problems.map((problem) => `${person.name}: ${problem}`));
    for (const person of this.#people) await person.context.close();
    for (const client of this.#clients) client.close();
    this.#people = [];
    this.#clients = [];
    expect(problems).toEqual([]);
  }

  async enter(name: string, options?: BrowserContextOptions): Promise<Person> {
    const person = await Person.enter(this.browser, this.server.url, name, options);
    this.#people.push(person);
    return person;
  }

  /** Somebody without a browser. */
  sdk(user: string): Client {
    const { url } = this.server;
    const client = createClient({ url, token: () => devToken(url, user), WebSocket, storage: memoryStorage() });
    this.#clients.push(client);
    client.connect();
    return client;
  }

  /** Many messages, several at a time, in no certain order: 'line 1' to 'line <count>'. */
  async sendMany(user: string, target: { toUserId: string } | { conversationId: string }, count: number): Promise<void> {
    const { url } = this.server;
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${await devToken(url, user)}` };
    let next = 1;
    const work = async (): Promise<void> => {
      for (let n = next++; n <= count; n = next++) {
        const message = { ...target, clientMessageId: `${user}-many-${n}`, type: 'MESSAGE_TYPE_TEXT', text: `line ${n}` };
        const answer = await fetch(`${url}/qim.v1.MessageService/SendMessage`, { method: 'POST', headers, body: JSON.stringify(message) });
        if (!answer.ok) throw new Error(await answer.text());
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
  }
}

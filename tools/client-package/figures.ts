/** What the SDK costs, measured against the real server on its embedded store. */
import { type Client, createClient, type WebSocketConstructor } from '@qim/client';
import { WebSocket } from 'ws';
import { buildSdkPage } from '../../packages/client/tests/support/sdk-page.js';
import { launch } from '../../packages/web/tests/support/browser.js';
import { Caller } from '../testing/caller.js';
import { devToken, startRealServer } from '../testing/real-server.js';

const CONVERSATIONS = 200;
const RUNS = 20;
const MESSAGES = 50;

export interface WarmList {
  readonly entries: number;
  readonly storedMs: number;
  readonly medianMs: number;
  readonly slowestMs: number;
  readonly runs: number;
}

/** From making the client on a page that was just loaded until the list shows all conversations, with no link at all. */
export async function measureWarmList(): Promise<WarmList> {
  const page = await buildSdkPage();
  const server = await startRealServer({ pageFolder: page.folder });
  const browser = await launch();
  try {
    for (let n = 0; n < CONVERSATIONS; n += 1) await sayOnce(server.url, `friend-${n}`, 'ada', `hello from friend ${n}`);
    const tab = await browser.newPage();
    const load = async (): Promise<void> => {
      await tab.goto(server.url);
      await tab.waitForFunction(() => document.title === 'ready');
    };
    await load();
    const storedMs = await tab.evaluate<number>(FILL_CACHE);
    const times: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      await load();
      times.push(await tab.evaluate<number>(TIME_TO_LIST));
    }
    times.sort((a, b) => a - b);
    const rounded = (ms: number | undefined): number => Math.round((ms ?? 0) * 10) / 10;
    return {
      entries: CONVERSATIONS,
      storedMs: rounded(storedMs),
      medianMs: rounded(times[RUNS >> 1]),
      slowestMs: rounded(times.at(-1)),
      runs: RUNS,
    };
  } finally {
    await browser.close();
    await server.end();
    await page.remove();
  }
}

/** In the page, as text: what compiles this file adds helpers that a page does not have. Milliseconds until all was written. */
const FILL_CACHE = `(async () => {
  const client = make('ada');
  client.connect();
  const changed = () => new Promise((resolve) => client.conversations.subscribe(resolve));
  while (client.conversations.snapshot().status !== 'ready') await changed();
  while (client.conversations.snapshot().hasMore) await client.conversations.loadMore();
  const before = performance.now();
  const answer = (request) => new Promise((resolve) => request.addEventListener('success', () => resolve(request.result)));
  const [{ name }] = await indexedDB.databases();
  for (let stored = 0; stored < ${CONVERSATIONS}; ) {
    const database = await answer(indexedDB.open(name));
    stored = (await answer(database.transaction('kept').objectStore('kept').get('list')))?.length ?? 0;
    database.close();
  }
  client.close();
  return performance.now() - before;
})()`;

const TIME_TO_LIST = `(async () => {
  const before = performance.now();
  const { conversations } = make('ada');
  while (conversations.snapshot().conversations.length < ${CONVERSATIONS}) {
    await new Promise((resolve) => conversations.subscribe(resolve));
  }
  return performance.now() - before;
})()`;

/** Frames of one device, both ways, for each message that it gets; pings of the protocol itself are not among them. */
export async function measureFrames(): Promise<readonly string[]> {
  const server = await startRealServer();
  try {
    const lines: string[] = [];
    for (const [what, isOpen, apart] of CASES) {
      const { received, sent } = await framesOf(server.url, isOpen, apart, `${lines.length}`);
      const per = (count: number): string => (count / MESSAGES).toFixed(2);
      lines.push(`frames for each message delivered, ${what}: ${per(received)} received, ${per(sent)} sent (${MESSAGES} messages)`);
    }
    return lines;
  } finally {
    await server.end();
  }
}

const CASES: readonly [string, boolean, boolean][] = [
  ['list only, one at a time', false, true],
  ['list only, in a row', false, false],
  ['conversation open and read, one at a time', true, true],
  ['conversation open and read, in a row', true, false],
];

async function framesOf(url: string, isOpen: boolean, apart: boolean, part: string): Promise<{ received: number; sent: number }> {
  const count = { received: 0, sent: 0 };
  const [to, from] = [`to-${part}`, `from-${part}`];
  const clientOf = (user: string, socket: WebSocketConstructor): Client => {
    const client = createClient({ url, token: () => devToken(url, user), WebSocket: socket });
    client.connect();
    return client;
  };
  const [reader, writer] = [clientOf(to, counting(count)), clientOf(from, WebSocket)];
  const { message } = await writer.sendMessage({ target: { toUserId: to }, content: 'first' });
  const { conversationId } = message;
  const entry = () => reader.conversations.snapshot().conversations.find((one) => one.conversationId === conversationId);
  const seqOf = (): number => {
    const held = entry();
    return held?.damaged === undefined ? (held?.latestConversationSeq ?? 0) : 0;
  };
  const unread = (): boolean => {
    const held = entry();
    return held?.damaged === undefined && held?.unreadCount !== 0;
  };
  const settled = async (seq: number): Promise<void> => {
    while (seqOf() < seq || (isOpen && unread())) await new Promise<void>((resolve) => reader.conversations.subscribe(() => resolve()));
  };
  const open = isOpen ? reader.openConversation(conversationId) : undefined;
  open?.subscribe(() => open.markRead(open.snapshot().messages.at(-1)?.conversationSeq ?? 0));
  await settled(1);
  Object.assign(count, { received: 0, sent: 0 });
  for (let n = 0; n < MESSAGES; n += 1) {
    const sent = await writer.sendMessage({ target: { conversationId }, content: `n${n}` });
    if (apart || n === MESSAGES - 1) await settled(sent.message.conversationSeq);
  }
  for (const client of [reader, writer]) client.close();
  return count;
}

function counting(count: { received: number; sent: number }): WebSocketConstructor {
  return class extends WebSocket {
    constructor(url: string, protocols: string) {
      super(url, protocols);
      this.on('message', () => {
        count.received += 1;
      });
    }
    override send(data: Uint8Array): void {
      count.sent += 1;
      super.send(data);
    }
  };
}

async function sayOnce(url: string, user: string, toUserId: string, text: string): Promise<void> {
  const caller = new Caller(url, await devToken(url, user));
  await caller.call('MessageService/SendMessage', { toUserId, clientMessageId: 'once', type: 'MESSAGE_TYPE_TEXT', text });
}

/** The SDK against the real server over a link that breaks: the same on every store. */
import type { Client, ClientOptions, Conversation, Message } from '@qim/client';
import { HISTORY_PAGE_SIZE_MAX } from '@qim/proto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { FaultProxy } from '../../../../tools/testing/fault-proxy.js';
import { devToken, type RealServer } from '../../../../tools/testing/real-server.js';
import { environmentFrom } from '../../src/environment.js';
import { type Fate, lossySocket } from './lossy-socket.js';
import { online, until } from './setup.js';

const SEED = 20_261_202;
const CUT_EVERY_MS = 300;
/** Cuts that ask for no progress. */
const CUTS_BLIND = 8;

/** `waiting`: messages that a device finds on its return. */
export function faultSuite(name: string, waiting: number, start: () => Promise<RealServer>): void {
  describe(name, () => faults(waiting, start));
}

function faults(waiting: number, start: () => Promise<RealServer>): void {
  let server: RealServer;
  let proxy: FaultProxy;
  let people = 0;

  beforeAll(async () => {
    server = await start();
    proxy = await FaultProxy.open({ port: Number(new URL(server.url).port) });
  });
  afterAll(async () => {
    await proxy.close();
    await server.end();
  });

  /** Somebody new each time: stories share a server. */
  const somebody = (who: string): string => {
    people += 1;
    return `${who}-${people}`;
  };
  const direct = (user: string): Promise<Client> => online(server, user, { token: () => devToken(server.url, user, 'pad') });
  /** Over the proxy, and not patient: what a person who presses "try now" would do. */
  const throughProxy = async (user: string, options: Partial<ClientOptions> = {}): Promise<Client> => {
    const client = await online({ url: `http://127.0.0.1:${proxy.port}` }, user, {
      token: () => devToken(server.url, user, 'phone'),
      ...options,
    });
    client.connection.subscribe(() => client.retryNow());
    return client;
  };

  describe('a link that breaks', () => {
    test('at any frame, either way, orderly or not: what is sent ends in one message, and what is shown is the truth', async () => {
      const [anna, bert] = [somebody('anna'), somebody('bert')];
      const [client, other] = await Promise.all([throughProxy(anna), direct(bert)]);
      const { message } = await client.sendMessage({ target: { toUserId: bert }, content: 'first' });
      const { conversationId } = message;
      const open = client.openConversation(conversationId);
      const sent = ['first'];
      for (const direction of ['up', 'down'] as const) {
        for (const by of ['cut', 'reset'] as const) {
          for (let frames = 0; frames < 4; frames += 1) {
            const tripped = proxy.tripAt({ direction, after: { frames }, by });
            const content = `${direction} ${by} ${frames}`;
            sent.push(`mine ${content}`, `theirs ${content}`);
            // What follows the two sends, such as read marks and the list, brings it to the frame at the latest.
            await Promise.all([
              tripped,
              client.sendMessage({ target: { conversationId }, content: `mine ${content}` }),
              other.sendMessage({ target: { conversationId }, content: `theirs ${content}` }),
            ]);
          }
        }
      }
      await until(() => open.snapshot().messages.length === sent.length && open.snapshot().outgoing.length === 0);
      expect(texts(open.snapshot().messages).sort()).toEqual([...sent].sort());
      expect(open.snapshot().messages).toEqual(await historyOf(other, conversationId));
    });

    test('that swallows everything is found out, and nothing is lost or doubled', async () => {
      const [anna, bert] = [somebody('anna'), somebody('bert')];
      // Time runs ten times as fast for this client: a call's 15 s are 1.5 s.
      const [client, other] = await Promise.all([throughProxy(anna, hurried(10)), direct(bert)]);
      const { message } = await client.sendMessage({ target: { toUserId: bert }, content: 'first' });
      const { conversationId } = message;
      const open = client.openConversation(conversationId);
      await until(() => open.snapshot().messages.length === 1);
      proxy.become({ kind: 'blackHole' });
      const sending = client.sendMessage({ target: { conversationId }, content: 'into the hole' });
      await other.sendMessage({ target: { conversationId }, content: 'meanwhile' });
      await until(() => client.connection.snapshot().status !== 'online');
      proxy.heal();
      await sending;
      await until(() => open.snapshot().messages.length === 3);
      expect(texts(open.snapshot().messages).sort()).toEqual(['first', 'into the hole', 'meanwhile']);
    });

    test('that is half open on either side, and one that is slow, bring everything in the end', async () => {
      const [anna, bert] = [somebody('anna'), somebody('bert')];
      const [client, other] = await Promise.all([throughProxy(anna, hurried(10)), direct(bert)]);
      const { message } = await client.sendMessage({ target: { toUserId: bert }, content: 'n0' });
      const { conversationId } = message;
      const open = client.openConversation(conversationId);
      const sends: Promise<unknown>[] = [];
      for (const how of ['clientGone', 'serverGone'] as const) {
        proxy.become({ kind: 'slow', latencyMs: 20, jitterMs: 20 });
        sends.push(client.sendMessage({ target: { conversationId }, content: `mine ${how}` }));
        proxy.break(how);
        sends.push(other.sendMessage({ target: { conversationId }, content: `theirs ${how}` }));
        await until(() => client.connection.snapshot().status !== 'online' || texts(open.snapshot().messages).includes(`mine ${how}`));
        proxy.heal();
        await Promise.all(sends);
      }
      await until(() => open.snapshot().messages.length === 5 && open.snapshot().outgoing.length === 0);
      expect(open.snapshot().messages).toEqual(await historyOf(other, conversationId));
    });
  });

  test('messages waiting, and the link cut again and again: progress is kept, and nothing is doubled', async () => {
    const [anna, bert] = [somebody('anna'), somebody('bert')];
    const other = await direct(bert);
    const group = await other.createGroup({ title: 'busy', memberIds: [anna] });
    const { conversationId } = group;
    // No token, no connection: away for as long as the test says.
    let letIn = (): void => {};
    let away = Promise.resolve();
    const token = async (): Promise<string> => {
      await away;
      return devToken(server.url, anna, 'phone');
    };
    const client = await throughProxy(anna, { token });
    const open = client.openConversation(conversationId);
    await until(() => open.snapshot().status === 'ready');
    away = new Promise((resolve) => {
      letIn = resolve;
    });
    proxy.break('cut');
    await until(() => client.connection.snapshot().status !== 'online');
    other.close();
    await commitMany(server.url, bert, conversationId, waiting);
    const { schedule } = environmentFrom({ WebSocket });
    proxy.become({ kind: 'slow', latencyMs: 10, bytesPerSecond: 150_000 });
    letIn();
    const shownAtCuts = [0];
    const random = randomFrom(SEED);
    let cancel = (): void => {};
    const cutLater = (ticks: number): void => {
      cancel = schedule(CUT_EVERY_MS * (0.5 + random()), () => {
        const shown = open.snapshot().messages.length;
        // A machine on which coming back takes longer than this would never have a link at all: there, once a page has come.
        const isDue = ticks < CUTS_BLIND || shown > (shownAtCuts.at(-1) ?? 0);
        if (isDue && proxy.break(random() < 0.5 ? 'cut' : 'reset') > 0) shownAtCuts.push(shown);
        cutLater(ticks + 1);
      });
    };
    cutLater(0);
    try {
      await until(() => open.snapshot().messages.length >= waiting, 100_000);
    } finally {
      cancel();
      proxy.heal();
    }
    const shown = open.snapshot().messages;
    expect(new Set(shown.map(({ messageId }) => messageId)).size).toBe(shown.length);
    // What came before a cut was still there after it.
    expect(shownAtCuts).toEqual([...shownAtCuts].sort((a, b) => a - b));
    expect(shownAtCuts.length).toBeGreaterThan(1);
    await until(() => open.snapshot().messages.length === waiting + 1);
    expect(open.snapshot().messages).toEqual(await historyOf(await direct(bert), conversationId));
  });

  test('state plus lossy events equals a fresh fetch, once the link was made anew', async () => {
    const fates = fc.array(fc.constantFrom<Fate>('once', 'twice', 'late', 'lost'), { minLength: 1, maxLength: 8 });
    const property = fc.asyncProperty(fates, fc.array(deedOf, { minLength: 3, maxLength: 20, size: 'max' }), async (line, deeds) => {
      const [anna, bert] = [somebody('anna'), somebody('bert')];
      const [client, other] = await Promise.all([throughProxy(anna, { WebSocket: lossySocket(line) }), direct(bert)]);
      const group = await other.createGroup({ title: 'room', memberIds: [anna], historyVisibility: 'all' });
      const { conversationId } = group;
      const open = client.openConversation(conversationId);
      for (const deed of deeds) await doDeed(deed, { mine: client, theirs: other, me: anna, conversationId });
      await other.addMembers(conversationId, [anna]);
      proxy.break('reset');
      await other.sendMessage({ target: { conversationId }, content: 'last' });
      const fresh = await direct(anna);
      await until(() => texts(open.snapshot().messages).at(-1) === 'last');
      const history = await historyOf(fresh, conversationId);
      await until(() => JSON.stringify(open.snapshot().messages) === JSON.stringify(history));
      const listed = (from: Client): readonly Conversation[] => from.conversations.snapshot().conversations;
      await until(() => JSON.stringify(listed(client)) === JSON.stringify(listed(fresh)));
      for (const one of [client, other, fresh]) one.close();
    });
    await fc.assert(property, { seed: SEED, numRuns: 5, endOnFailure: true });
  });
}

type Act = 'send' | 'theySend' | 'edit' | 'recall' | 'react' | 'read' | 'remove' | 'add' | 'rename' | 'flag';
interface Deed {
  readonly act: Act;
  readonly back: number;
}
const acts: Act[] = ['send', 'theySend', 'theySend', 'theySend', 'edit', 'recall', 'react', 'read', 'remove', 'add', 'rename', 'flag'];
const deedOf: fc.Arbitrary<Deed> = fc.record({ act: fc.constantFrom(...acts), back: fc.nat(3) });

interface Scene {
  readonly mine: Client;
  readonly theirs: Client;
  readonly me: string;
  readonly conversationId: string;
}

/** What is refused is refused: no deed needs to be possible. */
async function doDeed(deed: Deed, scene: Scene): Promise<void> {
  try {
    await tryDeed(deed, scene);
  } catch (error) {
    if (!(error instanceof Error && error.name === 'QimClientError')) throw error;
  }
}

async function tryDeed({ act, back }: Deed, { mine, theirs, me, conversationId }: Scene): Promise<unknown> {
  const target = { conversationId };
  const last = async (): Promise<Message> => {
    const { messages } = await theirs.readHistory({ conversationId });
    const said = messages.filter(({ senderUserId, content }) => senderUserId !== me && content.kind === 'text');
    return said.at(-1 - back) ?? (await theirs.sendMessage({ target, content: 'something' })).message;
  };
  switch (act) {
    case 'send':
      return mine.sendMessage({ target, content: 'mine' });
    case 'theySend':
      return theirs.sendMessage({ target, content: 'theirs' });
    case 'edit':
      return theirs.editMessage({ ...(await last()), content: `edited ${back}` });
    case 'recall':
      return theirs.recallMessage(await last());
    case 'react':
      return mine.setReaction(await last(), back % 2 === 0 ? '👍' : '🎉', back < 2);
    case 'read':
      return mine.markRead(conversationId, (await last()).conversationSeq);
    case 'remove':
      return theirs.removeMember(conversationId, me);
    case 'add':
      return theirs.addMembers(conversationId, [me]);
    case 'rename':
      return theirs.updateConversation(conversationId, { title: `room ${back}` });
    case 'flag':
      return mine.setConversationFlags(conversationId, { muted: back % 2 === 0 });
  }
}

function texts(messages: readonly Message[]): string[] {
  return messages.map(({ content }) => (content.kind === 'text' ? content.text : content.kind));
}

async function historyOf(client: Client, conversationId: string): Promise<readonly Message[]> {
  const all: Message[] = [];
  for (let hasMore = true; hasMore; ) {
    const page = await client.readHistory({ conversationId, afterSeq: all.at(-1)?.conversationSeq ?? 0, limit: HISTORY_PAGE_SIZE_MAX });
    all.push(...page.messages);
    hasMore = page.hasMore;
  }
  return all;
}

/** Over plain HTTP, so that nobody is told of each but who is meant to be away. */
async function commitMany(url: string, user: string, conversationId: string, count: number): Promise<void> {
  const token = await devToken(url, user);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) {
      const body = JSON.stringify({ conversationId, clientMessageId: `n${n}`, type: 'MESSAGE_TYPE_TEXT', text: `n${n}` });
      const answer = await fetch(new URL('/qim.v1.MessageService/SendMessage', url), { method: 'POST', headers, body });
      if (!answer.ok) throw new Error(await answer.text());
    }
  };
  await Promise.all(Array.from({ length: 50 }, worker));
}

/** The same numbers each time; 0 <= x < 1. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

function hurried(factor: number) {
  const { schedule, now } = environmentFrom({ WebSocket });
  const begun = now();
  return { schedule: (ms: number, run: () => void) => schedule(ms / factor, run), now: () => begun + (now() - begun) * factor };
}

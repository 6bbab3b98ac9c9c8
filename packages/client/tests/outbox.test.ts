import { create, fromBinary, toJson } from '@bufbuild/protobuf';
import { CLIENT_OUTBOX_MAX, SEND_AGE_MS_MAX, SEND_RETRY_MS_MAX } from '@qim/proto';
import { SendMessageRequestSchema } from '@qim/proto/schema';
import { describe, expect, test, vi } from 'vitest';
import type { MessageApi, SentMessage } from '../src/api/message-api.js';
import { Calls } from '../src/calls.js';
import { environmentFrom } from '../src/environment.js';
import { clientClosed, clientError, QimClientError } from '../src/errors.js';
import { Outbox, type OutboxOptions } from '../src/outbox.js';
import { FakeSocket } from './support/fake-socket.js';
import type { CallFate } from './support/frame-server.js';
import { message } from './support/messages.js';
import { online, startServer, until } from './support/setup.js';

const target = { conversationId: 'g_1' };

/** An outbox over a send that the test plays, with fake time. */
function outboxOver(sendOnce: MessageApi['sendOnce'], part: Partial<Pick<OutboxOptions, 'sent' | 'pause'>> = {}): Outbox {
  const environment = environmentFrom({ WebSocket: FakeSocket, random: () => 0 });
  const pause = (ms: number) => new Calls(environment).pause(ms);
  const keeper = { put: () => {}, remove: () => {} };
  const outbox = new Outbox({ api: { sendOnce }, environment, keeper, pause, sent: () => false, ...part });
  outbox.begin([]);
  return outbox;
}

const answerTo = ({ clientMessageId }: { clientMessageId: string }): SentMessage => ({
  message: message(1, { clientMessageId }),
  duplicate: false,
});

describe('a send', () => {
  test('shows at once, and then in its place', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    await until(() => open.snapshot().status === 'ready');
    const sending = alice.sendMessage({ target, content: 'hello' });
    expect(open.snapshot().outgoing).toMatchObject([{ status: 'sending', content: { kind: 'text', text: 'hello' } }]);
    const { message: sent } = await sending;
    await until(() => open.snapshot().messages.length === 1 && open.snapshot().outgoing.length === 0);
    expect(open.snapshot().messages[0]?.messageId).toBe(sent.messageId);
    expect(alice.outbox.snapshot()).toEqual([]);
  });

  test('whose event comes before its answer shows once', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    await until(() => open.snapshot().status === 'ready');
    server.fate = ({ method }) => (method.endsWith('SendMessage') ? 'loseAnswer' : 'answer');
    alice.sendMessage({ target, content: 'hello' }).catch(() => {});
    await until(() => open.snapshot().messages.length === 1);
    expect(alice.outbox.snapshot()).toMatchObject([{ status: 'sending' }]);
    expect(open.snapshot().outgoing).toEqual([]);
  });

  test('whose answer is lost with the link is made again under the same id, and ends in one message', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    const alice = await online(server, 'alice');
    let lost = 0;
    server.fate = ({ method }) => {
      if (!method.endsWith('SendMessage') || lost > 0) return 'answer';
      lost += 1;
      queueMicrotask(() => server.cut());
      return 'loseAnswer';
    };
    const sent = await alice.sendMessage({ target, content: 'once' });
    expect(sent.duplicate).toBe(true);
    const ids = server.callsOf('SendMessage').map(({ body }) => fromBinary(SendMessageRequestSchema, body).clientMessageId);
    expect(ids).toEqual([sent.message.clientMessageId, sent.message.clientMessageId]);
    expect(server.chat.get('g_1').messages.length).toBe(1);
  });

  test('made while there is no link goes out when there is one', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice');
    const alice = await online(server, 'alice');
    await server.stop();
    await until(() => alice.connection.snapshot().status !== 'online');
    const sending = alice.sendMessage({ target, content: 'later' });
    await server.start();
    expect((await sending).message.content).toEqual({ kind: 'text', text: 'later' });
  });

  test('to a user makes the direct conversation', async () => {
    const server = await startServer();
    const alice = await online(server, 'alice');
    const { message: sent } = await alice.sendMessage({ target: { toUserId: 'bob' }, content: 'hi' });
    await until(() => alice.conversations.snapshot().conversations[0]?.conversationId === sent.conversationId);
  });

  test('that the server refuses fails at once, is kept, and can be sent again or dropped', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice');
    const alice = await online(server, 'alice');
    server.fate = ({ method }) => (method.endsWith('SendMessage') ? { code: 'permission_denied', reason: 'FORBIDDEN' } : 'answer');
    await expect(alice.sendMessage({ target, content: 'no' })).rejects.toMatchObject({ reason: 'FORBIDDEN', outcomeUnknown: false });
    await expect(alice.sendMessage({ target, content: 'nor this' })).rejects.toMatchObject({ reason: 'FORBIDDEN' });
    const [first, second] = alice.outbox.snapshot();
    expect(first).toMatchObject({ status: 'failed', error: { reason: 'FORBIDDEN' } });
    server.fate = () => 'answer';
    const sent = await alice.outbox.retry(first?.clientMessageId ?? '');
    expect(sent.message.clientMessageId).toBe(first?.clientMessageId);
    alice.outbox.drop(second?.clientMessageId ?? '');
    expect(alice.outbox.snapshot()).toEqual([]);
  });
});

describe('messages of one conversation', () => {
  test('go one after another, in the order in which they were given', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice');
    const alice = await online(server, 'alice');
    let underway = 0;
    server.fate = async ({ method }): Promise<CallFate> => {
      if (!method.endsWith('SendMessage')) return 'answer';
      underway += 1;
      expect(underway).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      underway -= 1;
      return 'answer';
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => alice.sendMessage({ target, content: `n${n}` })));
    const texts = server.chat.get('g_1').messages.map(({ body }) => body.value);
    expect(texts).toEqual(Array.from({ length: 20 }, (_, n) => `n${n}`));
  });

  test('do not wait for those of another', async () => {
    const begun: string[] = [];
    const outbox = outboxOver((input) => {
      begun.push('conversationId' in input.target ? input.target.conversationId : '');
      return new Promise(() => {});
    });
    for (const conversationId of ['g_1', 'g_1', 'g_2']) void outbox.send({ target: { conversationId }, content: 'x' });
    expect(begun).toEqual(['g_1', 'g_2']);
  });
});

describe('trying again', () => {
  test('goes on under one id while the failure may pass, and ends at the bound with an unknown outcome', async () => {
    vi.useFakeTimers();
    try {
      const ids = new Set<string>();
      let tries = 0;
      const outbox = outboxOver((input) => {
        ids.add(input.clientMessageId);
        tries += 1;
        return Promise.reject(clientError('CALL_TIMEOUT', 'no answer', true));
      });
      const failed = expect(outbox.send({ target, content: 'x' })).rejects.toMatchObject({ reason: 'CALL_TIMEOUT', outcomeUnknown: true });
      const begun = Date.now();
      await vi.advanceTimersByTimeAsync(SEND_RETRY_MS_MAX);
      await failed;
      expect([ids.size, tries > 10, Date.now() - begun]).toEqual([1, true, SEND_RETRY_MS_MAX]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('waits as long as a rate limit says', async () => {
    vi.useFakeTimers();
    try {
      let tries = 0;
      const outbox = outboxOver((input) => {
        tries += 1;
        if (tries > 1) return Promise.resolve(answerTo(input));
        const init = { code: 'resource_exhausted', reason: 'RATE_LIMITED', message: 'slower', retryAfterMs: 7_000 };
        return Promise.reject(new QimClientError(init));
      });
      const sending = outbox.send({ target, content: 'x' });
      await vi.advanceTimersByTimeAsync(6_999);
      expect(tries).toBe(1);
      await vi.advanceTimersByTimeAsync(1);
      await sending;
    } finally {
      vi.useRealTimers();
    }
  });

  test('ends when the client is closed, and says that one of the tries may have arrived', async () => {
    const calls = new Calls(environmentFrom({ WebSocket: FakeSocket }));
    const sendOnce = () => Promise.reject(clientError('CALL_TIMEOUT', 'no answer', true));
    const outbox = outboxOver(sendOnce, { pause: (ms) => calls.pause(ms) });
    const failed = expect(outbox.send({ target, content: 'x' })).rejects.toMatchObject({ reason: 'CLIENT_CLOSED', outcomeUnknown: true });
    calls.close(clientClosed());
    outbox.close();
    await failed;
  });

  test('may have arrived, however long the link was away since', async () => {
    vi.useFakeTimers();
    try {
      const ends = [clientError('CONNECTION_LOST', 'lost', true), clientError('NOT_CONNECTED', 'none'), clientClosed()];
      const outbox = outboxOver(async () => {
        await vi.advanceTimersByTimeAsync(SEND_RETRY_MS_MAX);
        throw ends.shift() ?? new Error('one try too many');
      });
      const sending = outbox.send({ target, content: 'x' });
      await expect(sending).rejects.toMatchObject({ reason: 'CLIENT_CLOSED', outcomeUnknown: true });
    } finally {
      vi.useRealTimers();
    }
  });
});

test('holds messages up to the bound; one more is refused', async () => {
  const outbox = outboxOver(() => new Promise(() => {}));
  for (let n = 0; n < CLIENT_OUTBOX_MAX; n += 1) void outbox.send({ target: { conversationId: `g_${n}` }, content: 'x' });
  await expect(outbox.send({ target, content: 'x' })).rejects.toMatchObject({ reason: 'CLIENT_LIMIT' });
  expect(outbox.state.snapshot().length).toBe(CLIENT_OUTBOX_MAX);
});

test('what was kept goes up to its greatest age; past it, only when it is asked for', async () => {
  const now = 1_800_000_000_000;
  const tried: string[] = [];
  const sendOnce: MessageApi['sendOnce'] = async (input) => {
    tried.push(input.clientMessageId);
    return answerTo(input);
  };
  const environment = environmentFrom({ WebSocket: FakeSocket, now: () => now });
  const pause = (ms: number) => new Calls(environment).pause(ms);
  const outbox = new Outbox({ api: { sendOnce }, environment, keeper: { put: () => {}, remove: () => {} }, pause, sent: () => false });
  const keptFor = (ageMs: number, clientMessageId: string) => {
    const createdAtMs = now - ageMs;
    return { order: createdAtMs, createdAtMs, input: { target, content: 'kept', clientMessageId }, failure: undefined };
  };
  outbox.begin([keptFor(SEND_AGE_MS_MAX + 1, 'past'), keptFor(SEND_AGE_MS_MAX, 'at')]);
  await vi.waitFor(() => expect(outbox.state.snapshot().length).toBe(1));
  expect([tried, outbox.state.snapshot()]).toMatchObject([
    ['at'],
    [{ clientMessageId: 'past', status: 'failed', error: { reason: 'TOO_OLD', outcomeUnknown: true } }],
  ]);
  await outbox.retry('past');
  expect(tried).toEqual(['at', 'past']);
});

test('a failed one that shows after all did arrive, and is let go', async () => {
  const outbox = outboxOver(() => Promise.reject(clientError('CANCELED', 'no')));
  await expect(outbox.send({ target, content: 'x', clientMessageId: 'mine' })).rejects.toThrow();
  outbox.settle('mine');
  expect(outbox.state.snapshot()).toEqual([]);
});

test('a request carries what it was given', async () => {
  const server = await startServer();
  server.chat.add('g_1', 'alice');
  const alice = await online(server, 'alice');
  const extras = {
    mentionUserIds: ['bob'],
    mentionAll: true,
    replyTo: { conversationSeq: 3, messageId: 'm3' },
    readConversationSeq: 4,
    type: 77,
  };
  await alice.sendMessage({ target, content: { kind: 'data', contentType: 'image/png', data: new Uint8Array([1]) }, ...extras });
  const [call] = server.callsOf('SendMessage');
  const request = fromBinary(SendMessageRequestSchema, call?.body ?? new Uint8Array());
  const wanted = create(SendMessageRequestSchema, {
    target: { case: 'conversationId', value: 'g_1' },
    clientMessageId: request.clientMessageId,
    type: 77 as never,
    body: { case: 'content', value: { contentType: 'image/png', data: new Uint8Array([1]) } },
    mentionUserIds: ['bob'],
    mentionAll: true,
    replyTo: { conversationSeq: 3n, messageId: 'm3' },
    readConversationSeq: 4n,
  });
  expect(toJson(SendMessageRequestSchema, request)).toEqual(toJson(SendMessageRequestSchema, wanted));
});

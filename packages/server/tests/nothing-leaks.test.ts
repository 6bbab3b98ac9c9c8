/**
 * A run in which everything that must stay between people has a word of its own; then all that the server told to others than
 * its readers is looked through for these words: its log at its loudest, its metrics, the errors that it answered.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Store } from '@qim/store';
import { openMemoryStore } from '@qim/store/memory';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { SECRET, startTestServer, type TestServer } from './running.js';

const WORDS = {
  text: 'walnut-text',
  edit: 'walnut-edit',
  content: 'walnut-content',
  title: 'walnut-title',
  name: 'walnut-name',
  comment: 'walnut-comment',
  control: 'walnut-control',
} as const;

/** Of a token, what may be nobody else's: its signature. */
const signatureOf = (token: string) => token.split('.')[2] ?? '';

/** From now on each commit fails, as a bug of ours would. */
function breaking(store: Store): { readonly store: Store; readonly breakNow: () => void } {
  let broken = false;
  const messages = Object.create(store.messages) as Store['messages'];
  messages.commit = async (request) => {
    if (broken) throw new Error('planted');
    return store.messages.commit(request);
  };
  return { store: { ...store, messages }, breakNow: () => (broken = true) };
}

interface Told {
  readonly errors: string[];
  readonly answers: number;
}

/** Everything with a word in it, once so that it works, and once in each way that it may be refused. */
async function converse(server: TestServer, breakNow: () => void): Promise<Told> {
  const [alice, admin] = [await server.token({ user: 'alice' }), await server.token({ user: 'backend', admin: true })];
  const errors: string[] = [];
  let answers = 0;
  const call = async (method: string, body: object, token: string | undefined = alice, headers: Record<string, string> = {}) => {
    const response = await server.call(`qim.v1.${method}`, token, body, headers);
    const text = await response.text();
    answers += 1;
    if (!response.ok) errors.push(`${text} ${JSON.stringify([...response.headers])}`);
    return JSON.parse(text) as { conversation: { conversationId: string }; message: { conversationSeq: string; messageId: string } };
  };
  const { conversation } = await call('ConversationService/CreateGroup', { title: WORDS.title, memberIds: ['bob'] });
  const { conversationId } = conversation;
  const send = (more: object, token = alice) =>
    call('MessageService/SendMessage', { conversationId, clientMessageId: randomUUID(), type: 'MESSAGE_TYPE_TEXT', ...more }, token);
  const { message } = await send({ text: WORDS.text });
  const of = { conversationId, conversationSeq: message.conversationSeq, messageId: message.messageId };
  const data = Buffer.from(WORDS.content).toString('base64');
  await send({ type: 'MESSAGE_TYPE_FILE', content: { contentType: 'text/plain', data } });
  await call('MessageService/EditMessage', { ...of, text: WORDS.edit });
  await call('ConversationService/UpdateConversation', { conversationId, title: `${WORDS.title} 2` });
  await call('ProfileService/SetProfile', { displayName: WORDS.name, avatarUrl: `https://h/${WORDS.name}` });
  await call('ModerationService/ReportMessage', { ...of, comment: WORDS.comment });
  await call('AdminService/SendMessage', { conversationId, clientMessageId: 'c', type: 'MESSAGE_TYPE_TEXT', text: WORDS.text }, admin);
  await call('AdminService/SetProfile', { userId: 'bob', displayName: WORDS.name }, admin);
  await call('AdminService/MintToken', { userId: 'bob' }, admin);
  await call('SessionService/ListConversations', {}, admin, { 'Qim-On-Behalf-Of': 'alice' });
  // Refusals of each kind.
  await send({ text: WORDS.text, type: WORDS.text });
  await send({ text: [WORDS.text] });
  await send({ text: WORDS.text.repeat(2_000) });
  await send({ text: WORDS.text, replyTo: WORDS.text });
  await send({ text: WORDS.text }, await server.token({ user: 'outsider' }));
  await call('MessageService/EditMessage', { ...of, text: WORDS.edit }, await server.token({ user: 'bob' }));
  await call('SessionService/ListConversations', { pageToken: WORDS.text });
  await call('SessionService/ListConversations', {}, `${alice}x`);
  await call('AdminService/SetProfile', { userId: 'bob', displayName: WORDS.name });
  await call('ModerationService/ReportMessage', { ...of, comment: WORDS.comment.repeat(200) });
  await call(`MessageService/${WORDS.text}`, { text: WORDS.text });
  await overWebSocket(server, alice, conversationId);
  breakNow();
  await send({ text: WORDS.text });
  return { errors, answers };
}

/** A hello, a send, what is no frame, and a bad token. */
async function overWebSocket(server: TestServer, token: string, conversationId: string): Promise<void> {
  const body = { conversationId, clientMessageId: randomUUID(), type: 'MESSAGE_TYPE_TEXT', text: WORDS.text };
  const frames = [
    [{ id: 0, hello: { token } }, { id: 1, call: { method: 'qim.v1.MessageService/SendMessage', body } }, WORDS.text],
    [{ id: 0, hello: { token: `${token}x` } }],
  ];
  for (const sent of frames) {
    const socket = new WebSocket(new URL('/ws', server.url.replace(/^http/, 'ws')), ['qim.v1+json']);
    await once(socket, 'open');
    for (const frame of sent) socket.send(typeof frame === 'string' ? `{"${frame}` : JSON.stringify(frame));
    await once(socket, 'close');
  }
}

test('no content, title, name, token or secret is in the log, the metrics or an error', async () => {
  const { store, breakNow } = breaking(openMemoryStore({ now: Date.now }));
  const server = await startTestServer({ logLevel: 'trace' }, { store });
  try {
    const { errors, answers } = await converse(server, breakNow);
    const metrics = await (await fetch(new URL('/metrics', server.url))).text();
    const told = { log: server.lines.err.join('\n'), out: server.lines.out.join('\n'), metrics, errors: errors.join('\n') };
    const tokens = await Promise.all([server.token({ user: 'alice' }), server.token({ user: 'backend', admin: true })]);
    const secrets = [...Object.values(WORDS), ...Object.values(WORDS).map(base64), SECRET, ...tokens.map(signatureOf), 'eyJ'];
    for (const [place, text] of Object.entries(told))
      for (const secret of secrets) expect(text.includes(secret), `${secret} in ${place}`).toBe(false);
    // The run was one: it was answered, refused, and it failed, and the log has the failure and the audited calls.
    expect(answers).toBeGreaterThan(20);
    expect(errors.length).toBeGreaterThanOrEqual(11);
    expect(told.log).toContain('planted');
    expect(told.log).toContain('"kind":"audit"');
    expect(metrics).toContain('qim_call_seconds');
  } finally {
    await server.stop();
  }
});

function base64(text: string): string {
  return Buffer.from(text).toString('base64').slice(0, 12);
}

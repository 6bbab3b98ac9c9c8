/** Plays the transcripts of docs/protocol.md, line by line, against a real server. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call } from './support/http.js';
import { startServer, type TestServer } from './support/server.js';
import { JsonSocket } from './support/socket.js';

const document = readFileSync(fileURLToPath(new URL('../../../docs/protocol.md', import.meta.url)), 'utf8');

function blocks(language: string): string[][] {
  return [...document.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(([, text = '']) => text.trimEnd().split('\n'));
}

let server: TestServer;
let socket: JsonSocket;
let conversation = '';

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** What stands for the things that differ each time. */
async function filled(line: string): Promise<string> {
  return line.replace('<alice>', await server.token('alice')).replace('<conversation>', conversation);
}

/** Exactly what is printed, the order of members included. */
function expectLine(received: unknown, printed: string): void {
  const pattern = printed
    .split(/<(\w+)>/)
    .map((part, index) => (index % 2 === 0 ? part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : '[^"]+'))
    .join('');
  expect(JSON.stringify(received)).toMatch(new RegExp(`^${pattern}$`));
}

async function play(line: string): Promise<void> {
  const text = line.slice(2);
  if (line.startsWith('→ ')) return socket.raw(await filled(text));
  if (line.startsWith('← ')) {
    const frame = await socket.next();
    conversation = frame.reply?.message?.conversationId ?? conversation;
    expectLine(frame, text);
    return;
  }
  expect(line).toBe(`close ${(await socket.closed).code}`);
  socket = await JsonSocket.open(server.url);
}

it('shows what a server really says', async () => {
  const [hello, refused, calls, events, bad, ...others] = blocks('json');
  if (!hello || !refused || !calls || !events || !bad) throw new Error('docs/protocol.md has five transcripts');
  expect(others).toEqual([]);

  socket = await JsonSocket.open(server.url);
  for (const line of [...hello, ...calls]) await play(line);
  const said = { conversationId: conversation, clientMessageId: 'b1', type: 'MESSAGE_TYPE_TEXT', text: 'Hi, Alice' };
  await call(server.url, 'MessageService/SendMessage', await server.token('bob'), said);
  for (const line of [...events, ...bad, ...refused]) await play(line);
});

it('shows what a call over HTTP really says', async () => {
  const [[request = '', body = '', , status, answer = ''] = []] = blocks('http');
  const carol = await server.token('carol');
  const sent = await call(server.url, 'MessageService/SendMessage', await server.token('dan'), {
    toUserId: 'carol',
    clientMessageId: 'd1',
    type: 'MESSAGE_TYPE_TEXT',
    text: 'hi',
  });
  conversation = sent.body.message.conversationId;
  const method = request.replace('POST /qim.v1.', '') as 'SessionService/MarkRead';
  const received = await call(server.url, method, carol, JSON.parse(await filled(body)));
  expect(received.status).toBe(Number(status));
  expectLine(received.body, answer);
});

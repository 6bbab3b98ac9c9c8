/** A real receiver of webhooks over HTTP, and whole servers that call it. */
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { startTestServer, type TestServer, temporaryFolder } from './running.js';

export const HOOK_SECRET = 'the present secret of the webhook, long enough';

export interface Told {
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly body: {
    readonly type: string;
    readonly id: string;
    readonly change?: string;
    readonly action?: string;
    readonly message: { readonly conversationId: string; readonly conversationSeq: string; readonly text?: string };
    readonly recipients?: readonly { readonly userId: string; readonly badge: { readonly unreadCount: number; readonly exact: boolean } }[];
  };
}

/** Answers by `answer`; `down` closes it, so that nobody answers, and `up` opens it again at the same port. */
export async function startReceiver() {
  const told: Told[] = [];
  let answer: (told: Told) => readonly [status: number, body: string, location?: string] | 'never' = () => [200, '{"allow":true}'];
  let server: Server | undefined;
  let port = 0;
  const up = async () => {
    server = createServer((request, response) => void taken(request, response));
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  };
  const taken = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const one: Told = { headers: request.headers, text, body: JSON.parse(text) as Told['body'] };
    const given = answer(one);
    if (given === 'never') return;
    // As docs/webhooks.md says: what comes again, because a partition went to another owner, has the id that it had.
    if (given[0] < 300 && !told.some(({ body }) => body.id === one.body.id)) told.push(one);
    response.writeHead(given[0], given[2] === undefined ? {} : { location: given[2] }).end(given[1]);
  };
  const down = async () => {
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
  };
  await up();
  onTestFinished(down);
  return { told, up, down, url: `http://127.0.0.1:${port}/hook`, answering: (next: typeof answer) => (answer = next) };
}

export async function secretFile(...secrets: string[]): Promise<string> {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const file = join(folder, 'webhook-secret');
  await writeFile(file, `${secrets.join('\n')}\n`);
  return file;
}

export async function startWithWebhook(flags: Parameters<typeof startTestServer>[0], more: Parameters<typeof startTestServer>[1] = {}) {
  const server = await startTestServer({ webhookSecretFile: await secretFile(HOOK_SECRET), ...flags }, more);
  onTestFinished(() => server.stop());
  return server;
}

export async function send(server: TestServer, user: string, body: object): Promise<Response> {
  const given = { clientMessageId: crypto.randomUUID(), type: 'MESSAGE_TYPE_TEXT', text: 'a secret', ...body };
  return server.call('qim.v1.MessageService/SendMessage', await server.token({ user }), given);
}

export async function eventually(check: () => void | Promise<void>) {
  await vi.waitFor(check, { timeout: 60_000, interval: 20 });
}

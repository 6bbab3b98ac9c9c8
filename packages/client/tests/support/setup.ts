/** One server and as many clients as a test wants, all ended after it. */
import { type Client, type ClientOptions, createClient } from '@qim/client';
import { afterEach, vi } from 'vitest';
import { WebSocket } from 'ws';
import { FrameServer } from './frame-server.js';

const ends: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

export async function startServer(): Promise<FrameServer> {
  const server = await new FrameServer().start();
  ends.push(() => server.stop());
  return server;
}

export function makeClient(server: { readonly url: string }, user: string, options: Partial<ClientOptions> = {}): Client {
  // Random 1: the shortest pauses that are ever taken, so that tests wait little and know how long.
  const client = createClient({ url: server.url, token: () => user, WebSocket, random: () => 0.999, ...options });
  ends.push(() => client.close());
  return client;
}

export async function online(server: { readonly url: string }, user: string, options: Partial<ClientOptions> = {}): Promise<Client> {
  const client = makeClient(server, user, options);
  client.connect();
  await until(() => client.connection.snapshot().status === 'online' && client.conversations.snapshot().status === 'ready');
  return client;
}

/** Waits for what must come to be. */
export async function until(holds: () => boolean, withinMs = 20_000): Promise<void> {
  await vi.waitFor(
    () => {
      if (!holds()) throw new Error(`did not come to be: ${holds.toString()}`);
    },
    { timeout: withinMs, interval: 5 },
  );
}

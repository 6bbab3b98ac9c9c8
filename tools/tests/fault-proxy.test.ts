/** What a link through the proxy does, seen from both of its ends. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FaultProxy } from '../testing/fault-proxy.js';
import { WebSocketFrames } from '../testing/websocket-frames.js';

/** What one end has seen. */
class End {
  text = '';
  ended: 'no' | 'fin' | 'reset' = 'no';
  readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => (this.text += chunk.toString('latin1')));
    socket.on('end', () => (this.ended = 'fin'));
    socket.on('error', () => (this.ended = 'reset'));
  }
}

let server: Server;
let accepted: End[] = [];
let proxy: FaultProxy;
const clients: End[] = [];

beforeEach(async () => {
  accepted = [];
  server = createServer((socket) => accepted.push(new End(socket)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  proxy = await FaultProxy.open({ port: address !== null && typeof address === 'object' ? address.port : 0, random: () => 0.5 });
});
afterEach(async () => {
  for (const { socket } of [...clients.splice(0), ...accepted]) socket.destroy();
  await proxy.close();
  server.close();
});

async function dial(): Promise<End> {
  const end = new End(connect(proxy.port, '127.0.0.1'));
  clients.push(end);
  await once(end.socket, 'connect');
  return end;
}

/** Both ends of a link over which something has passed. */
async function linked(): Promise<readonly [End, End]> {
  const client = await dial();
  client.socket.write('hello.');
  await vi.waitFor(() => expect(accepted.at(-1)?.text).toBe('hello.'));
  const far = accepted.at(-1);
  if (far === undefined) throw new Error('it was accepted');
  return [client, far];
}

describe('a link', () => {
  it('is sound: bytes pass both ways, and an end passes after the last of them', async () => {
    const [client, far] = await linked();
    far.socket.end('bye');
    await vi.waitFor(() => expect(client).toMatchObject({ text: 'bye', ended: 'fin' }));
    await vi.waitFor(() => expect(proxy.links).toBe(0));
  });

  it('that is slow delivers later, in order', async () => {
    const [client, far] = await linked();
    proxy.become({ kind: 'slow', latencyMs: 100, jitterMs: 20 });
    const sentAt = performance.now();
    for (const word of ['a', 'b', 'c']) client.socket.write(word);
    await vi.waitFor(() => expect(far.text).toBe('hello.abc'));
    expect(performance.now() - sentAt).toBeGreaterThanOrEqual(105);
  });

  it('that is narrow passes so many bytes a second', async () => {
    const [client, far] = await linked();
    proxy.become({ kind: 'slow', latencyMs: 0, bytesPerSecond: 100_000 });
    const sentAt = performance.now();
    client.socket.write(Buffer.alloc(20_000, 'x'));
    await vi.waitFor(() => expect(far.text).toHaveLength(20_006));
    expect(performance.now() - sentAt).toBeGreaterThanOrEqual(195);
  });

  it('into a black hole passes nothing and closes nothing; what was sent comes once it ends', async () => {
    const [client, far] = await linked();
    proxy.become({ kind: 'blackHole' });
    client.socket.write('lost?');
    far.socket.end('and this');
    const late = await dial();
    late.socket.write('new');
    await once(client.socket, 'data', { signal: AbortSignal.timeout(100) }).catch(() => undefined);
    expect([client.text, client.ended, far.text]).toEqual(['', 'no', 'hello.']);
    proxy.heal();
    await vi.waitFor(() => expect(far.text).toBe('hello.lost?'));
    await vi.waitFor(() => expect(client).toMatchObject({ text: 'and this', ended: 'fin' }));
    await vi.waitFor(() => expect(accepted.at(-1)?.text).toBe('new'));
  });

  it('that refuses resets new connections and leaves the open ones', async () => {
    const [client, far] = await linked();
    proxy.become({ kind: 'refuse' });
    const late = await dial().catch(() => undefined);
    if (late !== undefined) await vi.waitFor(() => expect(late.ended).toBe('reset'));
    client.socket.write('still');
    await vi.waitFor(() => expect(far.text).toBe('hello.still'));
  });

  it('passes a refusal of the server on', async () => {
    server.close();
    const client = await dial().catch(() => undefined);
    if (client !== undefined) await vi.waitFor(() => expect(client.ended).toBe('reset'));
  });
});

describe('a break', () => {
  it('is a cut: both ends are closed in order', async () => {
    const [client, far] = await linked();
    expect(proxy.break('cut')).toBe(1);
    await vi.waitFor(() => expect([client.ended, far.ended]).toEqual(['fin', 'fin']));
    const [next] = await linked();
    expect(next.ended).toBe('no');
  });

  it('is a reset: both ends are told so', async () => {
    const [client, far] = await linked();
    proxy.break('reset');
    await vi.waitFor(() => expect([client.ended, far.ended]).toEqual(['reset', 'reset']));
  });

  it.each(['serverGone', 'clientGone'] as const)('leaves a link half open: %s', async (how) => {
    const [client, far] = await linked();
    proxy.break(how);
    const [gone, left] = how === 'serverGone' ? [far, client] : [client, far];
    await vi.waitFor(() => expect(gone.ended).toBe('reset'));
    left.socket.write('is anybody there?');
    const [, second] = await linked();
    expect([left.ended, second.text]).toEqual(['no', 'hello.']);
    proxy.heal();
    await vi.waitFor(() => expect(left.ended).toBe('reset'));
  });

  it('happens exactly at a byte', async () => {
    const [client, far] = await linked();
    const tripped = proxy.tripAt({ direction: 'up', after: { bytes: 7 }, by: 'reset' });
    client.socket.write('123');
    client.socket.write('456789');
    await tripped;
    await vi.waitFor(() => expect(client.ended).toBe('reset'));
    // With bytes just before it, a reset is to Node at times an end; and it may drop what waits in the kernel.
    await vi.waitFor(() => expect(far.ended).not.toBe('no'));
    expect('hello.1234567'.startsWith(far.text)).toBe(true);
  });

  it('happens exactly after a WebSocket frame, whatever the chunks are', async () => {
    const client = await dial();
    client.socket.write('GET /ws HTTP/1.1\r\n\r\n');
    const tripped = proxy.tripAt({ direction: 'up', after: { frames: 2 }, by: 'cut' });
    for (const byte of [...frame('one'), ...frame('two'), ...frame('three')]) client.socket.write(Buffer.of(byte));
    await tripped;
    const expected = Buffer.concat([Buffer.from('GET /ws HTTP/1.1\r\n\r\n'), frame('one'), frame('two')]).toString('latin1');
    await vi.waitFor(() => expect(accepted[0]).toMatchObject({ text: expected, ended: 'fin' }));
  });
});

function frame(text: string): Buffer {
  const head = Buffer.from([0x82, 0x80 | text.length, 0, 0, 0, 0]);
  return Buffer.concat([head, Buffer.from(text)]);
}

describe('the frames of a WebSocket', () => {
  const long = Buffer.concat([Buffer.from([0x82, 126, 1, 0]), Buffer.alloc(256)]);
  const longest = Buffer.concat([Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]), Buffer.alloc(65_536)]);
  const whole = Buffer.concat([Buffer.from('HTTP/1.1 101 Yes\r\n\r\n'), frame('a'), Buffer.from([0x89, 0]), long, longest]);

  it.each([1, 3, 1000, 1_000_000])('end where they end, in chunks of %d', (size) => {
    const frames = new WebSocketFrames();
    const ends: number[] = [];
    for (let at = 0; at < whole.length; at += size) ends.push(...frames.endsIn(whole.subarray(at, at + size)).map((end) => at + end));
    expect(ends).toEqual([27, 29, 289, 65_835]);
  });

  it('are none on what is not HTTP', () => {
    expect(new WebSocketFrames().endsIn(Buffer.from('*1\r\n$4\r\nPING\r\n\r\n'))).toEqual([]);
  });
});

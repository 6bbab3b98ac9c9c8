/** The wire before a server that answers what the test says: pieces, bounds, and what it never asked for. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { WIRE_BYTES_MAX, WIRE_SLAB_BYTES } from '@qim/proto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseAddress } from '../src/redis/address.js';
import { Wire } from '../src/redis/wire.js';
import type { Replies } from '../src/redis/wire-replies.js';
import { encodedCommand } from '../src/redis/wire-request.js';

const GREETING = '+OK\r\n+OK\r\n$11\r\nrole:master\r\n';
let server: Server;
let wire: Wire;
let answer: (socket: Socket) => void;
const sockets = new Set<Socket>();
let opened = 0;

beforeEach(async () => {
  opened = 0;
  server = createServer((socket) => {
    opened += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (asked) => {
      if (asked.includes('INFO')) socket.write(GREETING);
      else answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  wire = new Wire({ address: parseAddress(`redis://127.0.0.1:${port}`), name: 'test', timeoutMs: 30_000, onRoundTrip: () => {} });
  answer = (socket) => socket.write('$1\r\na\r\n');
  await vi.waitFor(async () => expect(await ask([1], (replies) => replies.text())).toEqual(['a']), { timeout: 30_000 });
});
afterEach(async () => {
  wire.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

function ask<T>(groups: readonly number[], read: (replies: Replies, group: number) => T): Promise<T[] | undefined> {
  const request = wire.request(16);
  for (const commands of groups) {
    for (let i = 0; i < commands; i += 1) request.words(encodedCommand(['PING']));
    request.group(commands);
  }
  return wire.round(request, read, true);
}

function bulk(bytes: number): Buffer {
  const head = `$${bytes}\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.alloc(bytes, 'x'), Buffer.from('\r\n')]);
}

/** A bulk reply of so many bytes with all that stands around it. */
function reply(total: number): Buffer {
  const around = `$${total}\r\n\r\n`.length;
  return bulk(total - around);
}

test('a group is read while the next one is still to come', async () => {
  let told = (): void => {};
  const first = new Promise<void>((resolve) => {
    told = resolve;
  });
  answer = (socket) => {
    socket.write('$1\r\nb\r\n$1\r');
    void first.then(() => socket.write('\nc\r\n'));
  };
  const read = await ask([1, 1], (replies) => {
    told();
    return replies.text();
  });
  expect(read).toEqual(['b', 'c']);
});

test('more than the memory that is kept, in groups of any length, over and over', async () => {
  const lengths = [10, WIRE_SLAB_BYTES / 2, 3, WIRE_SLAB_BYTES - 40, WIRE_SLAB_BYTES, 2 * WIRE_SLAB_BYTES, 1, 100];
  answer = (socket) => {
    for (const length of lengths) socket.write(bulk(length));
  };
  for (let time = 0; time < 3; time += 1) {
    const read = await ask(
      lengths.map(() => 1),
      (replies) => [replies.value(), replies.length, replies.bytes[replies.start], replies.bytes[replies.start + replies.length - 1]],
    );
    expect(read).toEqual(lengths.map((length) => [true, length, 120, 120]));
  }
});

test('a group of WIRE_BYTES_MAX is read, and a longer one is not waited for', async () => {
  answer = (socket) => socket.write(reply(WIRE_BYTES_MAX));
  expect(await ask([1], (replies) => replies.value())).toEqual([true]);
  answer = (socket) => socket.write(reply(2 * WIRE_BYTES_MAX));
  expect(await ask([1], (replies) => replies.value())).toBeUndefined();
  expect(opened).toBe(1);
});

test('after what nobody asked for the wire is made anew', async () => {
  answer = (socket) => socket.write('$1\r\nb\r\n$1\r\nz\r\n');
  expect(await ask([1], (replies) => replies.text())).toEqual(['b']);
  answer = (socket) => socket.write('$1\r\nc\r\n');
  await vi.waitFor(async () => expect(await ask([1], (replies) => replies.text())).toEqual(['c']), { timeout: 30_000 });
  expect(opened).toBe(2);
});

test('an error for one group spoils the round, and the next one is read', async () => {
  answer = (socket) => socket.write('-ERR x\r\n$1\r\nb\r\n');
  expect(await ask([1, 1], (replies) => replies.text())).toBeUndefined();
  answer = (socket) => socket.write('$1\r\nc\r\n');
  expect(await ask([1], (replies) => replies.text())).toEqual(['c']);
  expect(opened).toBe(1);
});

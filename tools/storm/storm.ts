/** Sockets that are dropped at once, and how long it takes until all are back and have what they missed. */
import { setTimeout as pause } from 'node:timers/promises';
import type { World } from '../chaos/world.js';
import { Caller } from '../testing/caller.js';
import { RawDevice } from './raw-device.js';

export interface StormOptions {
  readonly sockets: number;
  readonly print: (line: string) => void;
}

/** Sockets of one user: a person has some devices, and a list that is read for each. */
const SOCKETS_PER_USER = 10;
/** Opened at a time before the storm: it is not what is measured. */
const OPENED_AT_ONCE = 50;
const LOOK_MS = 200;
const GIVE_UP_MS = 10 * 60_000;

/** False: not all came back and caught up. */
export async function storm(world: World, { sockets, print }: StormOptions): Promise<boolean> {
  const [server] = world.servers;
  if (server === undefined) throw new Error('there is a server');
  const users = Math.ceil(sockets / SOCKETS_PER_USER);
  const devices: RawDevice[] = [];
  for (let i = 0; i < sockets; i += 1) {
    const user = `u${i % users}`;
    devices.push(new RawDevice(() => server.url, await world.token(user, `d${Math.floor(i / users)}`)));
  }
  await greet(world, server.port, users);
  try {
    for (let i = 0; i < devices.length; i += OPENED_AT_ONCE) {
      await Promise.all(devices.slice(i, i + OPENED_AT_ONCE).map((device) => device.connected()));
    }
    const before = await server.anonymousBytes();
    print(`storm: ${sockets} sockets of ${users} users are open; the server has ${megabytes(before)}`);
    for (const device of devices) device.forget();
    const droppedAt = performance.now();
    const dropped = server.front.break('reset');
    const peak = await untilBack(devices, () => server.anonymousBytes(), droppedAt);
    const backMs = devices.map((device) => device.caughtUpAtMs - droppedAt).sort((a, b) => a - b);
    const refused = devices.reduce((sum, device) => sum + device.turnedAway, 0);
    const back = backMs.filter((ms) => ms > 0);
    print(`dropped ${dropped} links at once; back and caught up: ${back.length} of ${sockets}`);
    print(`half of them after ${seconds(at(back, 0.5))} s, 99 % after ${seconds(at(back, 0.99))} s, all after ${seconds(at(back, 1))} s`);
    print(`told to come back later: ${refused} times; the server's peak: ${megabytes(peak)} of its own`);
    return back.length === sockets;
  } finally {
    for (const device of devices) device.close();
  }
}

/** Everyone has a conversation with something unread: a list to read when they are back. */
async function greet(world: World, port: number, users: number): Promise<void> {
  const host = new Caller(`http://127.0.0.1:${port}`, await world.token('host', 'desk'));
  for (let i = 0; i < users; i += 1) {
    const message = { toUserId: `u${i}`, clientMessageId: `hello-${i}`, type: 'MESSAGE_TYPE_TEXT', text: 'hello' };
    await host.call('MessageService/SendMessage', message);
  }
}

/** The most memory that was seen until then. */
async function untilBack(devices: readonly RawDevice[], memory: () => Promise<number>, sinceMs: number): Promise<number> {
  let peak = 0;
  while (devices.some((device) => device.caughtUpAtMs === 0) && performance.now() - sinceMs < GIVE_UP_MS) {
    peak = Math.max(peak, await memory());
    await pause(LOOK_MS);
  }
  return peak;
}

function at(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MB`;
}

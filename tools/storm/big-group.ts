/** A group of the greatest size: how long until those who are connected have one message. */
import { setTimeout as pause } from 'node:timers/promises';
import { GROUP_MEMBERS_MAX, MEMBERS_PER_CALL_MAX } from '@qim/proto';
import type { World } from '../chaos/world.js';
import { Caller } from '../testing/caller.js';
import { RawDevice } from './raw-device.js';

export interface BigGroupOptions {
  readonly members: number;
  readonly connected: number;
  readonly print: (line: string) => void;
}

const LOOK_MS = 20;
const GIVE_UP_MS = 60_000;
const OPENED_AT_ONCE = 50;
const MESSAGES = 5;

export async function bigGroup(world: World, { members, connected, print }: BigGroupOptions): Promise<boolean> {
  const [server] = world.servers;
  if (server === undefined || members > GROUP_MEMBERS_MAX) throw new Error(`a server, and at most ${GROUP_MEMBERS_MAX} members`);
  const owner = new Caller(`http://127.0.0.1:${server.port}`, await world.token('owner', 'desk'));
  const names = Array.from({ length: members - 1 }, (_, i) => `m${i}`);
  const made = await owner.call('ConversationService/CreateGroup', { title: 'everybody', memberIds: names.slice(0, MEMBERS_PER_CALL_MAX) });
  const { conversationId } = made.conversation as { conversationId: string };
  for (let i = MEMBERS_PER_CALL_MAX; i < names.length; i += MEMBERS_PER_CALL_MAX) {
    await owner.call('ConversationService/AddMembers', { conversationId, memberIds: names.slice(i, i + MEMBERS_PER_CALL_MAX) });
  }
  const online = names.slice(-connected);
  const devices = await Promise.all(online.map(async (name) => new RawDevice(() => server.url, await world.token(name, 'phone'))));
  try {
    for (let i = 0; i < devices.length; i += OPENED_AT_ONCE) {
      await Promise.all(devices.slice(i, i + OPENED_AT_ONCE).map((device) => device.connected()));
    }
    let all = true;
    for (let i = 1; i <= MESSAGES; i += 1) all = (await measured(owner, conversationId, devices, i, members, print)) && all;
    return all;
  } finally {
    for (const device of devices) device.close();
  }
}

async function measured(
  owner: Caller,
  conversationId: string,
  devices: readonly RawDevice[],
  number: number,
  members: number,
  print: BigGroupOptions['print'],
): Promise<boolean> {
  for (const device of devices) device.forget();
  const sentAt = performance.now();
  await owner.call('MessageService/SendMessage', {
    conversationId,
    clientMessageId: `big-${number}-${sentAt}`,
    type: 'MESSAGE_TYPE_TEXT',
    text: `message ${number}`,
  });
  const answeredMs = performance.now() - sentAt;
  while (devices.some(({ messageAtMs }) => messageAtMs === 0) && performance.now() - sentAt < GIVE_UP_MS) await pause(LOOK_MS);
  const times = devices.flatMap(({ messageAtMs }) => (messageAtMs === 0 ? [] : [messageAtMs - sentAt])).sort((a, b) => a - b);
  const [half, last] = [times[Math.floor(times.length / 2)] ?? Number.NaN, times.at(-1) ?? Number.NaN];
  print(
    `message ${number} to ${members} members: acknowledged after ${answeredMs.toFixed(0)} ms; ${times.length} of ${devices.length} ` +
      `connected have it, half after ${half.toFixed(0)} ms, all after ${last.toFixed(0)} ms`,
  );
  return times.length === devices.length;
}

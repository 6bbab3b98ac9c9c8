/** The streams of all partitions, read together: what waits in them, and what lies aside. */
import type { PoisonEntry } from '../outbox/outbox.js';
import type { Command, RedisConnection, Reply } from './connection.js';
import { poisonFrom, writtenAt } from './outbox-entry.js';
import { asArray, asNumber, asText } from './replies.js';

export interface StreamKeys {
  readonly waiting: string;
  readonly aside: string;
}

type CheckReply = (reply: Reply) => Reply;

/** Of all partitions in order; at most `limit`, those of a partition newest first. Cost: 1. @throws StoreUnavailable */
export async function readAside(
  connection: RedisConnection,
  streams: readonly StreamKeys[],
  limit: number,
  check: CheckReply,
): Promise<readonly PoisonEntry[]> {
  const newest = streams.map(({ aside }): Command => ['XREVRANGE', aside, '+', '-', 'COUNT', String(limit)]);
  const replies = (await connection.pipeline(newest)).map(check);
  return replies.flatMap((reply, partition) => asArray(reply).map((entry) => poisonFrom(partition, entry))).slice(0, limit);
}

/** How many there are, and for how long the oldest has waited by the server's clock; 0: none waits. Cost: 1. @throws StoreUnavailable */
export async function readBacklog(
  connection: RedisConnection,
  streams: readonly StreamKeys[],
  check: CheckReply,
): Promise<{ readonly waiting: number; readonly oldestMs: number; readonly aside: number }> {
  const commands = streams.flatMap((keys): Command[] => [
    ['XLEN', keys.waiting],
    ['XLEN', keys.aside],
    ['XRANGE', keys.waiting, '-', '+', 'COUNT', '1'],
  ]);
  const [time, ...replies] = (await connection.pipeline([['TIME'], ...commands])).map(check);
  const nowMs = Number(asText(asArray(time)[0])) * 1000;
  let [waiting, aside, oldestMs] = [0, 0, 0];
  for (let i = 0; i < replies.length; i += 3) {
    waiting += asNumber(replies[i]);
    aside += asNumber(replies[i + 1]);
    const [oldest] = asArray(replies[i + 2]);
    if (oldest !== undefined) oldestMs = Math.max(oldestMs, nowMs - writtenAt(asText(asArray(oldest)[0])));
  }
  return { waiting, oldestMs, aside };
}

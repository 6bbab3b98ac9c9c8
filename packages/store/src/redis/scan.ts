/**
 * A walk over all keys of all primaries, in steps. Whatever is there from its beginning to its end is met, some of it
 * twice; what comes and goes meanwhile may or may not be. A Cluster that hands slots over meanwhile ends the walk: keys
 * would pass from where it has not been to where it has.
 */
import { unavailable } from '../errors.js';
import { utf8, viewOf } from '../message/bytes.js';
import { xxh32 } from '../message/xxh32.js';
import type { Command, PrimaryConnection, RedisConnection } from './connection.js';
import { asArray, asText } from './replies.js';

export interface ScanStep {
  readonly keys: readonly string[];
  /** Where the next step goes on; undefined: all was met. */
  readonly next: string | undefined;
}

/** `how`: what comes after the cursor in SCAN. @throws StoreUnavailable, also when the walk must begin again */
export async function scanStep(connection: RedisConnection, cursor: string | undefined, how: readonly string[]): Promise<ScanStep> {
  const [from = '0', place = '0', seen] = cursor?.split('.') ?? [];
  if (from === '0') await connection.look();
  const primaries = await connection.primaries();
  const layout = layoutOf(connection);
  const at = Number(place);
  const primary = primaries[at];
  if ((seen ?? layout) !== layout || primary === undefined) throw changed();
  const [next, found] = asArray(await primary.call('SCAN', from, ...how));
  const keys = asArray(found).map((key) => (Buffer.isBuffer(key) ? key.toString('latin1') : asText(key)));
  if (asText(next) !== '0') return { keys, next: `${asText(next)}.${at}.${layout}` };
  if (at + 1 < primaries.length) return { keys, next: `0.${at + 1}.${layout}` };
  if (primaries.length > 1) await checkUnmoved(connection, primaries, layout);
  return { keys, next: undefined };
}

/** Of a whole walk; how many keys there were when it was asked. @throws StoreUnavailable */
export async function keyCount(connection: RedisConnection): Promise<number> {
  const counts = await Promise.all((await connection.primaries()).map((primary) => primary.call('DBSIZE')));
  return counts.reduce((sum: number, count) => sum + Number(count), 0);
}

function layoutOf(connection: RedisConnection): string {
  const bytes = utf8.encode(connection.layout());
  return xxh32(viewOf(bytes), 0, bytes.length, 0).toString(16);
}

async function checkUnmoved(connection: RedisConnection, primaries: readonly PrimaryConnection[], layout: string): Promise<void> {
  const ask: Command = ['CLUSTER', 'NODES'];
  const nodes = await Promise.all(primaries.map(async (primary) => asText(await primary.call(...ask))));
  // A node tells of slots on their way in brackets, and only of its own.
  if (nodes.some((text) => text.includes(' ['))) throw changed();
  await connection.look();
  if (layoutOf(connection) !== layout) throw changed();
}

function changed() {
  return unavailable('the Cluster handed slots over while it was walked: begin again');
}

/** Where a command belongs, by its keys, and what may be done with it after a failure. Only what a store sends is known here. */
import { assert } from '@qim/proto';
import type { Argument, Command } from './connection.js';
import { slotOf } from './partitions.js';

/** They go wherever they are sent. */
const WITHOUT_KEY: ReadonlySet<string> = new Set(
  'PING INFO TIME SCAN DBSIZE CONFIG CLIENT CLUSTER SCRIPT MULTI EXEC WAIT WAITAOF ROLE PUBSUB'.split(' '),
);
const KEY_SECOND: ReadonlySet<string> = new Set(['XGROUP', 'XINFO', 'OBJECT', 'MEMORY']);
const SCRIPTS: ReadonlySet<string> = new Set(['EVAL', 'EVALSHA']);
/** Asking twice changes nothing. */
const READS: ReadonlySet<string> = new Set(
  (
    'GET HGET HMGET HGETALL HKEYS HLEN HSCAN HEXISTS EXISTS TYPE DUMP TTL PTTL TIME PING INFO SCAN DBSIZE CLUSTER ' +
    'ZRANGE ZREVRANGE ZRANGEBYLEX ZREVRANGEBYLEX ZRANGEBYSCORE ZSCORE ZMSCORE ZCARD ZRANK ZCOUNT ZSCAN ' +
    'XLEN XRANGE XREVRANGE XPENDING XINFO'
  ).split(' '),
);

/** Undefined: it names none. */
export function keyOf(command: Command): Argument | undefined {
  const [name, first, second, third] = command;
  if (WITHOUT_KEY.has(name)) return undefined;
  if (SCRIPTS.has(name)) return Number(second) > 0 ? third : undefined;
  if (KEY_SECOND.has(name)) return second;
  // The group before it is a constant that is not called so.
  if (name === 'XREADGROUP' || name === 'XREAD') return command[command.indexOf('STREAMS') + 1];
  assert(first !== undefined, 'a command names its key first');
  return first;
}

/** Of the key's hash tag: what stands between the first `{` and the next `}`, unless that is nothing; else of the whole key. */
export function keySlot(key: Argument): number {
  const text = typeof key === 'string' ? key : key.toString('latin1');
  const open = text.indexOf('{');
  const close = open < 0 ? -1 : text.indexOf('}', open + 1);
  return slotOf(close > open + 1 ? text.slice(open + 1, close) : text);
}

/** One that can be sent again although it may have been done. */
export function isRead([name]: Command): boolean {
  return READS.has(name);
}

/** Each does all of its work in one step, so that none needs another to be done again with it. */
export function isScript([name]: Command): boolean {
  return SCRIPTS.has(name);
}

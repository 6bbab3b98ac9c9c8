/** Everything that a Redis holds, so that two moments can be compared. */
import type { RawClient } from './redis-backend.js';

const READS: Readonly<Record<string, (key: Buffer) => (string | Buffer)[]>> = {
  string: (key) => ['GET', key],
  hash: (key) => ['HGETALL', key],
  zset: (key) => ['ZRANGE', key, '0', '-1', 'WITHSCORES'],
  stream: (key) => ['XRANGE', key, '-', '+'],
};

/** Key -> type, whether it expires, and its parts; hashes in the order of their fields. */
export async function dump(raw: RawClient): Promise<ReadonlyMap<string, unknown>> {
  const keys = await raw.sendCommand<Buffer[]>(['KEYS', '*']);
  const found = new Map<string, unknown>();
  for (const key of keys.sort(Buffer.compare)) {
    const type = await raw.sendCommand<string>(['TYPE', key]);
    const parts = hex(await raw.sendCommand(READS[type]?.(key) ?? ['TYPE', key]));
    const expires = (await raw.sendCommand<number>(['PTTL', key])) >= 0;
    found.set(key.toString(), [type, expires, type === 'hash' ? pairs(parts as string[]) : parts]);
  }
  return found;
}

function hex(reply: unknown): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString('hex');
  return Array.isArray(reply) ? reply.map(hex) : reply;
}

function pairs(parts: readonly string[]): string[] {
  return parts.flatMap((part, i) => (i % 2 === 0 ? [`${part}=${parts[i + 1]}`] : [])).sort();
}

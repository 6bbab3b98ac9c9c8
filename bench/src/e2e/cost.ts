/** What one message costs, sent, acknowledged and delivered: the CPU of each process, and what is asked of the store. */
import type { ServerProcess } from '../process.js';
import { redisUse } from '../redis-use.js';
import type { Results } from '../result.js';
import { type Carrier, saturated } from './chats.js';

const CPU = 'CPU for one message';
const ASKED = 'asked of Redis for one message';

/** `port`: of the Redis behind the server; undefined: it has none. `how` names the store. */
export async function messageCost(
  results: Results,
  how: string,
  server: ServerProcess,
  port: number | undefined,
  carrier: Carrier,
  forMs: number,
): Promise<void> {
  const before = await used(server, port);
  const own = process.cpuUsage();
  const begin = performance.now();
  const rate = await saturated(carrier, forMs);
  const messages = (rate * (performance.now() - begin)) / 1000;
  const { user, system } = process.cpuUsage(own);
  const after = await used(server, port);
  const each = (count: (of: Used) => number) => (count(after) - count(before)) / messages;
  results.value('e2e', CPU, `${how}: the server`, 'us', each(({ cpuSeconds }) => cpuSeconds) * 1_000_000);
  results.value('e2e', CPU, `${how}: both SDKs and this bench`, 'us', (user + system) / messages);
  if (port === undefined) return;
  results.value('e2e', CPU, `${how}: Redis`, 'us', each(({ redis }) => redis.cpuSeconds) * 1_000_000);
  results.value(
    'e2e',
    ASKED,
    'pipelines',
    'times',
    each(({ flushes }) => flushes),
  );
  results.value(
    'e2e',
    ASKED,
    'script calls',
    'times',
    each(({ redis }) => redis.scripts),
  );
  results.value(
    'e2e',
    ASKED,
    'commands, those inside of scripts included',
    'times',
    each(({ redis }) => redis.commands),
  );
}

async function used(server: ServerProcess, port: number | undefined) {
  const metrics = await (await fetch(new URL('/metrics', server.url))).text();
  return {
    cpuSeconds: await server.cpuSeconds(),
    flushes: Number(/^qim_store_round_trips_total (\d+)/m.exec(metrics)?.[1]),
    redis: port === undefined ? NOTHING : await redisUse(port),
  };
}

type Used = Awaited<ReturnType<typeof used>>;

const NOTHING = { cpuSeconds: 0, commands: 0, scripts: 0 };

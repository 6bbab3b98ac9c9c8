/** Area e2e: from one SDK through the server to another, against a bare ws echo; and unary calls over HTTP. */
import { interleaved, ratioOf, spreadOf } from '../measure.js';
import { type ServerProcess, startBare, startQim } from '../process.js';
import { partsOf } from '../profile.js';
import type { Results } from '../result.js';
import type { Scale } from '../scale.js';
import { type Cleanup, redisServer, withCleanup } from '../stores.js';
import { type Carrier, directChats, group, paced, saturated } from './chats.js';
import { messageCost } from './cost.js';
import { echoChats } from './echo.js';
import { httpCalls } from './http.js';

const QIM = 'qim on Redis (AOF everysec)';
const EMBEDDED = 'qim, embedded';
const ECHO = 'bare ws echo';
const TURNS = 8;
/** Otherwise nothing carries events from one process to another. */
const ARRIVES_WITHIN_MS = 5_000;

export async function e2eArea(results: Results, scale: Scale): Promise<void> {
  await direct(results, scale);
  for (const members of scale.groupSizes) await groups(results, scale, members);
  await severalProcesses(results, scale);
  await deliveredParts(results, scale);
  await httpCalls(results, scale);
}

function direct(results: Results, scale: Scale): Promise<void> {
  return withCleanup(async (cleanup) => {
    const redis = await redisServer(cleanup, 'everysec');
    const qim = await startQim(cleanup, { store: redis.url });
    const embedded = await startQim(cleanup, { store: 'embedded' });
    const echo = await startBare(cleanup, 'echo');
    const carriers: [string, Carrier][] = [
      [QIM, await chatsOn(cleanup, qim, scale)],
      [EMBEDDED, await chatsOn(cleanup, embedded, scale)],
      [ECHO, await echoChats(cleanup, echo.url, scale.chats)],
    ];
    const turns = carriers.map(([name, carrier]) => ({ name, turn: () => saturated(carrier, scale.turnMs * TURNS) }));
    const samples = await interleaved(turns, Math.ceil(scale.rounds / 3));
    for (const [name, values] of samples)
      results.row('e2e', `direct chats, ${scale.chats} messages under way`, name, 'per second', spreadOf(values));
    results.ratios.e2e_direct_vs_ws_echo = ratioOf(samples, QIM, ECHO);
    for (const [name, carrier] of carriers.slice(0, 2)) {
      await latencies(results, scale, `direct chats at half of it`, name, carrier, spreadOf(samples.get(name) ?? []).median / 2);
    }
    for (const [name, server, port] of [
      [QIM, qim, redis.port],
      [EMBEDDED, embedded, undefined],
    ] as const) {
      const carrier = carriers.find(([each]) => each === name)?.[1];
      if (carrier !== undefined) await messageCost(results, name, server, port, carrier, scale.turnMs * TURNS * 2);
    }
  });
}

function chatsOn(cleanup: Cleanup, { url }: ServerProcess, { chats }: Scale): Promise<Carrier> {
  return directChats(cleanup, { senders: url, recipients: url }, chats);
}

async function latencies(
  results: Results,
  scale: Scale,
  subject: string,
  name: string,
  carrier: Carrier,
  perSecond: number,
): Promise<void> {
  const { ack, deliver } = await paced(carrier, perSecond, scale.turnMs * TURNS * 2);
  for (const [what, { p50, p99 }] of [
    ['acknowledged', ack],
    ['delivered', deliver],
  ] as const) {
    results.value('e2e', `${subject}, p50`, `${name}, ${what}`, 'ms', p50);
    results.value('e2e', `${subject}, p99`, `${name}, ${what}`, 'ms', p99);
  }
}

function groups(results: Results, scale: Scale, members: number): Promise<void> {
  return withCleanup(async (cleanup) => {
    const redis = await redisServer(cleanup, 'everysec');
    const { url } = await startQim(cleanup, { store: redis.url });
    const carrier = await group(cleanup, { senders: url, recipients: url }, members);
    const turn = async () => (await saturated(carrier, scale.turnMs * TURNS)) * (members - 1);
    const samples = await interleaved([{ name: QIM, turn }], Math.ceil(scale.rounds / 5));
    results.row('e2e', `group of ${members}, deliveries`, QIM, 'per second', spreadOf(samples.get(QIM) ?? []));
  });
}

/** Senders on one process, recipients on another, one Redis between them. */
function severalProcesses(results: Results, scale: Scale): Promise<void> {
  return withCleanup(async (cleanup) => {
    const redis = await redisServer(cleanup, 'everysec');
    const [one, other] = [await startQim(cleanup, { store: redis.url }), await startQim(cleanup, { store: redis.url })];
    const carrier = await directChats(cleanup, { senders: one.url, recipients: other.url }, scale.chats);
    const arrived = await Promise.race([carrier.send(0, () => {}).then(() => true), later(ARRIVES_WITHIN_MS)]);
    if (arrived !== true) {
      results.missing.push('two processes: events did not reach the other process');
      return;
    }
    const samples = await interleaved([{ name: QIM, turn: () => saturated(carrier, scale.turnMs * TURNS) }], Math.ceil(scale.rounds / 5));
    results.row('e2e', `direct chats across two processes, ${scale.chats} under way`, QIM, 'per second', spreadOf(samples.get(QIM) ?? []));
  });
}

function later(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms).unref());
}

function deliveredParts(results: Results, scale: Scale): Promise<void> {
  return withCleanup(async (cleanup) => {
    const redis = await redisServer(cleanup, 'everysec');
    const qim = await startQim(cleanup, { store: redis.url, profiled: true });
    const carrier = await withCleanup(async (clients) => {
      const chats = await directChats(clients, { senders: qim.url, recipients: qim.url }, scale.chats);
      const forMs = scale.turnMs * TURNS * 4;
      return (await saturated(chats, forMs)) * (forMs / 1000);
    });
    await qim.stop();
    // Start and stop of the server are in it as well; they are far less than the messages.
    results.parts.push({
      area: 'e2e',
      of: 'one message sent, acknowledged and delivered, in the server',
      parts: partsOf(await qim.profile(), carrier),
    });
  });
}

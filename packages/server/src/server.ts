/**
 * The server in one process: `startServer` opens, starts and announces everything in order, and hands back how to stop it.
 *
 * Start: store, delivery side and its sweep, gateway. Stop: /readyz says 503, the gateway drains, the delivery side lets go, the store
 * closes. Nothing global is touched, so that several servers live in one process, as in tests.
 */
import { RELEASE_DEADLINE_MS } from '@qim/proto';
import type { Store } from '@qim/store';
import { DEV_BANNER, MEMORY_WARNING, readyLine, replicaWarning, startLines } from './announce.js';
import { StartError } from './errors.js';
import type { ServerIo } from './io.js';
import { Lifecycle } from './lifecycle.js';
import { listen } from './listen.js';
import { createLog, type Log } from './log.js';
import { createMetrics, type Metrics } from './metrics.js';
import { readRetention } from './retention/policy.js';
import { RetentionSweep } from './retention/sweep.js';
import { ensureDevSecret, readSecrets, type Secrets } from './secrets.js';
import type { Config } from './settings.js';
import { readTls } from './tls.js';
import { tracedParts } from './tracing/traced.js';
import { webPushOf } from './web-push/web-push.js';
import { wire } from './wire.js';

export interface RunningServer {
  /** What a browser opens, such as http://127.0.0.1:7700/. */
  readonly url: string;
  readonly port: number;
  /** Finishes what is in flight within `drainTimeout`, closes everything. Called again it waits for the same stop. */
  stop(): Promise<void>;
}

/** @throws StartError; nothing stays open then */
export async function startServer(config: Config, io: ServerIo): Promise<RunningServer> {
  const log = createLog(config.logLevel, io.err);
  const lifecycle = new Lifecycle(log, io.sleep);
  try {
    return await start(config, io, log, lifecycle);
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

async function start(config: Config, io: ServerIo, log: Log, lifecycle: Lifecycle): Promise<RunningServer> {
  const secrets = await secretsOf(config, io);
  const tls = await readTls(config);
  const policies = await readRetention(config);
  const webhookSecrets = config.webhookSecretFile === undefined ? undefined : await readSecrets(config.webhookSecretFile);
  const webPush = await webPushOf({ ...config, log });
  const traced = await tracedParts(config.traces, log);
  const metrics = createMetrics();
  const store = await openDurably(config, io, metrics, lifecycle);
  const stopping = () => lifecycle.stopping;
  const parts = { config, io, log, metrics, secrets, webhookSecrets, webPush, traced, tls, stopping };
  const { push, gateway } = wire({ ...parts, store: traced.store(store) });

  if (config.roles.includes('push')) {
    lifecycle.started('push', RELEASE_DEADLINE_MS, () => push.stop());
    await push.start();
    if (policies !== undefined) {
      const { now, sleep } = io;
      const mine = () => push.leads();
      const sweep = new RetentionSweep({ messages: store.messages, policies, now, sleep, log, observer: metrics, mine });
      lifecycle.started('retention', RELEASE_DEADLINE_MS, () => sweep.stop());
      sweep.start();
    }
  } else if (config.roles.includes('gateway')) {
    log.info({ roles: config.roles }, 'events come from the processes with the role push: there must be one');
  }
  lifecycle.started('gateway', config.drainTimeout + RELEASE_DEADLINE_MS, () => gateway.stop(config.drainTimeout));
  const { url: origin, port } = await listen(gateway, config);
  const url = new URL(origin).href;

  announce(config, io, store);
  io.out(readyLine(url));
  return { url, port, stop: () => lifecycle.stop() };
}

/** Undefined: tokens are checked by a JWKS. */
async function secretsOf({ dev, data, jwtSecretFile }: Config, io: ServerIo): Promise<Secrets | undefined> {
  if (jwtSecretFile !== undefined) return readSecrets(jwtSecretFile);
  return dev ? ensureDevSecret(data, io.random) : undefined;
}

async function openDurably(config: Config, io: ServerIo, metrics: Metrics, lifecycle: Lifecycle): Promise<Store> {
  const { requireDurable, ackReplicas, fastPaths } = config;
  const options = { as: 'server', requireDurable, ackReplicas, fastPaths, now: io.now, observer: metrics } as const;
  const store = await io.openStore(config, options);
  lifecycle.started('store', RELEASE_DEADLINE_MS, () => store.close());
  if (config.requireDurable && store.ackDurability === 'memory') {
    throw new StartError(
      'NotDurable',
      `--require-durable: ${store.description} keeps nothing on disk, so an acknowledgement would be worth nothing`,
    );
  }
  return store;
}

function announce(config: Config, io: ServerIo, store: Store): void {
  if (config.dev) for (const line of DEV_BANNER) io.out(line);
  for (const line of startLines(store)) io.out(line);
  if (io.pageFolder === undefined) io.out('page: none is served, it is not built (npm run build)');
  if (store.ackDurability === 'memory') for (const line of MEMORY_WARNING) io.err(line);
  for (const line of replicaWarning(store.ackReplicas)) io.err(line);
}

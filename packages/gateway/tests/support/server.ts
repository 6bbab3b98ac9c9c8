/** A whole gateway on a free port, over the reference store and the real writer, session and push. */
import {
  type AnnounceRead,
  type ErrorCode,
  LEGACY_TENANT_ID,
  type MethodName,
  parseDeviceId,
  parseTenantId,
  parseUserId,
} from '@qim/proto';
import { createPush, type Push } from '@qim/push';
import { startSession } from '@qim/session';
import type { Store } from '@qim/store';
import { openMemoryStore } from '@qim/store/memory';
import { createWriter } from '@qim/writer';
import { uuidv7 } from 'uuidv7';
import { createGateway, createSecretTokens, type Gateway, type GatewayOptions } from '../../src/index.js';
import { ManualClock } from './clock.js';

export const SECRET = 'a secret for tests that is long enough';
export const OTHER_SECRET = 'another secret that is long enough too';

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

export interface TestServer {
  readonly url: string;
  readonly clock: ManualClock;
  readonly store: Store;
  readonly push: Push;
  readonly gateway: Gateway;
  readonly log: LogLine[];
  readonly calls: { readonly method: MethodName; readonly outcome: 'ok' | ErrorCode }[];
  readonly counts: { opened: number; closed: number[]; events: number; slow: number };
  token(user: string, claims?: { tenant?: number; device?: string; admin?: boolean; ttlSeconds?: number }): Promise<string>;
  close(): Promise<void>;
}

export interface TestServerOptions {
  /** Puts a fault between the services and their store. */
  readonly store?: (store: Store) => Store;
  readonly options?: (options: GatewayOptions) => Partial<GatewayOptions>;
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

export async function startServer({ store: faulty = (store) => store, options }: TestServerOptions = {}): Promise<TestServer> {
  const clock = new ManualClock();
  const recallWindowMs = 60_000;
  const store = faulty(openMemoryStore({ now: clock.now }));
  const log: LogLine[] = [];
  const note = (level: LogLine['level']) => (fields: object, message: string) => log.push({ level, fields: { ...fields }, message });
  const logger = { info: note('info'), warn: note('warn'), error: note('error') };
  const push = createPush({
    messages: store.messages,
    directory: store.directory,
    users: store.users,
    outbox: store.outbox,
    bus: store.bus,
    now: clock.now,
    monotonicNow: () => performance.now(),
    sleep,
    ownerId: uuidv7(),
    log: logger,
  });
  const announceRead: AnnounceRead = (...mark) => push.announceRead(...mark);
  const { messages, directory } = store;
  const writer = createWriter({
    messages,
    directory,
    users: store.users,
    directMessages: () => 'anyone',
    now: clock.now,
    newId: uuidv7,
    announceRead,
    recallWindowMs,
  });
  const session = startSession(store, {
    announceRead,
    announceChange: (...of) => push.announceChange(...of),
    announceTyping: (...of) => push.announceTyping(...of),
    announceSuspended: (...of) => push.announceSuspended(...of),
    webPush: { publicKey: 'key', accepts: (endpoint) => endpoint.startsWith('https://') },
    now: clock.now,
    newId: uuidv7,
  });
  const tokens = createSecretTokens({ secrets: [SECRET], now: clock.now });
  const calls: TestServer['calls'] = [];
  const counts: TestServer['counts'] = { opened: 0, closed: [], events: 0, slow: 0 };
  const given: GatewayOptions = {
    writer,
    session,
    push,
    verifier: tokens,
    isSuspended: (...of) => store.users.isSuspended(...of),
    minter: tokens,
    devLogin: false,
    pageFolder: undefined,
    onlyServices: undefined,
    ackDurability: store.ackDurability,
    ready: () => store.ping(),
    backlog: () => store.outbox.backlog(),
    recallWindowMs,
    metrics: async () => ({ contentType: 'text/plain', text: 'qim_up 1\n' }),
    observer: {
      connectionOpened: () => counts.opened++,
      connectionClosed: (code) => counts.closed.push(code),
      callEnded: (method, outcome) => calls.push({ method, outcome }),
      eventSent: () => counts.events++,
      slowConsumer: () => counts.slow++,
    },
    log: logger,
    now: clock.now,
    after: clock.after,
  };
  // QIM_FAST_PATHS=false runs the suites on the plain paths.
  const fastPaths = process.env.QIM_FAST_PATHS !== 'false';
  const gateway = createGateway({ fastPaths, ...given, ...options?.(given) });
  await push.start();
  const { url } = await gateway.listen('127.0.0.1', 0);
  return {
    url,
    clock,
    store,
    push,
    gateway,
    log,
    calls,
    counts,
    async token(user, { tenant = 0, device, admin = false, ttlSeconds = 3_600 } = {}) {
      const deviceId = device === undefined ? undefined : parseDeviceId(device);
      const tenantId = tenant === 0 ? LEGACY_TENANT_ID : parseTenantId(tenant);
      return (await tokens.mint({ tenantId, userId: parseUserId(user), deviceId, admin, ttlSeconds })).token;
    },
    async close() {
      const stopped = gateway.stop(0);
      clock.advance(0);
      await stopped;
      await push.stop();
    },
  };
}

/** The rooms and the store as they are, with a span around each of their calls. Where nothing is traced, they themselves. */
import type { SpanContext } from '@opentelemetry/api';
import type { TracedPlace, Tracing } from '@qim/proto';
import type { Session } from '@qim/session';
import type { MessageStore, Store } from '@qim/store';
import type { Writer } from '@qim/writer';
import type { Log } from '../log.js';
import { type OpenTelemetryTracing, openTelemetryTracing } from './open-telemetry.js';
import { TraceMemory } from './trace-memory.js';

export interface TracedParts {
  readonly tracing: Tracing | undefined;
  store(store: Store): Store;
  writer(writer: Writer): Writer;
  session(session: Session): Session;
}

const UNTRACED: TracedParts = {
  tracing: undefined,
  store: (store) => store,
  writer: (writer) => writer,
  session: (session) => session,
};

const NOBODY_LISTENS = '--traces: no OpenTelemetry SDK was loaded before, or it has another copy of the API: nothing is traced';

const loadApi = () => import('@opentelemetry/api');

/** @throws StartError BadConfiguration */
export async function tracedParts(on: boolean, log: Pick<Log, 'warn'>, load = loadApi): Promise<TracedParts> {
  if (!on) return UNTRACED;
  const memory = new TraceMemory<SpanContext>();
  const tracing = await openTelemetryTracing(memory, load);
  if (!tracing.started()) log.warn({}, NOBODY_LISTENS);
  return {
    tracing,
    store: (store) => ({
      ...store,
      messages: remembering(traced('store.messages', store.messages, tracing), tracing, memory),
      directory: traced('store.directory', store.directory, tracing),
      users: traced('store.users', store.users, tracing),
      ping: () => store.ping(),
      close: () => store.close(),
    }),
    writer: (writer) => traced('writer', writer, tracing),
    session: (session) => traced('session', session, tracing),
  };
}

/** `target`: what it has are methods. A call by nobody's order, such as looking for work, is left alone. */
function traced<Target extends object>(room: string, target: Target, tracing: OpenTelemetryTracing): Target {
  return new Proxy(target, {
    get(from, name) {
      const method: unknown = Reflect.get(from, name);
      if (typeof method !== 'function' || typeof name !== 'string') return method;
      return (...args: unknown[]): unknown => {
        const call = (): unknown => Reflect.apply(method, from, args) as unknown;
        if (tracing.active() === undefined || SYNCHRONOUS.has(name)) return call();
        return tracing.span(`${room}.${name}`, {}, async () => call());
      };
    },
  });
}

/** Of all that is traced. */
const SYNCHRONOUS: ReadonlySet<string> = new Set(['webPushKey'] satisfies (keyof Session)[]);

/** As it is, but that who delivers a record finds who wrote it. */
function remembering(messages: MessageStore, tracing: OpenTelemetryTracing, memory: TraceMemory<SpanContext>): MessageStore {
  const noted = (target: TracedPlace): void => {
    const context = tracing.active();
    if (context !== undefined) memory.wrote(target, context);
  };
  const writes: Pick<MessageStore, 'commit' | 'amend' | 'react'> = {
    async commit(request) {
      const context = tracing.active();
      return context === undefined ? messages.commit(request) : memory.writing(request, context, () => messages.commit(request));
    },
    async amend(request) {
      noted(request.target);
      return messages.amend(request);
    },
    async react(request) {
      noted(request.target);
      return messages.react(request);
    },
  };
  return new Proxy(messages, { get: (from, name): unknown => Reflect.get(name in writes ? writes : from, name) });
}

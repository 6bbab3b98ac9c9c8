/** Traces of whole servers, by the SDK that an operator would load, kept in memory. */
import { context, propagation, type SpanContext, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { type ConversationId, parseConversationId, parseConversationSeq, parseTenantId, TRACED_RECORDS_MAX } from '@qim/proto';
import { openMemoryStore } from '@qim/store/memory';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../src/open-store.js';
import { TraceMemory } from '../src/tracing/trace-memory.js';
import { tracedParts } from '../src/tracing/traced.js';
import { startTestServer, type TestServer, temporaryFolder } from './running.js';
import { eventually, send, startReceiver, startWithWebhook } from './webhook-receiver.js';

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
beforeAll(() => provider.register());
beforeEach(() => exporter.reset());
// Files of one worker share their modules, and so what is registered.
afterAll(() => {
  for (const api of [trace, context, propagation]) api.disable();
});

const named = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name);
const idOf = (span: ReadableSpan | undefined) => span?.spanContext().spanId;

/** From the span to the first one of its trace, by their names. */
function wayUp(span: ReadableSpan | undefined): string[] {
  if (span === undefined) return [];
  const parent = exporter.getFinishedSpans().find((other) => idOf(other) === span.parentSpanContext?.spanId);
  return [span.name, ...wayUp(parent)];
}

const NO_LOG = { warn: () => {} };
const SEND = 'qim.v1.MessageService/SendMessage';

async function sent(server: TestServer, body: object = {}) {
  const answer = await send(server, 'alice', { toUserId: 'bob', ...body });
  expect(answer.status).toBe(200);
  return answer.headers.get('qim-request-id');
}

describe('a send', () => {
  test.each(['memory', 'embedded'] as const)('is one trace from the call to the delivery, by the request id: %s', async (kind) => {
    const { folder, remove } = await temporaryFolder();
    onTestFinished(remove);
    const memory = () => openMemoryStore({ now: Date.now });
    const store = kind === 'memory' ? memory() : await openStore({ store: 'embedded', data: folder }, { as: 'server' });
    const server = await startTestServer({ traces: 'true' }, { store });
    onTestFinished(() => server.stop());
    const requestIds = [await sent(server), await sent(server), await sent(server)];
    await eventually(() => expect(named('push.deliver').length).toBeGreaterThan(0));
    await eventually(async () => expect(await store.outbox.backlog()).toMatchObject({ entries: 0 }));
    const calls = named(SEND);
    expect(calls.map(({ attributes }) => attributes['qim.request_id'])).toEqual(requestIds);
    const traces = calls.map((span) => span.spanContext().traceId);
    expect(new Set(traces).size).toBe(3);
    expect(named('store.messages.commit').map(wayUp)).toEqual(calls.map(() => ['store.messages.commit', 'writer.sendMessage', SEND]));
    // What is delivered in one go belongs to the trace of its first, and names the others.
    const told = named('push.deliver').flatMap((span) => [
      span.spanContext().traceId,
      ...span.links.map((link: { context: SpanContext }) => link.context.traceId),
    ]);
    expect(told).toEqual(traces);
    const [delivery] = named('push.deliver');
    expect(wayUp(delivery).slice(0, 1).concat(wayUp(delivery).slice(-1))).toEqual(['push.deliver', SEND]);
    expect(named('store.messages.readMembers').some((span) => span.parentSpanContext?.spanId === idOf(delivery))).toBe(true);
    await server.stop();
  });

  test('and what the webhook is told of it, however late', async () => {
    const { told, url } = await startReceiver();
    const server = await startWithWebhook({ webhookUrl: url, traces: 'true' });
    await sent(server);
    await eventually(() => expect(told).toHaveLength(2));
    await eventually(() => expect(named('push.tell')).toHaveLength(2));
    const [call] = named(SEND);
    for (const span of named('push.tell')) expect(span.spanContext().traceId).toBe(call?.spanContext().traceId);
    expect(named('push.tell').map(({ attributes }) => attributes['qim.event'])).toEqual(['afterSend', 'offlinePush']);
  });

  test('that is refused says so by its code; nothing that was written, no user and no token is in any span', async () => {
    const server = await startTestServer({ traces: 'true' });
    onTestFinished(() => server.stop());
    await sent(server, { text: 'a well kept secret' });
    const refused = await send(server, 'alice', { conversationId: 'g_unknown', text: 'a well kept secret' });
    expect(refused.status).toBe(404);
    await eventually(() => expect(named('push.deliver')).toHaveLength(1));
    const failed = named(SEND).find(({ attributes }) => attributes['qim.error'] !== undefined);
    expect(failed?.attributes['qim.error']).toBe('NotMember');
    const all = exporter.getFinishedSpans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status }));
    expect(all.length).toBeGreaterThan(5);
    for (const word of ['a well kept secret', 'alice', 'bob', 'Bearer', 'eyJ']) expect(JSON.stringify(all)).not.toContain(word);
  });
});

test('a server that is asked for no traces loads nothing of them and makes none', async () => {
  let loaded = 0;
  const load = async () => {
    loaded += 1;
    return import('@opentelemetry/api');
  };
  const store = openMemoryStore({ now: Date.now });
  const off = await tracedParts(false, NO_LOG, load);
  expect([loaded, off.tracing, off.store(store)]).toEqual([0, undefined, store]);
  const server = await startTestServer({}, { store });
  await sent(server);
  await server.stop();
  expect(exporter.getFinishedSpans()).toEqual([]);
});

test('a server that is asked for traces and has no package for them does not start, and says which', async () => {
  const missing = tracedParts(true, NO_LOG, () => Promise.reject(new Error('not found')));
  await expect(missing).rejects.toMatchObject({ code: 'BadConfiguration', message: expect.stringContaining('@opentelemetry/api') });
});

test('a server that is asked for traces when no SDK is there says that there will be none', async () => {
  trace.disable();
  const warned: string[] = [];
  const log = { warn: (_: object, text: string) => warned.push(text) };
  await tracedParts(true, log);
  expect(warned).toEqual([expect.stringContaining('no OpenTelemetry SDK')]);
  provider.register();
  await tracedParts(true, log);
  expect(warned).toHaveLength(1);
});

describe('who wrote a record', () => {
  const tenantId = parseTenantId(0);
  const place = (conversationId: ConversationId, seq: number) => ({ tenantId, conversationId, conversationSeq: parseConversationSeq(seq) });
  const [one, other] = [parseConversationId('g_one'), parseConversationId('g_other')];

  test('is remembered of TRACED_RECORDS_MAX records; one more, and the oldest is forgotten', () => {
    const memory = new TraceMemory<number>();
    for (let n = 1; n <= TRACED_RECORDS_MAX; n += 1) memory.wrote(place(one, n), n);
    expect([memory.writerOf(place(one, 1)), memory.writerOf(place(one, TRACED_RECORDS_MAX))]).toEqual([1, TRACED_RECORDS_MAX]);
    memory.wrote(place(other, 1), 0);
    expect([memory.writerOf(place(one, 1)), memory.writerOf(place(one, 2)), memory.writerOf(place(other, 1))]).toEqual([undefined, 2, 0]);
  });

  test('is known before its answer is there: the first of those who write to the conversation', async () => {
    const memory = new TraceMemory<string>();
    const answers: ((seq: number) => void)[] = [];
    const write = (context: string) =>
      memory.writing({ tenantId, conversationId: one }, context, async () => ({
        conversationSeq: parseConversationSeq(await new Promise<number>((resolve) => answers.push(resolve))),
      }));
    const [first, second] = [write('first'), write('second')];
    expect([memory.writerOf(place(one, 1)), memory.writerOf(place(other, 1))]).toEqual(['first', undefined]);
    answers[0]?.(1);
    await first;
    expect([memory.writerOf(place(one, 1)), memory.writerOf(place(one, 2))]).toEqual(['first', 'second']);
    answers[1]?.(2);
    await second;
    expect([memory.writerOf(place(one, 2)), memory.writerOf(place(one, 3))]).toEqual(['second', undefined]);
  });
});

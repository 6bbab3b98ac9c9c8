/**
 * Tracing by OpenTelemetry, as far as its API goes: what becomes of spans is the business of the SDK that the operator has
 * loaded. Nothing of it is loaded unless `--traces` asks for it.
 */
import type { Attributes, Span, SpanContext } from '@opentelemetry/api';
import { isQimError, type TraceAttributes, type TracedPlace, type Tracing } from '@qim/proto';
import { StartError } from '../errors.js';
import type { TraceMemory } from './trace-memory.js';

type Api = typeof import('@opentelemetry/api');

/** @throws StartError BadConfiguration: the package is not there */
export async function openTelemetryTracing(memory: TraceMemory<SpanContext>, load: () => Promise<Api>): Promise<OpenTelemetryTracing> {
  const api = await load().catch(() => {
    throw new StartError('BadConfiguration', '--traces needs the package @opentelemetry/api: install it beside qim');
  });
  return new OpenTelemetryTracing(api, memory);
}

export class OpenTelemetryTracing implements Tracing {
  readonly #api: Api;
  readonly #memory: TraceMemory<SpanContext>;

  constructor(api: Api, memory: TraceMemory<SpanContext>) {
    this.#api = api;
    this.#memory = memory;
  }

  span<Result>(name: string, attributes: TraceAttributes, work: () => Promise<Result>): Promise<Result> {
    return this.#tracer.startActiveSpan(name, { attributes }, (span) => this.#ending(span, work));
  }

  following<Result>(
    places: readonly TracedPlace[],
    name: string,
    attributes: TraceAttributes,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { trace, ROOT_CONTEXT } = this.#api;
    const [parent, ...others] = places.flatMap((place) => this.#memory.writerOf(place) ?? []);
    const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    const options = { attributes: { ...placeOf(places), ...attributes }, links: others.map((other) => ({ context: other })) };
    return this.#tracer.startActiveSpan(name, options, context, (span) => this.#ending(span, work));
  }

  /** A span of no length, at a start. False: no SDK has it, and so it is with all that follow. */
  started(): boolean {
    const span = this.#tracer.startSpan('qim.start');
    span.end();
    return this.#api.isSpanContextValid(span.spanContext());
  }

  active(): SpanContext | undefined {
    return this.#api.trace.getActiveSpan()?.spanContext();
  }

  get #tracer() {
    return this.#api.trace.getTracer('qim');
  }

  async #ending<Result>(span: Span, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      // A message may say what a user wrote.
      span.setAttribute('qim.error', isQimError(error) ? error.code : 'Internal');
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }
}

function placeOf([first]: readonly TracedPlace[]): Attributes {
  if (first === undefined) return {};
  return { 'qim.tenant': first.tenantId, 'qim.conversation_id': first.conversationId, 'qim.conversation_seq': first.conversationSeq };
}

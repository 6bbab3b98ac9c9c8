/**
 * What an operator's tracing is told, without naming a library: what ran inside what, and for how long. Attributes are
 * names, ids of requests and of places, and numbers; never content, tokens or users.
 */
import type { ConversationId, ConversationSeq, TenantId } from './id-types.js';

export type TraceAttributes = Readonly<Record<string, string | number | boolean>>;

/** Of one stored record. */
export interface TracedPlace {
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
  readonly conversationSeq: ConversationSeq;
}

export interface Tracing {
  /** A span around the work, inside the one that is active. What the work throws marks it with its code, and is thrown on. */
  span<Result>(name: string, attributes: TraceAttributes, work: () => Promise<Result>): Promise<Result>;
  /** The same around what was set off by who wrote those records, in their trace where it is known. */
  following<Result>(
    places: readonly TracedPlace[],
    name: string,
    attributes: TraceAttributes,
    work: () => Promise<Result>,
  ): Promise<Result>;
}

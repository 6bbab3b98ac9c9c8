/** What all typed calls share: errors of our own, and integers that the wire can hold. */
import { CALL_TIMEOUT_MS } from '@qim/proto';
import type { Environment } from '../environment.js';
import { asClientError, invalidArgument } from '../errors.js';
import type { MessageRef } from '../inputs.js';
import { retrying } from '../retry.js';
import type { Caller } from '../wire/service.js';

/** What calls are made over. */
export interface CallContext {
  readonly caller: Caller;
  readonly environment: Environment;
}

/** One try. @throws QimClientError */
export async function calling<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw asClientError(error, 'the call');
  }
}

/** For calls that are harmless to repeat: again after a failure that may pass, within CALL_TIMEOUT_MS. */
export function again<T>({ caller, environment }: CallContext, run: (timeoutMs: number) => Promise<T>): Promise<T> {
  const bounds = { withinMs: CALL_TIMEOUT_MS, pause: (ms: number) => caller.pause(ms) };
  return retrying(environment, bounds, (leftMs) => calling(() => run(leftMs)));
}

/** @throws QimClientError INVALID_ARGUMENT with the field: BigInt itself would throw an error without one. */
export function wireInteger(value: number, field: string): bigint {
  if (Number.isSafeInteger(value)) return BigInt(value);
  throw invalidArgument(field, `${field} must be an integer`);
}

export function wireRef(ref: MessageRef) {
  const { conversationId, messageId } = ref;
  return { conversationId, messageId, conversationSeq: wireInteger(ref.conversationSeq, 'conversationSeq') };
}

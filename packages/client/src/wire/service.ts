/** Typed calls of one service over the socket: the generated types, and nothing else of what is generated. */
import type { DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type * as wire from '@qim/proto/schema';
import type { CallOptions, Calls } from '../calls.js';
import { clientError, invalidArgument } from '../errors.js';
import { METHODS } from '../gen/tables.js';
import { decode, encode } from './codec.js';

export interface Services {
  readonly MessageService: typeof wire.MessageService;
  readonly SessionService: typeof wire.SessionService;
  readonly ConversationService: typeof wire.ConversationService;
  readonly ProfileService: typeof wire.ProfileService;
  readonly EventService: typeof wire.EventService;
  readonly ModerationService: typeof wire.ModerationService;
}

/** What a call needs of `Calls`. */
export type Caller = Pick<Calls, 'call' | 'pause'>;

/** The service's unary methods. Each rejects with QimClientError. */
export type ServiceCalls<S extends keyof Services> = {
  readonly [M in keyof Services[S]['method'] as Services[S]['method'][M] extends DescMethodUnary ? M : never]: UnaryCall<
    Services[S]['method'][M]
  >;
};

type UnaryCall<M> =
  M extends DescMethodUnary<infer I, infer O> ? (input: MessageInitShape<I>, options?: CallOptions) => Promise<MessageShape<O>> : never;

export function serviceOver<S extends keyof Services>(service: S, caller: Caller): ServiceCalls<S> {
  const methods = Object.entries(METHODS[service] as Readonly<Record<string, readonly [string, string, string]>>);
  const calls = methods.map(([name, [method, input, output]]) => [
    name,
    async (message: object, options: CallOptions = {}) => decoded(output, await caller.call(method, encoded(input, message), options)),
  ]);
  return Object.fromEntries(calls) as ServiceCalls<S>;
}

function encoded(name: string, message: object): Uint8Array<ArrayBuffer> {
  try {
    return encode(name, message);
  } catch (error) {
    // A value of a wrong type, which TypeScript would have refused.
    throw invalidArgument('', error instanceof Error ? error.message : String(error));
  }
}

function decoded(name: string, bytes: Uint8Array): object {
  try {
    return decode(name, bytes);
  } catch {
    throw clientError('BAD_ANSWER', 'the answer could not be decoded', true);
  }
}

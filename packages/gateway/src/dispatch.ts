/**
 * One call, whatever brought it: who is it, may a token of that kind do it, what does the request say, and the answer. HTTP
 * and WebSocket differ in the bytes alone.
 */
import type { DescMessage, Message } from '@bufbuild/protobuf';
import {
  type AnyQimError,
  type ErrorCode,
  forbidden,
  METHOD_ACCESS,
  type MethodName,
  QimError,
  UNBUILT_METHODS,
  unimplemented,
} from '@qim/proto';
import { AUDIT, audited } from './audit.js';
import type { Identity } from './authenticate.js';
import { nodeMonotonicNow } from './clock.js';
import type { GatewayLog, GatewayOptions } from './contract.js';
import { qimErrorOf } from './error-map.js';
import { adminMethods } from './handlers/admin-methods.js';
import { conversationMethods } from './handlers/conversation-methods.js';
import { eventMethods } from './handlers/event-methods.js';
import { messageMethods } from './handlers/message-methods.js';
import { moderationMethods } from './handlers/moderation-methods.js';
import { type OperatorDeps, operatorMethods } from './handlers/operator-methods.js';
import { profileMethods } from './handlers/profile-methods.js';
import { pushMethods } from './handlers/push-methods.js';
import { sessionMethods } from './handlers/session-methods.js';
import { systemMethods } from './handlers/system-methods.js';
import { userMethods } from './handlers/user-methods.js';
import type { Method } from './method.js';
import { countSend } from './send-rates.js';
import type { Work } from './work.js';

export interface Call {
  readonly name: MethodName;
  readonly requestId: string;
  /** Of the client; asked for only where it is counted. */
  readonly address: () => string;
  readonly identify: () => Identity | Promise<Identity>;
  readonly decode: (input: DescMessage) => Message | Promise<Message>;
}

export interface Answer {
  readonly output: DescMessage;
  readonly message: Message;
}

export interface Dispatcher {
  /** Served here at all. */
  serves(name: MethodName): boolean;
  /** @throws QimError of any code; what was unexpected is logged, and is Internal from here on */
  call(call: Call): Promise<Answer>;
  /** The same surroundings for what is no single call: a stream, or the hello of a connection. */
  guarded<Result>(name: MethodName, requestId: string, action: () => Promise<Result>): Promise<Result>;
  /** Whether that token may call that method at all; notes in the log who acts for whom. @throws Forbidden */
  admit(name: MethodName, identity: Identity, requestId: string): void;
  /** Tells the log what a person should look at, and hands back the error as one of ours. */
  judged(error: unknown, fields: object): AnyQimError;
}

export function methodTable(
  { writer, session, minter, log }: Pick<GatewayOptions, 'writer' | 'session' | 'minter' | 'log'>,
  operator: OperatorDeps,
): ReadonlyMap<MethodName, Method> {
  const methods = [
    ...messageMethods(writer),
    ...sessionMethods(session),
    ...conversationMethods(writer, session),
    ...profileMethods(session),
    ...pushMethods(session),
    ...eventMethods(session),
    ...moderationMethods(session, log),
    ...userMethods(writer, session),
    ...systemMethods(writer, session),
    ...adminMethods(minter),
    ...operatorMethods(operator),
  ];
  return new Map(methods.map((entry) => [entry.name, entry]));
}

export function createDispatcher(
  options: Pick<
    GatewayOptions,
    'writer' | 'session' | 'minter' | 'onlyServices' | 'observer' | 'log' | 'monotonicNow' | 'sendRates' | 'tracing'
  >,
  operator: OperatorDeps,
  work: Work,
): Dispatcher {
  const { observer, log, onlyServices, monotonicNow = nodeMonotonicNow, sendRates, tracing } = options;
  const table = methodTable(options, operator);
  const serves = (name: MethodName) => onlyServices === undefined || onlyServices.includes(serviceOf(name));

  async function guarded<Result>(name: MethodName, requestId: string, action: () => Promise<Result>): Promise<Result> {
    const start = monotonicNow();
    const ended = (outcome: 'ok' | ErrorCode) => observer.callEnded(name, outcome, (monotonicNow() - start) / 1000);
    const traced = () => (tracing === undefined ? action() : tracing.span(name, { 'qim.request_id': requestId }, action));
    try {
      const result = await work.run(traced);
      ended('ok');
      return result;
    } catch (error) {
      const known = judge(log, error, { requestId, method: name });
      ended(known.code);
      throw known;
    }
  }

  return {
    serves,
    guarded,
    admit: (name, identity, requestId) => admit(log, name, identity, requestId),
    judged: (error, fields) => judge(log, error, fields),
    call: ({ name, requestId, address, identify, decode }) =>
      guarded(name, requestId, async () => {
        const identity = await identify();
        admit(log, name, identity, requestId);
        const entry = table.get(name);
        if (!serves(name) || entry === undefined || UNBUILT_METHODS.has(name)) throw unimplemented(name);
        // Before anything of the request is looked at.
        if (sendRates !== undefined) await countSend(sendRates, name, identity, address());
        const { caller, actingAdmin } = identity;
        const request = await decode(entry.input);
        const context = { caller, requestId, actingAdmin };
        return { output: entry.output, message: await audited(log, name, context, request, () => entry.handle(context, request)) };
      }),
  };
}

function admit(log: GatewayLog, name: MethodName, { caller, actingAdmin }: Identity, requestId: string): void {
  if (METHOD_ACCESS[name] === 'adminToken' && !caller.admin) throw forbidden('a token with admin: true');
  if (actingAdmin === undefined) return;
  const { tenantId, userId } = caller;
  log.info({ ...AUDIT, requestId, method: name, tenant: tenantId, admin: actingAdmin, onBehalfOf: userId }, 'a call on behalf of a user');
}

function serviceOf(name: MethodName): string {
  return name.slice(0, name.indexOf('/'));
}

/** Damage and faults are for people to look at; a store that is away is worth a warning; the rest is the caller's. */
function judge(log: GatewayLog, error: unknown, fields: object): AnyQimError {
  const known = qimErrorOf(error);
  switch (known.code) {
    case 'Internal':
      log.error({ ...fields, err: known.cause ?? known }, 'a call failed unexpectedly');
      break;
    case 'CorruptRecord':
    case 'UnsupportedVersion':
      log.error({ ...fields, ...known.detail }, 'a call met stored data that it cannot read');
      break;
    case 'StoreUnavailable':
      log.warn({ ...fields, what: known.detail.what, err: known.cause }, 'a call got no answer from what it needs');
      break;
    default:
  }
  return known;
}

/** Of a method that nobody knows. */
export function unknownMethod(): QimError<'Unimplemented'> {
  return new QimError('Unimplemented', { what: 'a method of that name' }, 'no such method');
}

/** A Connect `Transport` over the socket's frames, so that the generated typed clients run on it. Unary calls only. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import type { Calls } from './calls.js';
import { clientError, invalidArgument, isQimClientError, toConnectError } from './errors.js';

export function socketTransport(calls: Pick<Calls, 'call'>): Transport {
  return {
    async unary(method, signal, timeoutMs, _header, input) {
      try {
        const body = encode(() => toBinary(method.input, create(method.input, input)));
        const answer = await calls.call(`${method.parent.typeName}/${method.name}`, body, { signal, timeoutMs });
        const message = decode(() => fromBinary(method.output, answer));
        return { stream: false, service: method.parent, method, header: new Headers(), trailer: new Headers(), message };
      } catch (error) {
        throw isQimClientError(error) ? toConnectError(error) : error;
      }
    },
    stream() {
      return Promise.reject(new ConnectError('events arrive on the socket by themselves', Code.Unimplemented));
    },
  };
}

function encode<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    // A value of a wrong type, which TypeScript would have refused.
    throw invalidArgument('', error instanceof Error ? error.message : String(error));
  }
}

function decode<T>(run: () => T): T {
  try {
    return run();
  } catch {
    throw clientError('BAD_ANSWER', 'the answer could not be decoded', true);
  }
}

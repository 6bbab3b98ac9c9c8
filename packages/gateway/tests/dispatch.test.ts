import { METHOD_ACCESS, type MethodName, UNBUILT_METHODS } from '@qim/proto';
import * as schema from '@qim/proto/schema';
import { afterEach, describe, expect, it } from 'vitest';
import { methodTable } from '../src/dispatch.js';
import { call, refusal } from './support/http.js';
import { startServer, type TestServer } from './support/server.js';

let server: TestServer | undefined;
afterEach(() => server?.close());

const NAMES = Object.keys(METHOD_ACCESS) as MethodName[];
/** A server stream: no single answer. */
const STREAM: MethodName = 'qim.v1.EventService/Subscribe';

function serviceMethods(): string[] {
  const services = Object.values(schema).filter((value) => typeof value === 'object' && 'kind' in value && value.kind === 'service');
  return services.flatMap((service) => service.methods.map(({ name }) => `${service.typeName}/${name}`));
}

describe('the table of methods', () => {
  it('has every method of the schema: built, or known as unbuilt', () => {
    expect(serviceMethods().sort()).toEqual([...NAMES].sort());
    const built = methodTable({ writer: {} as never, session: {} as never, minter: undefined, log: {} as never }, {} as never);
    expect([...built.keys(), ...UNBUILT_METHODS, STREAM].sort()).toEqual([...NAMES].sort());
  });

  it('lets nobody without admin: true near an admin method, and says of each that is not built that it is not', async () => {
    server = await startServer();
    const [alice, admin] = [await server.token('alice'), await server.token('backend', { admin: true })];
    for (const name of NAMES.filter((each) => UNBUILT_METHODS.has(each))) {
      const short = name.replace('qim.v1.', '') as 'SessionService/GetTotals';
      const needsAdmin = METHOD_ACCESS[name] === 'adminToken';
      const reason = needsAdmin ? 'FORBIDDEN' : 'UNIMPLEMENTED';
      expect([name, refusal(await call(server.url, short, alice, {})).reason]).toEqual([name, reason]);
      expect([name, refusal(await call(server.url, short, admin, {})).reason]).toEqual([name, 'UNIMPLEMENTED']);
    }
  });

  it('tells the observer of every call that ended, and how', async () => {
    server = await startServer();
    const alice = await server.token('alice');
    await call(server.url, 'SessionService/ListConversations', alice, {});
    await call(server.url, 'SessionService/ListConversations', alice, { pageSize: -1 });
    await call(server.url, 'SessionService/GetTotals', undefined, {});
    expect(server.calls).toEqual([
      { method: 'qim.v1.SessionService/ListConversations', outcome: 'ok' },
      { method: 'qim.v1.SessionService/ListConversations', outcome: 'InvalidArgument' },
      { method: 'qim.v1.SessionService/GetTotals', outcome: 'Unauthenticated' },
    ]);
  });
});

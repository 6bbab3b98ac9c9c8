/** Whole servers in this process, for tests: on a store that the test holds, with lines kept instead of printed. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecretTokens } from '@qim/gateway';
import { LEGACY_TENANT_ID, parseDeviceId, parseTenantId, parseUserId } from '@qim/proto';
import type { Store } from '@qim/store';
import { openMemoryStore } from '@qim/store/memory';
import { realClock } from '../src/clock.js';
import { loadConfig } from '../src/config.js';
import type { ServerIo } from '../src/io.js';
import { type RunningServer, startServer } from '../src/server.js';
import type { SettingName } from '../src/settings.js';

export interface Lines {
  readonly out: string[];
  readonly err: string[];
}

export interface Claims {
  readonly user: string;
  readonly tenant?: number;
  readonly device?: string;
  readonly admin?: boolean;
}

export interface TestServer extends RunningServer {
  readonly store: Store;
  readonly lines: Lines;
  token(claims: Claims): Promise<string>;
  /** `headers` beside the content type. The body is JSON. */
  call(method: string, token: string | undefined, body: object, headers?: Record<string, string>): Promise<Response>;
}

export const SECRET = 'a secret for tests, of more than 32 bytes';

export async function temporaryFolder(): Promise<{ readonly folder: string; readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'qim-server-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Never the real store: what the server opens is what the test gives. */
export function testIo(store: Store, more: Partial<ServerIo> = {}): ServerIo & { readonly lines: Lines } {
  const lines: Lines = { out: [], err: [] };
  return {
    lines,
    out: (line) => lines.out.push(line),
    err: (line) => lines.err.push(line),
    ...realClock,
    random: randomBytes,
    openStore: async () => store,
    pageFolder: undefined,
    ...more,
  };
}

export async function startTestServer(
  flags: Partial<Record<SettingName, string>> = {},
  { store = openMemoryStore({ now: Date.now }), ...more }: Partial<ServerIo> & { readonly store?: Store } = {},
): Promise<TestServer> {
  const { folder, remove } = await temporaryFolder();
  const jwtSecretFile = join(folder, 'secret');
  await writeFile(jwtSecretFile, `${SECRET}\n`);
  const io = testIo(store, more);
  const config = loadConfig({ flags: { port: '0', logLevel: 'warn', jwtSecretFile, ...flags }, environment: {} });
  // The secret is read at the start, and never again.
  const server = await startServer(config, io).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  await remove();
  return {
    ...server,
    store,
    lines: io.lines,
    token: (claims) => mintToken(claims),
    call: (method, token, body, headers = {}) => call(server.url, method, token, body, headers),
  };
}

async function mintToken({ user, tenant, device, admin = false }: Claims): Promise<string> {
  const minted = await createSecretTokens({ secrets: [SECRET], now: Date.now }).mint({
    tenantId: tenant === undefined ? LEGACY_TENANT_ID : parseTenantId(tenant),
    userId: parseUserId(user),
    deviceId: device === undefined ? undefined : parseDeviceId(device),
    admin,
    ttlSeconds: 600,
  });
  return minted.token;
}

export function call(
  url: string,
  method: string,
  token: string | undefined,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(new URL(`/${method}`, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    body: JSON.stringify(body),
  });
}

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecretTokens } from '@qim/server';
import { expect, test } from 'vitest';
import { qim, temporaryFolder } from './calling.js';

const SECRET = 'a secret for tests, of more than 32 bytes';
const NOW_MS = 1_800_000_000_000;
const now = () => NOW_MS;

async function secretFile(lines: readonly string[] = [SECRET]): Promise<string> {
  const file = join(await temporaryFolder(), 'secret');
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
}

const claimsOf = (token: string | undefined, secret = SECRET) => createSecretTokens({ secrets: [secret], now }).verify(token ?? '');

test('the token is the last line, for the user alone, in the legacy tenant, for an hour', async () => {
  const { code, out, err } = await qim(['token', '--user', 'alice', '--jwt-secret-file', await secretFile()], { now });
  expect([code, err]).toEqual([0, []]);
  expect(await claimsOf(out.at(-1))).toEqual({
    userId: 'alice',
    tenantId: 0,
    deviceId: undefined,
    admin: false,
    expiresAtMs: NOW_MS + 3_600_000,
  });
});

test('every flag is in the token', async () => {
  const flags = ['--user', 'Zoë', '--tenant', '4294967295', '--device', 'phone', '--ttl', '30d', '--admin'];
  const { out } = await qim(['token', ...flags, '--jwt-secret-file', await secretFile()], { now });
  expect(await claimsOf(out.at(-1))).toEqual({
    userId: 'Zoë',
    tenantId: 4_294_967_295,
    deviceId: 'phone',
    admin: true,
    expiresAtMs: NOW_MS + 30 * 86_400_000,
  });
});

test('of two secrets the current one signs', async () => {
  const previous = `${SECRET}, the previous one`;
  const { out } = await qim(['token', '--user', 'a', '--jwt-secret-file', await secretFile([SECRET, previous])], { now });
  await expect(claimsOf(out.at(-1))).resolves.toBeDefined();
  await expect(claimsOf(out.at(-1), previous)).rejects.toThrow();
});

test('without a secret file it is the --dev secret of the data folder', async () => {
  const data = await temporaryFolder();
  await writeFile(join(data, 'dev-secret'), `${SECRET}\n`);
  const { out } = await qim(['token', '--user', 'a'], { now, environment: { QIM_DATA: data } });
  await expect(claimsOf(out.at(-1))).resolves.toMatchObject({ userId: 'a' });
});

test('a data folder without a --dev secret says how to get one', async () => {
  const data = await temporaryFolder();
  const { code, out, err } = await qim(['token', '--user', 'a', '--data', data]);
  expect([code, out, err.length]).toEqual([1, [], 1]);
  expect(err[0]).toContain('qim serve --dev');
});

test('a secret that is too short is refused, and not shown', async () => {
  const { code, err } = await qim(['token', '--user', 'a', '--jwt-secret-file', await secretFile(['hunter2'])]);
  expect(code).toBe(1);
  expect(err.join('\n')).not.toContain('hunter2');
});

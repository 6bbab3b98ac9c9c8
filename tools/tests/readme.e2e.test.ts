/** The transcript of README.md, run as it is printed against a server of its own. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asPrinted, commandsOf, normalised, transcriptOf } from '../readme/transcript.js';
import { type DevServer, startDevServer } from '../serve/dev-server.js';

let server: DevServer;
beforeAll(async () => {
  server = await startDevServer();
}, 60_000);
afterAll(() => server.stop());

const readme = (name: string): Promise<string> => readFile(new URL(`../../${name}`, import.meta.url), 'utf8');

test('the transcript of README.md, run as it is printed, answers what it prints', async () => {
  const printed = transcriptOf(await readme('README.md'));
  expect(commandsOf(printed).length).toBeGreaterThan(8);
  expect(normalised(await asPrinted(commandsOf(printed), server.url))).toBe(normalised(printed));
});

test('README.zh-CN.md prints the same transcript', async () => {
  expect(transcriptOf(await readme('README.zh-CN.md'))).toBe(transcriptOf(await readme('README.md')));
});

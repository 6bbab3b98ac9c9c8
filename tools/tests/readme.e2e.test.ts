/** The transcripts of README.md and of the quick start, run as they are printed against a server of their own. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asPrinted, commandsOf, normalised, transcriptOf } from '../readme/transcript.js';
import { type DevServer, startDevServer } from '../serve/dev-server.js';

let server: DevServer;
beforeAll(async () => {
  server = await startDevServer();
});
afterAll(() => server.stop());

const readme = (name: string): Promise<string> => readFile(new URL(`../../${name}`, import.meta.url), 'utf8');

// Each of other users: one server is enough.
test.each(['README.md', 'docs/quick-start.md'])('the transcript of %s, run as it is printed, answers what it prints', async (name) => {
  const printed = transcriptOf(await readme(name));
  expect(commandsOf(printed).length).toBeGreaterThan(8);
  expect(normalised(await asPrinted(commandsOf(printed), server.url))).toBe(normalised(printed));
});

test.each([
  ['README.zh-CN.md', 'README.md'],
  ['docs/guide.zh-CN.md', 'docs/quick-start.md'],
])('%s prints the transcript of %s', async (chinese, english) => {
  expect(transcriptOf(await readme(chinese))).toBe(transcriptOf(await readme(english)));
});

import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseConversationId, parseUserId } from '@qim/proto';
import { openStore } from '@qim/server';
import { commitRequest, directCreate } from '@qim/store/testing';
import { beforeEach, expect, test } from 'vitest';
import { qim, temporaryFolder } from './calling.js';

const ALICE = parseUserId('alice');
const CHAT = parseConversationId('d_chat');
/** Archives of more than one chunk. */
const MESSAGES = 60;
const LONG = 'secret words '.repeat(400);

let folder: string;
let data: string;
let file: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  data = join(folder, 'data');
  file = join(folder, 'chat.qim');
  const store = await openStore({ store: 'embedded', data }, { as: 'server' });
  for (let n = 0; n < MESSAGES; n += 1) {
    const conversationId = n < MESSAGES / 2 ? CHAT : parseConversationId(`d_${n}`);
    const create = directCreate([ALICE, parseUserId('bob')]);
    await store.messages.commit(commitRequest(ALICE, conversationId, { content: { kind: 'text', text: LONG }, create }));
  }
  await store.close();
});

test('an export is a file for its owner alone, and an import makes the same store of it', async () => {
  expect(await qim(['export', '--data', data, '--file', file])).toMatchObject({
    code: 0,
    out: [expect.stringMatching(/^exported: 31 conversations, 0 users, 60 messages in [\d.]+ s$/)],
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const target = join(folder, 'target');
  expect(await qim(['import', '--data', target, '--file', file])).toMatchObject({ code: 0 });
  expect(await qim(['explain', '--data', target, '--user', 'bob', '--conversation', CHAT])).toMatchObject({
    code: 0,
    out: expect.arrayContaining([expect.stringContaining('bob sees 30 unread')]),
  });
});

test('a signal ends an export, --resume goes on with it, and a second one does not write over the first', async () => {
  let signal = (): void => {};
  let now = 0;
  const ended = await qim(['export', '--data', data, '--file', file], {
    stopSignals: (send) => {
      signal = send;
    },
    monotonicNow: () => {
      now += 1_000;
      return now;
    },
    draw: (line) => {
      if (line.includes('conversations')) signal();
    },
  });
  expect(ended).toMatchObject({ code: 1, err: [expect.stringContaining('--resume')] });
  expect(existsSync(file)).toBe(false);
  expect(await qim(['export', '--data', data, '--file', file])).toMatchObject({ code: 2 });
  expect(await qim(['export', '--data', data, '--file', file, '--resume'])).toMatchObject({ code: 0 });
  expect(existsSync(`${file}.part`)).toBe(false);
  expect(await qim(['export', '--data', data, '--file', file])).toMatchObject({
    code: 2,
    err: [expect.stringContaining('is there already')],
  });
  expect(await qim(['import', '--data', join(folder, 'target'), '--file', file])).toMatchObject({ code: 0 });
});

test('progress is a bar on a terminal and lines elsewhere, and never says what messages say', async () => {
  const drawn: string[] = [];
  let now = 0;
  const clock = (): number => {
    now += 60_000;
    return now;
  };
  const shown = await qim(['export', '--data', data, '--file', file], { draw: (line) => drawn.push(line), monotonicNow: clock });
  const lines = await qim(['import', '--data', join(folder, 'target'), '--file', file], { monotonicNow: clock });
  expect(drawn.join('\n')).toMatch(/\[#+\.*\] (conversations|users): \d+ %, \d+ messages/);
  expect(drawn.at(-1)).toBe('');
  expect(lines.err.join('\n')).toMatch(/^check: \d+ %, \d+ messages$/m);
  expect([...drawn, ...shown.out, ...shown.err, ...lines.out, ...lines.err].join('\n')).not.toContain('secret');
});

test('a damaged archive is refused with its line, and so is a store that is not empty', async () => {
  await qim(['export', '--data', data, '--file', file]);
  const text = await readFile(file, 'utf8');
  const damaged = join(folder, 'damaged.qim');
  await writeFile(damaged, text.replace('"sequence":7', '"sequence":8'));
  const target = join(folder, 'target');
  expect(await qim(['import', '--data', target, '--file', damaged])).toMatchObject({
    code: 1,
    err: [expect.stringMatching(/^qim: line \d+: chunk 1, from line 2 on, is not what was written$/)],
  });
  expect(await qim(['import', '--data', data, '--file', file])).toMatchObject({ code: 1, err: [expect.stringContaining('not empty')] });
});

test('without a file, or with one that is not there, the command is called wrongly', async () => {
  expect(await qim(['export', '--data', data])).toMatchObject({ code: 2 });
  expect(await qim(['import', '--data', data, '--file', join(folder, 'nothing')])).toMatchObject({ code: 2 });
  expect(await qim(['export', '--data', data, '--file', file, '--resume'])).toMatchObject({ code: 2 });
});

/**
 * What falls between two reads of one call on the embedded store, placed there by a hook: another process retains, commits
 * and recalls right then, and the answer is that of the moment at which the call began.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { SEQ_ZERO } from '@qim/proto';
import { afterEach, describe, expect, test } from 'vitest';
import type { MessageStore } from '../src/message/message-store.js';
import { seq } from '../src/testing/conformance/fixture.js';
import { EmbeddedBackend } from './embedded-backend.js';
import { ALICE, aliceSays, BOB, CHAT } from './embedded-requests.js';

const CHILD = fileURLToPath(new URL('./embedded-child.ts', import.meta.url));
let backend: EmbeddedBackend | undefined;
afterEach(() => backend?.close());

function retainElsewhere(folder: string): void {
  const { status, stderr } = spawnSync(process.execPath, ['--conditions=@qim/source', '--import', 'tsx', CHILD, folder, 'retain', '2']);
  if (status !== 0) throw new Error(String(stderr));
}

const state = { ...CHAT, watermark: SEQ_ZERO };
const CALLS: Readonly<Record<string, (messages: MessageStore) => Promise<unknown>>> = {
  list: (messages) => messages.readConversations(CHAT.tenantId, BOB, [state]),
  history: (messages) => messages.readHistory({ ...CHAT, userId: BOB, clearedSeq: SEQ_ZERO, position: { after: SEQ_ZERO }, limit: 50 }),
  'catch-up': (messages) =>
    messages.catchUp({ ...CHAT, userId: BOB, clearedSeq: SEQ_ZERO, epoch: 1, after: seq(4), amendmentCursor: 0, limit: 50 }),
};

describe.each(Object.entries(CALLS))('a %s', (_, call) => {
  test.each(['the second', 'the last'])('is of one moment when all changes before %s of its reads', async (which) => {
    let reads = 0;
    let at = -1;
    backend = await EmbeddedBackend.open({
      beforeRead: () => {
        reads += 1;
        if (reads === at && backend !== undefined) retainElsewhere(backend.folder);
      },
    });
    const { messages } = backend.store;
    for (let n = 1; n <= 6; n += 1) await messages.commit({ ...aliceSays(`message-${n}`), sender: { userId: ALICE, deviceId: undefined } });
    reads = 0;
    const before = await call(messages);
    at = which === 'the last' ? reads : 2;
    expect(at).toBeGreaterThan(1);
    reads = 0;
    expect(await call(messages)).toEqual(before);
    const after = await call(messages);
    expect(after).not.toEqual(before);
    const page = await messages.readHistory({ ...CHAT, userId: BOB, clearedSeq: SEQ_ZERO, position: 'newest', limit: 50 });
    expect(page.records.map(({ conversationSeq, status }) => [conversationSeq, status])).toEqual([
      [5, 1],
      [6, 3],
      [7, 1],
    ]);
  });
});

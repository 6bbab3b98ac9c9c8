/** What a send costs on the embedded store, whose flushes to the disk are what takes the time. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RECALL_WINDOW_MS } from '@qim/proto';
import { openEmbeddedStore } from '@qim/store/embedded';
import { createWriter } from '@qim/writer';
import { uuidv7 } from 'uuidv7';
import { expect, test } from 'vitest';
import { ALICE, BOB, caller, groupInput, T0, textInput } from './support.js';

test('a message and its place in the sender’s list are on the disk by one flush', async () => {
  const data = await mkdtemp(join(tmpdir(), 'qim-writer-'));
  let flushes = 0;
  const observer = {
    roundTrip: () => {
      flushes += 1;
    },
  };
  const store = await openEmbeddedStore(data, { observer });
  try {
    const { messages, directory, users } = store;
    const writer = createWriter({
      messages,
      directory,
      users,
      directMessages: () => 'anyone',
      now: Date.now,
      newId: uuidv7,
      announceRead: () => {},
      recallWindowMs: RECALL_WINDOW_MS,
    });
    const [old, room] = [
      await writer.createGroup(caller(ALICE), groupInput([BOB])),
      await writer.createGroup(caller(ALICE), groupInput([BOB])),
    ];
    flushes = 0;
    await writer.sendMessage(caller(ALICE), textInput('c1', { conversationId: old }));
    expect(flushes).toBe(1);
    const { views } = await directory.page(T0, ALICE, 50, undefined);
    expect(views.map(({ conversationId }) => conversationId)).toEqual([old, room]);
  } finally {
    await store.close();
    await rm(data, { recursive: true, force: true });
  }
});

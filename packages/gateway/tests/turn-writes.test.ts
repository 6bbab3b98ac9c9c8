import { Writable } from 'node:stream';
import { FRAMES_GATHERED_BYTES } from '@qim/proto';
import { expect, test } from 'vitest';
import { TurnWrites } from '../src/turn-writes.js';

/** The sizes of what each write to the system had. */
function recorded() {
  const written: number[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      written.push(chunk.length);
      done();
    },
    writev(chunks, done) {
      written.push(chunks.reduce((sum, { chunk }) => sum + (chunk as Buffer).length, 0));
      done();
    },
  });
  const writes = new TurnWrites(stream);
  const send = (bytes: number) => {
    writes.gather();
    stream.write(Buffer.alloc(bytes));
  };
  return { written, send };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('frames of one turn, also of what follows from it, go out in one write, and those of the next in another', async () => {
  const { written, send } = recorded();
  send(1);
  void Promise.resolve()
    .then(() => send(2))
    .then(() => send(3));
  expect(written).toEqual([]);
  await turn();
  expect(written).toEqual([6]);
  send(4);
  await turn();
  expect(written).toEqual([6, 4]);
});

test('FRAMES_GATHERED_BYTES do not wait for the end of the turn; less does', async () => {
  const { written, send } = recorded();
  send(FRAMES_GATHERED_BYTES - 1);
  send(1);
  expect(written).toEqual([]);
  send(5);
  expect(written).toEqual([FRAMES_GATHERED_BYTES]);
  await turn();
  expect(written).toEqual([FRAMES_GATHERED_BYTES, 5]);
});

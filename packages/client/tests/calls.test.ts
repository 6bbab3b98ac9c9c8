import { CLIENT_FRAME_BYTES_MAX } from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { Calls } from '../src/calls.js';
import { encodeCall } from '../src/codec.js';
import { environmentFrom } from '../src/environment.js';
import { QimClientError } from '../src/errors.js';
import { FakeSocket } from './support/fake-socket.js';

const METHOD = 'qim.v1.SessionService/GetConversation';

function attached(): { calls: Calls; sent: Uint8Array[] } {
  const calls = new Calls(environmentFrom({ WebSocket: FakeSocket }));
  const sent: Uint8Array[] = [];
  calls.attach({ send: (frame) => sent.push(frame), suspect: () => {} });
  return { calls, sent };
}

/** A body that makes the first call's frame exactly so long. */
function bodyFor(frameBytes: number): Uint8Array {
  const guess = new Uint8Array(frameBytes - 100);
  return new Uint8Array(guess.length + frameBytes - encodeCall(1, METHOD, guess).length);
}

describe('a frame', () => {
  test('of the largest size is sent', async () => {
    const { calls, sent } = attached();
    const answer = calls.call(METHOD, bodyFor(CLIENT_FRAME_BYTES_MAX));
    expect(sent.map((frame) => frame.length)).toEqual([CLIENT_FRAME_BYTES_MAX]);
    calls.reply(1, new Uint8Array([1]));
    expect(await answer).toEqual(new Uint8Array([1]));
  });

  test('of one byte more is refused here: the server would refuse it, or cut the link', async () => {
    const { calls, sent } = attached();
    const call = calls.call(METHOD, bodyFor(CLIENT_FRAME_BYTES_MAX + 1));
    await expect(call).rejects.toMatchObject({ reason: 'PAYLOAD_TOO_LARGE', code: 'invalid_argument', outcomeUnknown: false });
    expect(sent).toEqual([]);
  });
});

describe('a signal', () => {
  test('that is aborted already sends nothing', async () => {
    const { calls, sent } = attached();
    await expect(calls.call(METHOD, new Uint8Array(), { signal: AbortSignal.abort() })).rejects.toMatchObject({ reason: 'CANCELED' });
    expect(sent).toEqual([]);
  });

  test('ends a call that was sent with an unknown outcome, and its late answer harms nobody', async () => {
    const { calls } = attached();
    const abort = new AbortController();
    const call = calls.call(METHOD, new Uint8Array(), { signal: abort.signal });
    abort.abort();
    await expect(call).rejects.toMatchObject({ reason: 'CANCELED', outcomeUnknown: true });
    calls.reply(1, new Uint8Array());
    const next = calls.call(METHOD, new Uint8Array());
    calls.fail(2, new QimClientError({ code: 'not_found', reason: 'NOT_MEMBER', message: 'no such conversation' }));
    await expect(next).rejects.toMatchObject({ reason: 'NOT_MEMBER' });
  });
});

test('an answer to no call is ignored', () => {
  const { calls } = attached();
  expect(() => calls.reply(99, new Uint8Array())).not.toThrow();
});

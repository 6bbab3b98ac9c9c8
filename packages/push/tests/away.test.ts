/** How other processes are asked for the devices of users. */
import { describe, expect, test } from 'vitest';
import { Away } from '../src/hooks/away.js';
import { ALICE, BOB, CAROL, T0, turns } from './support.js';

/** Subscriptions that the test settles, by their order. */
function open() {
  const waiting: { readonly done: () => void; readonly fail: (error: Error) => void }[] = [];
  const asked: string[] = [];
  let ended = 0;
  const away = new Away({
    bus: {
      publish: async () => {},
      announce: ({ userIds }) => asked.push(...userIds),
      connected: (_, userIds) => userIds,
      subscribe: () => new Promise((resolve, reject) => waiting.push({ done: () => resolve(() => (ended += 1)), fail: reject })),
    },
    isHere: () => false,
    sleep: async () => {},
    monotonicNow: () => 0,
  });
  const among = () => away.among(T0, [ALICE, BOB, CAROL], new AbortController().signal);
  return { among, waiting, asked, ended: () => ended };
}

describe('who has no device anywhere', () => {
  test('is asked for all at once, each once their answer would be heard', async () => {
    const { among, waiting, asked, ended } = open();
    const found = among();
    expect(waiting).toHaveLength(3);
    waiting[1]?.done();
    await turns(1);
    expect(asked).toEqual([BOB]);
    for (const { done } of waiting) done();
    expect(await found).toEqual([ALICE, BOB, CAROL]);
    expect([asked.length, ended()]).toEqual([3, 3]);
  });

  test('is not known when one cannot be asked for, and nothing is listened to afterwards', async () => {
    const { among, waiting, ended } = open();
    const found = among();
    const failed = expect(found).rejects.toThrow('no answer');
    waiting[0]?.fail(new Error('no answer'));
    await turns(1);
    waiting[1]?.done();
    waiting[2]?.done();
    await failed;
    expect(ended()).toBe(2);
  });
});

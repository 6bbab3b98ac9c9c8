/** How other processes are asked for the devices of users. */
import { AWAY_REMEMBERED_MAX, AWAY_REMEMBERED_MS, parseUserId, type UserId } from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { Away } from '../src/hooks/away.js';
import { ALICE, BOB, CAROL, T0, turns } from './support.js';

/** Everybody is in some other process, and none of them answers. `asked`: by the length of each question. */
function openAlone() {
  let nowMs = 0;
  const asked: number[] = [];
  let count = 0;
  const away = new Away({
    bus: {
      publish: async () => {},
      announce: () => {
        count += 1;
      },
      connected: (_, userIds) => userIds,
      subscribe: async () => () => {},
    },
    isHere: () => false,
    sleep: async () => {},
    monotonicNow: () => nowMs,
  });
  const among = async (userIds: readonly UserId[]) => {
    count = 0;
    expect(await away.among(T0, userIds, new AbortController().signal)).toEqual(userIds);
    asked.push(count);
  };
  return { among, asked, pass: (ms: number) => (nowMs += ms) };
}

const users = (from: number, count: number) => Array.from({ length: count }, (_, i) => parseUserId(`u${from + i}`));

describe('who was found away', () => {
  test('is not asked for again until AWAY_REMEMBERED_MS have passed', async () => {
    const { among, asked, pass } = openAlone();
    for (const ms of [0, AWAY_REMEMBERED_MS - 1, 1]) {
      pass(ms);
      await among(users(0, 2));
    }
    expect(asked).toEqual([2, 0, 2]);
  });

  test('is remembered for AWAY_REMEMBERED_MAX users; one more, and the others are asked for anew', async () => {
    const { among, asked } = openAlone();
    await among(users(0, AWAY_REMEMBERED_MAX));
    await among(users(0, AWAY_REMEMBERED_MAX));
    await among(users(AWAY_REMEMBERED_MAX, 1));
    await among(users(AWAY_REMEMBERED_MAX, 1));
    await among(users(0, 10));
    expect(asked).toEqual([AWAY_REMEMBERED_MAX, 0, 1, 0, 10]);
  });
});

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

/** What waits for one conversation: how much one call takes of it, in what order, and what is encoded when. */
import { COMMIT_BATCH_BYTES_MAX, COMMIT_BATCH_MAX, LEGACY_TENANT_ID, parseConversationId, parseUserId } from '@qim/proto';
import { expect, test } from 'vitest';
import type { CommitRequest } from '../src/message/message-store.js';
import { CommitLane, type Part } from '../src/redis/commit-lane.js';
import { KeySpace } from '../src/redis/keys.js';
import { commitRequest } from '../src/testing/index.js';

const alice = parseUserId('alice');
const conversationId = parseConversationId('g_lane');
const place = { tenantId: LEGACY_TENANT_ID, conversationId };

class TestLane {
  readonly lane = new CommitLane(place, new KeySpace(1).conversation(place.tenantId, conversationId));
  /** Of those that can be told apart. */
  readonly requests: CommitRequest[] = [];
  readonly refused: unknown[] = [];

  push(text: string): this {
    const request = commitRequest(alice, conversationId, { content: { kind: 'text', text } });
    this.requests.push(request);
    this.lane.push({ request, resolve: () => {}, reject: (error) => this.refused.push(error) });
    return this;
  }

  /** A record needs ids that differ. */
  pushBroken(): this {
    const request = commitRequest(alice, conversationId, {});
    const broken = { ...request, activityId: request.messageId as string as typeof request.activityId };
    this.lane.push({ request: broken, resolve: () => {}, reject: (error) => this.refused.push(error) });
    return this;
  }

  take(): Part & { readonly places: readonly number[] } {
    const part = this.lane.take();
    return { ...part, places: part.batch.map(({ request }) => this.requests.indexOf(request)) };
  }
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

test('one call takes as many as the bound, in the order of their callers', () => {
  const lane = new TestLane();
  for (let i = 0; i < COMMIT_BATCH_MAX; i += 1) {
    expect(lane.lane.isFull).toBe(false);
    lane.push(`text ${i}`);
  }
  expect(lane.lane.isFull).toBe(true);
  lane.push('one more').push('and another');
  expect(lane.lane.length).toBe(COMMIT_BATCH_MAX + 2);
  expect(lane.take().places).toEqual(range(0, COMMIT_BATCH_MAX));
  expect(lane.lane.length).toBe(2);
  lane.push('behind them');
  expect(lane.take().places).toEqual(range(COMMIT_BATCH_MAX, COMMIT_BATCH_MAX + 3));
  expect(lane.lane.length).toBe(0);
});

test('what comes while a call is under way waits behind what did not fit it, encoded or not', () => {
  const lane = new TestLane();
  for (const i of range(0, 2 * COMMIT_BATCH_MAX + 1)) lane.push(`text ${i}`);
  const first = lane.take();
  lane.lane.encodeNext();
  expect(lane.lane.isFull).toBe(true);
  lane.push('the last');
  expect([...first.places, ...lane.take().places, ...lane.take().places]).toEqual(range(0, 2 * COMMIT_BATCH_MAX + 2));
});

test('a call has at most so many bytes of content, or one message that has more', () => {
  const lane = new TestLane();
  const large = 'x'.repeat(COMMIT_BATCH_BYTES_MAX / 4);
  for (const i of range(0, 5)) lane.push(large + i);
  expect(lane.lane.isFull).toBe(true);
  const first = lane.take();
  expect(first.places).toEqual([0, 1, 2]);
  expect(first.bytes).toBeLessThanOrEqual(COMMIT_BATCH_BYTES_MAX);
  expect(lane.take().places).toEqual([3, 4]);
});

test('what cannot be encoded is refused by itself, and the others go', () => {
  const lane = new TestLane();
  lane.push('before').pushBroken().push('behind');
  expect(lane.refused).toHaveLength(1);
  expect(lane.take().places).toEqual([0, 1]);
  expect(lane.pushBroken().take().batch).toEqual([]);
  expect(lane.lane.length).toBe(0);
});

test('a part ends once', () => {
  const lane = new TestLane().push('text').lane;
  const part = lane.take();
  expect(lane.isUnderWay(part)).toBe(true);
  lane.ended();
  expect(lane.isUnderWay(part)).toBe(false);
});

import type { Message } from '@qim/client';
import { PAGE_DRAFTS_MAX, PAGE_FIRST_INDEX } from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { continues, dayBefore, firstUnreadPlace, type Item, placeAfter } from '../src/chat/items.js';
import { follow } from '../src/chat/use-first-index.js';
import { Drafts } from '../src/compose/drafts.js';

const MINUTE_MS = 60_000;

function message(conversationSeq: number, change: Partial<Message> = {}): Message {
  const content = { kind: 'text', text: `${conversationSeq}` };
  return { messageId: `m${conversationSeq}`, conversationSeq, senderUserId: 'bob', committedAtMs: 0, content, ...change } as Message;
}

const item = (change: Partial<Message>): Item => ({ kind: 'message', message: message(1, change) });

describe('where the list begins', () => {
  const [five, six, seven] = [message(5), message(6), message(7)];
  const held = { messages: [six, seven], firstIndex: PAGE_FIRST_INDEX, generation: 0 };

  test('counts down by what was loaded above, so that nothing that is looked at changes its number', () => {
    expect(follow(held, [message(3), five, six, seven])).toMatchObject({ firstIndex: PAGE_FIRST_INDEX - 2, generation: 0 });
  });

  test('counts up by what a full window let go, and stays for what comes at the end', () => {
    expect(follow(held, [seven, message(8)])).toMatchObject({ firstIndex: PAGE_FIRST_INDEX + 1, generation: 0 });
    expect(follow(held, [six, seven, message(8)])).toMatchObject({ firstIndex: PAGE_FIRST_INDEX, generation: 0 });
  });

  test('begins anew when nothing of before is there', () => {
    expect(follow(held, [message(20)])).toMatchObject({ firstIndex: PAGE_FIRST_INDEX, generation: 1 });
    expect(follow(held, [])).toMatchObject({ generation: 1 });
  });
});

describe('the first unread message', () => {
  const messages = [message(2), message(5), message(9, { senderUserId: 'me' }), message(12)];

  test('is the first past the mark that somebody else wrote', () => {
    expect(firstUnreadPlace(messages, 0, 'me')).toBe(0);
    expect(firstUnreadPlace(messages, 2, 'me')).toBe(1);
    expect(firstUnreadPlace(messages, 5, 'me')).toBe(3);
    expect(firstUnreadPlace(messages, 12, 'me')).toBe(-1);
  });

  test('is found by sequence, whatever holes there are', () => {
    expect([0, 2, 4, 11, 12].map((seq) => placeAfter(messages, seq))).toEqual([0, 1, 1, 3, 4]);
  });
});

describe('a block of messages', () => {
  test('goes on for five minutes of one sender, and not over another one, a control line or midnight', () => {
    expect(continues(item({ committedAtMs: 5 * MINUTE_MS - 1 }), item({}), 'me')).toBe(true);
    expect(continues(item({ committedAtMs: 5 * MINUTE_MS }), item({}), 'me')).toBe(false);
    expect(continues(item({ senderUserId: 'carol' }), item({}), 'me')).toBe(false);
    expect(continues(item({}), item({ content: { kind: 'control', control: { kind: 'unknown', number: 1 } } }), 'me')).toBe(false);
    expect(continues(item({}), undefined, 'me')).toBe(false);
    const midnight = new Date('2026-03-15T00:00:00').getTime();
    expect(continues(item({ committedAtMs: midnight }), item({ committedAtMs: midnight - MINUTE_MS }), 'me')).toBe(false);
    expect(dayBefore(item({ committedAtMs: midnight }), item({ committedAtMs: midnight - MINUTE_MS }))).toBe(midnight);
  });
});

function storage(): Storage {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  } as Storage;
}

describe('drafts', () => {
  test('are kept for their user and conversation, until they are emptied', () => {
    const box = storage();
    const drafts = new Drafts(box, 'alice');
    drafts.set('c1', 'half');
    expect(new Drafts(box, 'alice').snapshot().get('c1')).toBe('half');
    expect(new Drafts(box, 'bob').snapshot().size).toBe(0);
    drafts.set('c1', '');
    expect(new Drafts(box, 'alice').snapshot().size).toBe(0);
  });

  test('are PAGE_DRAFTS_MAX at most: the one touched longest ago goes', () => {
    const drafts = new Drafts(storage(), 'alice');
    for (let n = 0; n < PAGE_DRAFTS_MAX; n += 1) drafts.set(`c${n}`, 'x');
    expect(drafts.snapshot().size).toBe(PAGE_DRAFTS_MAX);
    drafts.set('c0', 'touched');
    drafts.set('one more', 'x');
    expect(drafts.snapshot().size).toBe(PAGE_DRAFTS_MAX);
    expect([drafts.snapshot().has('c0'), drafts.snapshot().has('c1')]).toEqual([true, false]);
  });

  test('that somebody spoilt in the storage are none', () => {
    const box = storage();
    box.setItem('qim-drafts:alice', '{"not": "pairs"}');
    expect(new Drafts(box, 'alice').snapshot().size).toBe(0);
  });
});

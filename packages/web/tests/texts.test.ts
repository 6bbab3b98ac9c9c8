import { type Control, type Conversation, type Preview, QimClientError } from '@qim/client';
import { describe, expect, test } from 'vitest';
import { contentText, controlText, damageText, errorText, peopleText, previewText, titleOf } from '../src/shared/texts.js';
import { chinese, english, hasSentence, speech } from './support/speech.js';

function conversation(change: Partial<Conversation>): Conversation {
  return {
    kind: 'group',
    title: 'Tea',
    peerUserId: undefined,
    damaged: undefined,
    preview: undefined,
    previewDamaged: undefined,
    ...change,
  } as Conversation;
}

const toBob = { ...speech(), userId: 'bob', nameOf: (id: string) => id };
const toX = { ...toBob, userId: 'x' };

function preview(change: Partial<Preview>): Preview {
  const common = {
    messageId: 'm',
    conversationSeq: 1,
    type: 1,
    senderUserId: 'alice',
    snippet: 'hello',
    truncated: false,
    committedAtMs: 0,
  };
  return { ...common, status: 'normal', ...change };
}

describe('a control message', () => {
  test.each<[Control, string]>([
    [{ kind: 'created', title: 'Tea', userIds: ['alice', 'bob'] }, 'alice made “Tea” with you'],
    [{ kind: 'created', title: '', userIds: ['alice'] }, 'alice made the group'],
    [{ kind: 'joined', userIds: ['bob', 'carol'] }, 'alice added you and carol'],
    [{ kind: 'joined', userIds: ['alice'] }, 'alice joined'],
    [{ kind: 'left', userIds: ['alice'] }, 'alice left'],
    [{ kind: 'removed', userIds: ['carol'] }, 'alice removed carol'],
    [{ kind: 'title', title: 'Coffee' }, 'alice named the group “Coffee”'],
    [{ kind: 'role', userIds: ['carol'], role: 'admin' }, 'alice made carol admin'],
    [{ kind: 'settings', settings: { historyVisibility: 'all', onlyAdminsPost: true, readReceipts: false } }, 'alice changed the settings'],
    [{ kind: 'app', appType: 'call ended', appData: new Uint8Array() }, 'alice: call ended'],
    [{ kind: 'unknown', number: 55 }, 'alice did something that this page does not know'],
  ])('reads as a sentence: %j', (control, sentence) => {
    expect(controlText(control, 'alice', toBob)).toBe(sentence);
  });

  test('of oneself says You', () => {
    expect(controlText({ kind: 'left', userIds: ['bob'] }, 'bob', toBob)).toBe('You left');
  });
});

test('people are named, and many are counted', () => {
  expect(peopleText([], toX)).toBe('nobody');
  expect(peopleText(['a', 'b', 'c'], toX)).toBe('a, b and c');
  expect(peopleText(['a', 'b', 'c', 'd'], toX)).toBe('a, b and 2 others');
});

test('a direct conversation has the name of the other one, or is one’s own notes', () => {
  expect(titleOf(conversation({ kind: 'direct', peerUserId: 'carol' }), toBob)).toBe('carol');
  expect(titleOf(conversation({ kind: 'direct', peerUserId: 'bob' }), toBob)).toBe('Notes to self');
  expect(titleOf(conversation({ title: '' }), toBob)).toBe('Untitled group');
});

describe('the line of the list', () => {
  const damage = { reason: 'CORRUPT_RECORD', conversationSeq: 3, what: 'recordMissing' };
  test.each<[string, Partial<Conversation>, string]>([
    ['of a group names the sender', { preview: preview({}) }, 'alice: hello'],
    ['of a direct one does not', { kind: 'direct', preview: preview({}) }, 'hello'],
    ['of one’s own says You', { kind: 'direct', preview: preview({ senderUserId: 'bob' }) }, 'You: hello'],
    ['that is cut says so', { preview: preview({ truncated: true }) }, 'alice: hello…'],
    ['that was recalled says so', { preview: preview({ status: 'recalled', snippet: '' }) }, 'A message was recalled'],
    ['that was deleted says so', { preview: preview({ status: 'deleted', snippet: '' }) }, 'A message was deleted'],
    ['of data is its type', { preview: preview({ type: 2, snippet: 'image/png' }) }, 'alice: [image/png]'],
    ['of none says so', {}, 'No messages yet'],
    ['that is damaged says so', { previewDamaged: damage }, 'The newest message is damaged'],
    ['of a damaged conversation says so', { damaged: damage }, 'Stored data is damaged'],
  ])('%s', (_, change, text) => {
    expect(previewText(conversation(change), toBob).text).toBe(text);
  });
});

test('damage is explained with its place, when it has one', () => {
  const damage = { reason: 'CORRUPT_RECORD', conversationSeq: 3, what: 'recordMissing' };
  expect(damageText(damage, english)).toBe(
    'Part of this conversation is damaged on the server (recordMissing at message 3). How much is unread cannot be known.',
  );
  expect(damageText({ ...damage, conversationSeq: 0 }, english)).toContain('(recordMissing)');
  expect(damageText({ ...damage, reason: 'UNSUPPORTED_VERSION' }, english)).toContain('was written by a newer version of the server');
});

test('an error is a sentence, also one that nobody foresaw', () => {
  const error = (reason: string): QimClientError => new QimClientError({ code: 'x', reason, message: 'title must be at most 256 bytes' });
  expect(errorText(error('NOT_MEMBER'), english, hasSentence)).toBe('You are not a member of this conversation.');
  expect(errorText(error('INVALID_ARGUMENT'), english, hasSentence)).toBe('Title must be at most 256 bytes.');
  expect(errorText(new Error('bug'), english, hasSentence)).toBe('Something went wrong.');
});

test('content that is no text shows its type and size', () => {
  expect(contentText({ kind: 'data', contentType: 'image/png', data: new Uint8Array(3) }, english)).toBe('[image/png, 3 bytes]');
});

test('people are called by the names in their profiles, and in Chinese as well', () => {
  const left: Control = { kind: 'removed', userIds: ['bob', 'alice'] };
  expect(controlText(left, 'carol', speech())).toBe('carol removed Bob B. and you');
  expect(controlText(left, 'bob', speech(chinese))).toBe('Bob B.移除了Bob B.和你');
  expect(controlText({ kind: 'left', userIds: [] }, 'qim system', speech())).toBe('System left');
});

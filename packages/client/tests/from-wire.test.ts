import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { unreadLabel } from '@qim/client';
import { ControlKind, ConversationSchema, ErrorReason, EventSchema, MessageSchema, MessageType, WelcomeSchema } from '@qim/proto/schema';
import { describe, expect, test } from 'vitest';
import { eventFrom } from '../src/events.js';
import { conversationFrom, identityFrom, messageFrom } from '../src/from-wire.js';

const NUMBERS = { latestConversationSeq: 0n, readConversationSeq: 0n, unreadCount: 0, unreadExact: true };

function conversation(init: MessageInitShape<typeof ConversationSchema>) {
  return conversationFrom(create(ConversationSchema, { conversationId: 'g_1', ...init }));
}

describe('a conversation', () => {
  test('with zeros that the server sent has zeros', () => {
    expect(conversation(NUMBERS)).toMatchObject({ damaged: undefined, latestConversationSeq: 0, unreadCount: 0, mentionCount: undefined });
  });

  test.each(Object.keys(NUMBERS))('without its %s is damaged, and holds no number at all', (absent) => {
    const entry = conversation({ ...NUMBERS, [absent]: undefined });
    expect(entry.damaged).toMatchObject({ what: 'numbersAbsent' });
    for (const name of Object.keys(NUMBERS)) expect(entry).not.toHaveProperty(name);
  });

  test('that the server calls damaged holds no number, even were one sent', () => {
    const entry = conversation({ ...NUMBERS, damaged: { reason: ErrorReason.UNSUPPORTED_VERSION, what: 'unsupportedVersion' } });
    expect(entry.damaged).toEqual({ reason: 'UNSUPPORTED_VERSION', conversationSeq: 0, what: 'unsupportedVersion' });
    expect(entry).not.toHaveProperty('unreadCount');
  });

  test('of a kind or a reason that this version does not know is taken as unknown', () => {
    const entry = conversation({ kind: 99 as never, damaged: { reason: 99 as never } });
    expect([entry.kind, entry.damaged?.reason]).toEqual(['unknown', 'REASON_99']);
  });
});

describe('a badge', () => {
  test.each([
    [0, true, ''],
    [7, true, '7'],
    [200, true, '200'],
    [200, false, '200+'],
    [0, false, '0+'],
  ])('of %i, exact %s, reads %j', (unreadCount, unreadExact, label) => {
    expect(unreadLabel(conversation({ ...NUMBERS, unreadCount, unreadExact }))).toBe(label);
  });

  test('of a damaged conversation is no text: not even an empty one', () => {
    expect(unreadLabel(conversation({ damaged: {} }))).toBeUndefined();
  });
});

describe('a message', () => {
  test('of a type, a status and a Control kind that this version does not know keeps what can be kept', () => {
    const init = { type: 77 as never, status: 9 as never, body: { case: 'control', value: { kind: 55 as never } } } as const;
    expect(messageFrom(create(MessageSchema, init))).toMatchObject({
      type: 77,
      status: 'unknown',
      content: { kind: 'control', control: { kind: 'unknown', number: 55 } },
    });
  });

  test('without a body was erased', () => {
    expect(messageFrom(create(MessageSchema, { type: MessageType.TEXT })).content).toEqual({ kind: 'none' });
  });

  test('with the greatest sequence is whole; past it it is refused, never rounded', () => {
    const greatest = BigInt(Number.MAX_SAFE_INTEGER);
    expect(messageFrom(create(MessageSchema, { conversationSeq: greatest })).conversationSeq).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => messageFrom(create(MessageSchema, { conversationSeq: greatest + 1n }))).toThrow(/2\^53-1/);
  });

  test.each([
    [ControlKind.CREATED, 'created'],
    [ControlKind.JOINED, 'joined'],
    [ControlKind.LEFT, 'left'],
    [ControlKind.REMOVED, 'removed'],
    [ControlKind.TITLE, 'title'],
    [ControlKind.ROLE, 'role'],
    [ControlKind.SETTINGS, 'settings'],
    [ControlKind.APP, 'app'],
  ])('of Control kind %i says %s', (kind, name) => {
    const message = messageFrom(create(MessageSchema, { body: { case: 'control', value: { kind } } }));
    expect(message.content).toMatchObject({ kind: 'control', control: { kind: name } });
  });
});

test('an event of a kind that this version does not know is no event', () => {
  expect(eventFrom(create(EventSchema, {}))).toBeUndefined();
  expect(eventFrom(create(EventSchema, { kind: { case: 'subscribed', value: {} } }))).toBeUndefined();
});

test('an acknowledgement whose worth this version does not know is of unknown worth', () => {
  expect(identityFrom(create(WelcomeSchema, { ackDurability: 'quantum' })).ackDurability).toBe('unknown');
});

import {
  CONTENT_BYTES_MAX,
  CONTENT_TYPE_CHARS_MAX,
  CONTROL_APP_TYPE_BYTES_MAX,
  type Control,
  ControlKind,
  HistoryVisibility,
  MEMBERS_PER_CALL_MAX,
  MENTIONS_MAX,
  MESSAGE_TYPE_MAX,
  type MessageContent,
  MessageType,
  parseMessageId,
  parseUserId,
  Role,
  TEXT_BYTES_MAX,
  TITLE_BYTES_MAX,
} from '@qim/proto';
import type { SendMessageInput } from '@qim/writer';
import { uuidv7 } from 'uuidv7';
import { describe, expect, test } from 'vitest';
import { ALICE, BOB, caller, groupInput, openWorld, refusal, seq, whole } from './support.js';

const APP: Control = { kind: ControlKind.App, appType: 'poll', appData: new Uint8Array([1]) };
const text = (value: string): Partial<SendMessageInput> => ({ content: { kind: 'text', text: value } });
const data = (contentType: string, size: number, type: number = MessageType.Image): Partial<SendMessageInput> => ({
  type,
  content: { kind: 'data', contentType, data: new Uint8Array(size) },
});
const control = (value: Control): Partial<SendMessageInput> => ({
  type: MessageType.Control,
  content: { kind: 'control', control: value },
});
const app = (appType: string, size = 0): Partial<SendMessageInput> =>
  control({ kind: ControlKind.App, appType, appData: new Uint8Array(size) });
const ids = (count: number) => Array.from({ length: count }, (_, n) => parseUserId(`user-${n}`));

/** Sends it in a fresh conversation of its own, where nothing else can refuse it; and if it was refused, nothing is there. */
async function verdict(part: Partial<SendMessageInput>): Promise<string> {
  const w = openWorld();
  const conversationId = await w.group(ALICE, [BOB]);
  const said = await refusal(w.writer.sendMessage(caller(ALICE), w.text({ conversationId }, part)));
  expect(await w.head(conversationId)).toBe(said === 'fine' ? 2 : 1);
  return said;
}

describe('each field of a message at its bound and past it', () => {
  const cases: readonly (readonly [string, Partial<SendMessageInput>, string])[] = [
    ['text of one character', text('a'), 'fine'],
    ['empty text', text(''), 'InvalidArgument text'],
    ['text of 16 KiB', text('a'.repeat(TEXT_BYTES_MAX)), 'fine'],
    ['text of 16 KiB and a byte', text('a'.repeat(TEXT_BYTES_MAX + 1)), 'PayloadTooLarge text'],
    ['text of 16 KiB in fewer characters', text('é'.repeat(TEXT_BYTES_MAX / 2)), 'fine'],
    ['text past 16 KiB in fewer characters', text(`${'é'.repeat(TEXT_BYTES_MAX / 2)}a`), 'PayloadTooLarge text'],
    ['text of four-byte characters at the bound', text('😀'.repeat(TEXT_BYTES_MAX / 4)), 'fine'],
    ['text with line ends and a NUL', text('a\n\u0000\tb'), 'fine'],
    ['text with a lone surrogate', text('a\ud800b'), 'InvalidArgument text'],
    ['content of no bytes', data('image/png', 0), 'fine'],
    ['content of 64 KiB', data('image/png', CONTENT_BYTES_MAX), 'fine'],
    ['content of 64 KiB and a byte', data('image/png', CONTENT_BYTES_MAX + 1), 'PayloadTooLarge content.data'],
    ['a content type of 127 characters', data('a'.repeat(CONTENT_TYPE_CHARS_MAX), 1), 'fine'],
    ['a content type of 128 characters', data('a'.repeat(CONTENT_TYPE_CHARS_MAX + 1), 1), 'InvalidArgument content.contentType'],
    ['an empty content type', data('', 1), 'InvalidArgument content.contentType'],
    ['a content type with a line end', data('image/png\n', 1), 'InvalidArgument content.contentType'],
    ['a content type that is not ASCII', data('bild/größe', 1), 'InvalidArgument content.contentType'],
    ['an app control', control(APP), 'fine'],
    ['an app type of 64 bytes', app('a'.repeat(CONTROL_APP_TYPE_BYTES_MAX)), 'fine'],
    ['an app type of 65 bytes', app('a'.repeat(CONTROL_APP_TYPE_BYTES_MAX + 1)), 'InvalidArgument control.appType'],
    [
      'an app type past 64 bytes in fewer characters',
      app('é'.repeat(CONTROL_APP_TYPE_BYTES_MAX / 2 + 1)),
      'InvalidArgument control.appType',
    ],
    ['an empty app type', app(''), 'InvalidArgument control.appType'],
    ['an app type with a control character', app('a\u0007'), 'InvalidArgument control.appType'],
    ['app data of 64 KiB', app('poll', CONTENT_BYTES_MAX), 'fine'],
    ['app data of 64 KiB and a byte', app('poll', CONTENT_BYTES_MAX + 1), 'PayloadTooLarge control.appData'],
    ['100 mentions', { mentionUserIds: ids(MENTIONS_MAX) }, 'fine'],
    ['101 mentions', { mentionUserIds: ids(MENTIONS_MAX + 1) }, 'InvalidArgument mentionUserIds'],
    ['a mention twice', { mentionUserIds: [BOB, ALICE, BOB] }, 'InvalidArgument mentionUserIds'],
    ['two Unicode forms of one name', { mentionUserIds: [parseUserId('é'), parseUserId('e\u0301')] }, 'fine'],
    ['mentions in a control message', { ...control(APP), mentionUserIds: [BOB] }, 'InvalidArgument mentionUserIds'],
    ['all mentioned in a control message', { ...control(APP), mentionAll: true }, 'InvalidArgument mentionAll'],
    ['a reply to nothing', { replyTo: { conversationSeq: seq(0), messageId: parseMessageId(uuidv7()) } }, 'InvalidArgument replyTo'],
  ];
  test.each(cases)('%s', async (_name, part, expected) => {
    expect(await verdict(part)).toBe(expected);
  });
});

describe('type and content go together', () => {
  const contents = {
    text: { kind: 'text', text: 'a' },
    data: { kind: 'data', contentType: 'image/png', data: new Uint8Array(1) },
    control: { kind: 'control', control: APP },
  } as const satisfies Record<string, MessageContent>;
  const wanted = (type: number) => (type === MessageType.Text ? 'text' : type === MessageType.Control ? 'control' : 'data');

  test('every known type, an unknown one and the largest take one kind of content each', async () => {
    for (const type of [...Object.values(MessageType), 4711, MESSAGE_TYPE_MAX]) {
      for (const [kind, content] of Object.entries(contents)) {
        expect([type, kind, await verdict({ type, content })]).toEqual([
          type,
          kind,
          kind === wanted(type) ? 'fine' : 'InvalidArgument type',
        ]);
      }
    }
  });

  test('type 0, negative ones, fractions and what is past 31 bits are refused, whatever the content', async () => {
    for (const type of [0, -1, -MessageType.Control, 1.5, Number.NaN, MESSAGE_TYPE_MAX + 1]) {
      for (const content of Object.values(contents))
        expect([type, await verdict({ type, content })]).toEqual([type, 'InvalidArgument type']);
    }
  });

  test('a message without content is refused by the field that is missing', async () => {
    const content = { kind: 'none' } as const;
    expect(await verdict({ content })).toBe('InvalidArgument text');
    expect(await verdict({ type: MessageType.File, content })).toBe('InvalidArgument content');
    expect(await verdict({ type: MessageType.Control, content })).toBe('InvalidArgument control');
  });

  test('no kind of control but App passes for a client’s', async () => {
    const forged: readonly Control[] = [
      { kind: ControlKind.Created, title: 'mine', userIds: [ALICE] },
      { kind: ControlKind.Joined, userIds: [ALICE] },
      { kind: ControlKind.Left, userIds: [BOB] },
      { kind: ControlKind.Removed, userIds: [BOB] },
      { kind: ControlKind.Title, title: 'mine' },
      { kind: ControlKind.Role, userIds: [ALICE], role: Role.Owner },
      { kind: ControlKind.Settings, settings: { historyVisibility: HistoryVisibility.All, onlyAdminsPost: false } },
    ];
    for (const value of forged) expect([value.kind, await verdict(control(value))]).toEqual([value.kind, 'InvalidArgument control.kind']);
  });

  test('an unknown type is kept as it is', async () => {
    const w = openWorld();
    const conversationId = await w.group(ALICE, []);
    const output = await w.writer.sendMessage(caller(ALICE), w.text({ conversationId }, { ...data('x/y', 1, 4711) }));
    expect(whole(output).record.type).toBe(4711);
  });
});

describe('each field of a group at its bound and past it', () => {
  const cases: readonly (readonly [string, Parameters<typeof groupInput>, string])[] = [
    ['no members beside the owner', [[]], 'fine'],
    ['200 members', [ids(MEMBERS_PER_CALL_MAX)], 'fine'],
    ['201 members', [ids(MEMBERS_PER_CALL_MAX + 1)], 'InvalidArgument memberIds'],
    ['no title', [[], { title: '' }], 'fine'],
    ['a title of 256 bytes', [[], { title: 'é'.repeat(TITLE_BYTES_MAX / 2) }], 'fine'],
    ['a title of 257 bytes', [[], { title: `${'é'.repeat(TITLE_BYTES_MAX / 2)}a` }], 'PayloadTooLarge title'],
    ['a title with a line end', [[], { title: 'a\nb' }], 'InvalidArgument title'],
    ['a title with a lone surrogate', [[], { title: 'a\udc00' }], 'InvalidArgument title'],
  ];
  test.each(cases)('%s', async (_name, input, expected) => {
    const w = openWorld();
    expect(await refusal(w.writer.createGroup(caller(ALICE), groupInput(...input)))).toBe(expected);
    expect(await w.listOf(ALICE)).toHaveLength(expected === 'fine' ? 1 : 0);
  });

  test('members to add: 1 to 200', async () => {
    const w = openWorld();
    const conversationId = await w.group(ALICE, []);
    const add = (count: number) => refusal(w.writer.addMembers(caller(ALICE), conversationId, ids(count)));
    expect(await add(0)).toBe('InvalidArgument memberIds');
    expect(await add(MEMBERS_PER_CALL_MAX + 1)).toBe('InvalidArgument memberIds');
    expect(await w.head(conversationId)).toBe(1);
    expect(await add(MEMBERS_PER_CALL_MAX)).toBe('fine');
    expect(await w.members(conversationId)).toHaveLength(MEMBERS_PER_CALL_MAX + 1);
  });
});

/**
 * Every field of every built method: values at its bound, which are taken, and values past it, which are refused by the
 * field's name. Expected fields are the path itself unless a case says otherwise.
 */
import { createECDH } from 'node:crypto';
import {
  AVATAR_URL_BYTES_MAX,
  CLIENT_MESSAGE_ID_BYTES_MAX,
  CONTENT_BYTES_MAX,
  CONTENT_TYPE_CHARS_MAX,
  CONTROL_APP_TYPE_BYTES_MAX,
  CONVERSATION_ID_CHARS_MAX,
  DEVICE_ID_BYTES_MAX,
  DISPLAY_NAME_BYTES_MAX,
  HISTORY_PAGE_SIZE_MAX,
  LIST_PAGE_SIZE_MAX,
  MARK_ALL_READ_MAX,
  MEMBERS_PER_CALL_MAX,
  MENTIONS_MAX,
  MESSAGE_TYPE_MAX,
  PAGE_TOKEN_CHARS_MAX,
  PROFILES_PER_CALL_MAX,
  REACTION_EMOJI_BYTES_MAX,
  REPORT_COMMENT_BYTES_MAX,
  REPORTS_PAGE_SIZE_MAX,
  TEXT_BYTES_MAX,
  TITLE_BYTES_MAX,
  TOKEN_TTL_SECONDS_MAX,
  USER_ID_BYTES_MAX,
  WEB_PUSH_ENDPOINT_BYTES_MAX,
} from '@qim/proto';
import type { Json, JsonObject } from './http.js';

export interface Bad {
  readonly value: Json;
  readonly reason?: 'PAYLOAD_TOO_LARGE';
  /** Where the error names another field than the one that was set. */
  readonly field?: string;
}

export interface FieldCase {
  /** Such as `replyTo.messageId`. */
  readonly path: string;
  readonly good: readonly Json[];
  readonly bad: readonly (Json | BadCase)[];
  /** Set beside the field, and over the method's own body. */
  readonly beside?: JsonObject;
}

class BadCase implements Bad {
  readonly value: Json;
  readonly reason?: 'PAYLOAD_TOO_LARGE';
  readonly field?: string;

  constructor(value: Json, told: Omit<Bad, 'value'>) {
    this.value = value;
    Object.assign(this, told);
  }
}

export function badCase(bad: Json | BadCase): Bad {
  return bad instanceof BadCase ? bad : { value: bad };
}

const tooLarge = (value: Json) => new BadCase(value, { reason: 'PAYLOAD_TOO_LARGE' });
const told = (field: string, value: Json) => new BadCase(value, { field });

const SEQ_MAX_TEXT = String(Number.MAX_SAFE_INTEGER);
const NO_TEXT: readonly Json[] = [5, true, [], {}, '\ud800'];
const NO_INTEGER: readonly Json[] = ['x', 1.5, true, [], {}];
const NO_BOOL: readonly Json[] = ['true', 1, [], {}];
const PAST_SEQ: readonly Json[] = [-1, '-1', '9007199254740992', '9223372036854775807', '9223372036854775808', 2 ** 53];

/** 1..bytesMax bytes of UTF-8 without control characters. */
function idCase(path: string, bytesMax: number, beside?: JsonObject): FieldCase {
  const bad = ['', 'x'.repeat(bytesMax + 1), 'é'.repeat(bytesMax / 2 + 1), 'a\u0000', 'a\nb', 'a\u007f', 'a\u0085', 'a\u2028', ...NO_TEXT];
  return {
    path,
    good: ['x'.repeat(bytesMax), 'é'.repeat(bytesMax / 2), 'e\u0301', '😀', ' '],
    bad,
    ...(beside === undefined ? {} : { beside }),
  };
}

const conversationId: FieldCase = {
  path: 'conversationId',
  good: ['x'.repeat(CONVERSATION_ID_CHARS_MAX), '-', '_'],
  bad: ['', 'x'.repeat(CONVERSATION_ID_CHARS_MAX + 1), 'a/b', 'a b', 'ü', 'a\n', 'a:b', ...NO_TEXT],
};

/** Of an existing message: 0 is none. */
const messageSeq = (path: string, past = path): FieldCase => ({
  path,
  good: ['1', 1],
  bad: [...['0', 0, ...PAST_SEQ].map((value) => told(past, value)), ...NO_INTEGER],
});
const seq = (path: string): FieldCase => ({ path, good: ['0', 0, SEQ_MAX_TEXT], bad: [...PAST_SEQ, ...NO_INTEGER] });
const flag = (path: string): FieldCase => ({ path, good: [true, false], bad: NO_BOOL });

const UUID = '01900000-0000-7000-8000-000000000000';
const messageId = (path: string): FieldCase => ({
  path,
  good: [UUID],
  bad: ['', 'x', UUID.toUpperCase().replace('0190', 'ABCD'), `${UUID}0`, UUID.slice(1), ...NO_TEXT],
});

const names = (count: number) => Array.from({ length: count }, (_, n) => `user${n}`);
const userIdList = (path: string, max: number): FieldCase => ({
  path,
  good: [names(max), ['x'.repeat(USER_ID_BYTES_MAX)]],
  bad: [names(max + 1), [''], ['ok', 'x'.repeat(USER_ID_BYTES_MAX + 1)], ['a\u0000'], [5], [null], 'alice', {}],
});

const bytes = (count: number) => Buffer.alloc(count).toString('base64');
const FILE = { type: 'MESSAGE_TYPE_FILE', text: undefined };
const CONTROL = { type: 'MESSAGE_TYPE_CONTROL', text: undefined };
const APP = { kind: 'CONTROL_KIND_APP', appType: 'x', appData: '' };
const control = (change: JsonObject) => ({ ...CONTROL, control: { ...APP, ...change } });

const text: FieldCase = {
  path: 'text',
  good: ['x', 'x'.repeat(TEXT_BYTES_MAX), 'é'.repeat(TEXT_BYTES_MAX / 2), 'a\nb\u0000'],
  bad: ['', tooLarge('x'.repeat(TEXT_BYTES_MAX + 1)), tooLarge('é'.repeat(TEXT_BYTES_MAX / 2 + 1)), ...NO_TEXT],
};
const content: readonly FieldCase[] = [
  { path: 'content', good: [], bad: ['x', 5, []], beside: FILE },
  {
    path: 'content.contentType',
    good: ['x'.repeat(CONTENT_TYPE_CHARS_MAX), 'image/png'],
    bad: ['', 'x'.repeat(CONTENT_TYPE_CHARS_MAX + 1), 'ü', 'a\n', ...NO_TEXT],
    beside: { ...FILE, content: { contentType: 'a/b', data: '' } },
  },
  {
    path: 'content.data',
    good: ['', bytes(CONTENT_BYTES_MAX)],
    bad: [tooLarge(bytes(CONTENT_BYTES_MAX + 1)), '%', 5, true, []],
    beside: { ...FILE, content: { contentType: 'a/b', data: '' } },
  },
];
const mentions: readonly FieldCase[] = [
  userIdList('mentionUserIds', MENTIONS_MAX),
  { path: 'mentionUserIds', good: [['a', 'b']], bad: [['a', 'a']] },
  flag('mentionAll'),
];

const title: FieldCase = {
  path: 'title',
  good: ['', 'x'.repeat(TITLE_BYTES_MAX)],
  bad: [tooLarge('x'.repeat(TITLE_BYTES_MAX + 1)), 'a\nb', ...NO_TEXT],
};
const historyVisibility = (unspecified: 'taken' | 'refused'): FieldCase => ({
  path: 'historyVisibility',
  good: ['HISTORY_VISIBILITY_ALL', 1, 2, ...(unspecified === 'taken' ? [0] : [])],
  bad: [3, -1, 'ALL', 'HISTORY_VISIBILITY_NONE', '', true, 2 ** 31, ...(unspecified === 'taken' ? [] : [0])],
});

const sendMessage: readonly FieldCase[] = [
  conversationId,
  idCase('toUserId', USER_ID_BYTES_MAX, { conversationId: undefined }),
  // Of several that exclude each other the first is named.
  { path: 'toUserId', good: [], bad: [told('conversationId', 'bob')] },
  idCase('clientMessageId', CLIENT_MESSAGE_ID_BYTES_MAX),
  {
    path: 'type',
    good: ['MESSAGE_TYPE_TEXT', 1],
    bad: [0, 'MESSAGE_TYPE_UNSPECIFIED', -1, MESSAGE_TYPE_MAX + 1, 'MESSAGE_TYPE_SHOUT', '', 1.5, true, [], 2, 9],
  },
  {
    path: 'type',
    good: ['MESSAGE_TYPE_CUSTOM', 10, MESSAGE_TYPE_MAX],
    bad: [1, 9],
    beside: { ...FILE, content: { contentType: 'a/b', data: '' } },
  },
  text,
  { path: 'text', good: [], bad: [null] },
  ...content,
  { path: 'content', good: [], bad: [told('text', { contentType: 'a/b', data: '' })] },
  { path: 'control', good: [APP], bad: ['x', 5, []], beside: CONTROL },
  {
    path: 'control.kind',
    good: ['CONTROL_KIND_APP', 100],
    bad: [0, 1, 'CONTROL_KIND_JOINED', 'CONTROL_KIND_REMOVED', 7, 99, 101, -1, 'X', 1.5],
    beside: control({}),
  },
  {
    path: 'control.appType',
    good: ['x'.repeat(CONTROL_APP_TYPE_BYTES_MAX)],
    bad: ['', 'x'.repeat(CONTROL_APP_TYPE_BYTES_MAX + 1), 'a\nb', ...NO_TEXT],
    beside: control({}),
  },
  {
    path: 'control.appData',
    good: ['', bytes(CONTENT_BYTES_MAX)],
    bad: [tooLarge(bytes(CONTENT_BYTES_MAX + 1)), '%', 5],
    beside: control({}),
  },
  { path: 'control.userIds', good: [[]], bad: [['bob'], 'bob'], beside: control({}) },
  { path: 'control.title', good: [''], bad: ['x', 5], beside: control({}) },
  { path: 'control.role', good: [0], bad: [1, 'ROLE_OWNER', 'X'], beside: control({}) },
  { path: 'control.settings', good: [null], bad: [{}, 5], beside: control({}) },
  { path: 'control.settings.historyVisibility', good: [], bad: ['X', told('control.settings', 1)], beside: control({ settings: {} }) },
  { path: 'control.settings.onlyAdminsPost', good: [], bad: [5, told('control.settings', true)], beside: control({ settings: {} }) },
  { path: 'control.settings.readReceipts', good: [], bad: [5, told('control.settings', true)], beside: control({ settings: {} }) },
  ...mentions,
  { path: 'replyTo', good: [null], bad: ['x', 5, [], told('replyTo', { conversationSeq: '1', messageId: UUID })] },
  { ...messageSeq('replyTo.conversationSeq'), good: [], beside: { replyTo: { conversationSeq: '1', messageId: UUID } } },
  { ...messageId('replyTo.messageId'), good: [], beside: { replyTo: { conversationSeq: '1', messageId: UUID } } },
  seq('readConversationSeq'),
];

const mark = { conversationId: 'g_none', conversationSeq: '1' };
const upTo: FieldCase = {
  path: 'upTo',
  good: [[], Array.from({ length: MARK_ALL_READ_MAX }, () => mark)],
  bad: [
    Array.from({ length: MARK_ALL_READ_MAX + 1 }, () => mark),
    ...conversationId.bad.filter((value) => typeof value === 'string').map((id) => told('upTo.conversationId', [{ conversationId: id }])),
    told('upTo.conversationSeq', [{ ...mark, conversationSeq: -1 }]),
    'x',
    5,
    {},
  ],
};

const ref: readonly FieldCase[] = [conversationId, messageSeq('conversationSeq'), messageId('messageId')];
const pageToken: FieldCase = { path: 'pageToken', good: [''], bad: ['x', '%%%', 'x'.repeat(PAGE_TOKEN_CHARS_MAX + 1), ...NO_TEXT] };

/** The same refusal, told of another field. A value that is no text at all is refused by its full path. */
function toldOf(field: string, value: Json | BadCase): Json | BadCase {
  const { value: bad, ...rest } = badCase(value);
  return NO_TEXT.includes(bad) ? value : new BadCase(bad, { ...rest, field });
}

function profile(prefix: string): readonly FieldCase[] {
  const address = 'https://example.com/';
  return [
    {
      path: `${prefix}displayName`,
      good: ['', 'x'.repeat(DISPLAY_NAME_BYTES_MAX), 'é'],
      bad: [tooLarge('x'.repeat(DISPLAY_NAME_BYTES_MAX + 1)), 'a\nb', 'a\u0000', ...NO_TEXT],
    },
    {
      path: `${prefix}avatarUrl`,
      good: ['', 'http://a/b.png', `${address}${'x'.repeat(AVATAR_URL_BYTES_MAX - address.length)}`],
      bad: [
        tooLarge(`${address}${'x'.repeat(AVATAR_URL_BYTES_MAX)}`),
        ...['ftp://a/b', 'data:image/png;base64,x', '//a/b', 'a', 'https://', 'https://a/ b', 'https://a/"', 'file:///a', ' https://a'],
        ...NO_TEXT,
      ],
    },
  ];
}

/** As a page would register it. */
export const BROWSER = {
  endpoint: 'https://push.example/x',
  p256dh: createECDH('prime256v1').generateKeys('base64url'),
  auth: Buffer.alloc(16).toString('base64url'),
};

export const FIELD_CASES: Readonly<Record<string, readonly FieldCase[]>> = {
  'MessageService/SendMessage': sendMessage,
  'MessageService/EditMessage': [...ref, text, { path: 'text', good: [], bad: [null] }, ...content, ...mentions],
  'MessageService/RecallMessage': ref,
  'MessageService/DeleteMessage': ref,
  'MessageService/SetReaction': [...ref, idCase('emoji', REACTION_EMOJI_BYTES_MAX), flag('on')],
  'SessionService/ListConversations': [
    { path: 'pageSize', good: [0, 1, LIST_PAGE_SIZE_MAX, '7'], bad: [-1, LIST_PAGE_SIZE_MAX + 1, 2 ** 31, ...NO_INTEGER] },
    pageToken,
    flag('explain'),
  ],
  'SessionService/GetConversation': [conversationId, flag('explain')],
  'SessionService/MarkRead': [conversationId, seq('readConversationSeq')],
  'SessionService/ReadHistory': [
    conversationId,
    seq('afterSeq'),
    seq('beforeSeq'),
    { path: 'beforeSeq', good: [], bad: [told('afterSeq', 1)], beside: { afterSeq: 1 } },
    { path: 'limit', good: [0, 1, HISTORY_PAGE_SIZE_MAX], bad: [-1, HISTORY_PAGE_SIZE_MAX + 1, 2 ** 31, ...NO_INTEGER] },
  ],
  'SessionService/CatchUp': [
    conversationId,
    seq('epoch'),
    seq('afterSeq'),
    seq('amendmentCursor'),
    { path: 'limit', good: [0, 1, HISTORY_PAGE_SIZE_MAX], bad: [-1, HISTORY_PAGE_SIZE_MAX + 1, 2 ** 31, ...NO_INTEGER] },
  ],
  'EventService/SetTyping': [conversationId, flag('on')],
  'AdminService/SuspendUser': [
    idCase('userId', USER_ID_BYTES_MAX),
    { ...idCase('deviceId', DEVICE_ID_BYTES_MAX), bad: idCase('deviceId', DEVICE_ID_BYTES_MAX).bad.filter((bad) => bad !== '') },
    flag('suspended'),
  ],
  'AdminService/DeleteUser': [idCase('userId', USER_ID_BYTES_MAX)],
  'AdminService/ListConversationsOf': [
    idCase('userId', USER_ID_BYTES_MAX),
    { path: 'pageSize', good: [0, 1, LIST_PAGE_SIZE_MAX], bad: [-1, LIST_PAGE_SIZE_MAX + 1, 2 ** 31, ...NO_INTEGER] },
    pageToken,
  ],
  'ProfileService/SetProfile': profile(''),
  'AdminService/SetProfile': [
    idCase('userId', USER_ID_BYTES_MAX),
    { path: 'profile', good: [null, {}], bad: [5, 'x', []] },
    ...profile('profile.').map((each) => ({ ...each, bad: each.bad.map((value) => toldOf(each.path.slice('profile.'.length), value)) })),
    { path: 'profile.userId', good: ['x'], bad: [5] },
  ],
  'ProfileService/GetProfiles': [userIdList('userIds', PROFILES_PER_CALL_MAX)],
  'PushService/RegisterWebPush': [
    {
      path: 'endpoint',
      good: ['https://x', `https://${'x'.repeat(WEB_PUSH_ENDPOINT_BYTES_MAX - 'https://'.length)}`],
      bad: ['', 'x', tooLarge(`https://${'x'.repeat(WEB_PUSH_ENDPOINT_BYTES_MAX)}`), ...NO_TEXT],
    },
    { path: 'p256dh', good: [BROWSER.p256dh], bad: ['', 'x', `${BROWSER.p256dh}A`, `${BROWSER.p256dh}=`, ...NO_TEXT] },
    { path: 'auth', good: [BROWSER.auth], bad: ['', 'x', `${BROWSER.auth}AA`, `${BROWSER.auth}==`, ...NO_TEXT] },
  ],
  'PushService/UnregisterWebPush': [{ path: 'endpoint', good: ['', 'x'], bad: [...NO_TEXT] }],
  'ModerationService/BlockUser': [idCase('userId', USER_ID_BYTES_MAX), { path: 'userId', good: [], bad: ['alice'] }],
  'ModerationService/UnblockUser': [idCase('userId', USER_ID_BYTES_MAX)],
  'ModerationService/ListBlocked': [pageToken],
  'ModerationService/ReportMessage': [
    ...ref,
    {
      path: 'comment',
      good: ['', 'x'.repeat(REPORT_COMMENT_BYTES_MAX), 'a\nb'],
      bad: [tooLarge('x'.repeat(REPORT_COMMENT_BYTES_MAX + 1)), ...NO_TEXT],
    },
  ],
  'AdminService/ListReports': [
    { path: 'pageSize', good: [0, 1, REPORTS_PAGE_SIZE_MAX], bad: [-1, REPORTS_PAGE_SIZE_MAX + 1, 2 ** 31, ...NO_INTEGER] },
  ],
  'SessionService/ClearHistory': [conversationId, seq('upToSeq')],
  'SessionService/MarkAllRead': [upTo],
  'SessionService/SetConversationFlags': [
    conversationId,
    ...['pinned', 'muted', 'hidden', 'markedUnread'].map(flag),
    { path: 'hidden', good: [], bad: [true], beside: { pinned: true } },
  ],
  'ConversationService/CreateGroup': [
    {
      ...idCase('clientRequestId', CLIENT_MESSAGE_ID_BYTES_MAX),
      bad: idCase('clientRequestId', CLIENT_MESSAGE_ID_BYTES_MAX).bad.filter((bad) => bad !== ''),
    },
    title,
    userIdList('memberIds', MEMBERS_PER_CALL_MAX),
    historyVisibility('taken'),
    flag('onlyAdminsPost'),
    flag('readReceipts'),
  ],
  'ConversationService/AddMembers': [
    conversationId,
    userIdList('memberIds', MEMBERS_PER_CALL_MAX),
    { path: 'memberIds', good: [], bad: [[]] },
  ],
  'ConversationService/RemoveMember': [conversationId, idCase('userId', USER_ID_BYTES_MAX)],
  'ConversationService/LeaveGroup': [conversationId],
  'ConversationService/SetRole': [
    conversationId,
    idCase('userId', USER_ID_BYTES_MAX),
    { path: 'role', good: ['ROLE_MEMBER', 1, 2, 3], bad: [0, 4, -1, 'ROLE_UNSPECIFIED', 'ADMIN', '', 1.5, true, []] },
  ],
  'ConversationService/UpdateConversation': [
    conversationId,
    title,
    historyVisibility('refused'),
    flag('onlyAdminsPost'),
    flag('readReceipts'),
  ],
  'ConversationService/ListMembers': [conversationId, pageToken, flag('readMarks')],
  'AdminService/CreateConversation': [
    { ...conversationId, good: [...conversationId.good, 'g_chosen'], bad: [...conversationId.bad, 'd_chosen'] },
    title,
    idCase('ownerUserId', USER_ID_BYTES_MAX),
    userIdList('memberIds', MEMBERS_PER_CALL_MAX),
    { path: 'settings', good: [null, {}], bad: ['x', 5, []] },
    { ...historyVisibility('taken'), path: 'settings.historyVisibility' },
    flag('settings.onlyAdminsPost'),
    flag('settings.readReceipts'),
  ],
  // The same fields as SendMessage, but for whom it goes to and what was read.
  'AdminService/SendMessage': [
    ...sendMessage.filter(({ path }) => path !== 'toUserId' && path !== 'readConversationSeq'),
    { path: 'toUserId', good: [], bad: ['bob'], beside: { conversationId: undefined } },
    { path: 'readConversationSeq', good: ['0', 0], bad: ['1', ...PAST_SEQ, ...NO_INTEGER] },
  ],
  'AdminService/MintToken': [
    idCase('userId', USER_ID_BYTES_MAX),
    { ...idCase('deviceId', DEVICE_ID_BYTES_MAX), bad: idCase('deviceId', DEVICE_ID_BYTES_MAX).bad.filter((bad) => bad !== '') },
    { path: 'ttlSeconds', good: [0, 1, TOKEN_TTL_SECONDS_MAX], bad: [-1, TOKEN_TTL_SECONDS_MAX + 1, 2 ** 31, ...NO_INTEGER] },
  ],
};

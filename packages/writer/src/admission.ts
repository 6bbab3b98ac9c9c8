/**
 * Sizes and combinations of what a client asks to be written, each refusal naming the field as the API spells it. Nothing
 * here reads the store: what passes is well-formed, not yet allowed.
 */
import {
  CONTENT_BYTES_MAX,
  CONTENT_TYPE_CHARS_MAX,
  CONTROL_APP_TYPE_BYTES_MAX,
  type Control,
  ControlKind,
  invalidArgument,
  isLine,
  MEMBERS_PER_CALL_MAX,
  MENTIONS_MAX,
  MESSAGE_TYPE_MAX,
  type MessageContent,
  MessageType,
  payloadTooLarge,
  REACTION_EMOJI_BYTES_MAX,
  type ReplyTo,
  TEXT_BYTES_MAX,
  TITLE_BYTES_MAX,
  type UserId,
  utf8Bytes,
} from '@qim/proto';

interface Draft {
  readonly type: MessageType;
  readonly content: MessageContent;
  readonly mentionUserIds: readonly UserId[];
  readonly mentionAll: boolean;
  readonly replyTo: ReplyTo | undefined;
}

/** The one kind of content that a type goes with, and the field that carries it. Unknown types are data. */
function contentKindOf(type: MessageType): { kind: 'text' | 'data' | 'control'; field: string } {
  if (type === MessageType.Text) return { kind: 'text', field: 'text' };
  if (type === MessageType.Control) return { kind: 'control', field: 'control' };
  return { kind: 'data', field: 'content' };
}

const TYPE_OF_KIND = {
  text: 'MESSAGE_TYPE_TEXT where text is given',
  data: 'a type other than text and control where content is given',
  control: 'MESSAGE_TYPE_CONTROL where control is given',
} as const;

/** @throws InvalidArgument | PayloadTooLarge */
export function admitDraft(draft: Draft): void {
  const { type, content } = draft;
  if (!Number.isInteger(type) || type < 1 || type > MESSAGE_TYPE_MAX) throw invalidArgument('type', `an integer 1..${MESSAGE_TYPE_MAX}`);
  const wanted = contentKindOf(type);
  if (content.kind === 'none') throw invalidArgument(wanted.field, 'given for this type');
  if (content.kind !== wanted.kind) throw invalidArgument('type', TYPE_OF_KIND[content.kind]);
  admitContent(content);
  admitMentions(draft);
  if (draft.replyTo?.conversationSeq === 0) throw invalidArgument('replyTo', 'a message of this conversation');
}

/**
 * An edit's content for a target of this type; the type itself never changes.
 *
 * @throws InvalidArgument | PayloadTooLarge
 */
export function admitEdit(type: MessageType, content: MessageContent): void {
  const wanted = contentKindOf(type);
  if (content.kind !== wanted.kind) throw invalidArgument(wanted.field, 'given, as in the message itself');
  admitContent(content);
}

/** @throws InvalidArgument */
export function admitMentions({ type, mentionUserIds, mentionAll }: Pick<Draft, 'type' | 'mentionUserIds' | 'mentionAll'>): void {
  // Control is never unread, so that a mention in it could not be counted.
  const silent = type === MessageType.Control;
  if (silent && mentionAll) throw invalidArgument('mentionAll', 'false in a control message');
  if (silent && mentionUserIds.length > 0) throw invalidArgument('mentionUserIds', 'empty in a control message');
  if (mentionUserIds.length > MENTIONS_MAX || new Set(mentionUserIds).size !== mentionUserIds.length) {
    throw invalidArgument('mentionUserIds', `at most ${MENTIONS_MAX} ids, none twice`);
  }
}

/** @throws InvalidArgument | PayloadTooLarge */
export function admitContent(content: MessageContent): void {
  switch (content.kind) {
    case 'text':
      admitText(content.text);
      return;
    case 'data':
      if (!CONTENT_TYPE.test(content.contentType)) {
        throw invalidArgument('content.contentType', `1..${CONTENT_TYPE_CHARS_MAX} printable ASCII characters`);
      }
      if (content.data.length > CONTENT_BYTES_MAX) throw payloadTooLarge('content.data', CONTENT_BYTES_MAX);
      return;
    case 'control':
      admitControl(content.control);
      return;
    case 'none':
      throw invalidArgument('content', 'given');
  }
}

const CONTENT_TYPE = new RegExp(`^[\\x20-\\x7e]{1,${CONTENT_TYPE_CHARS_MAX}}$`);
// A lone surrogate has no UTF-8: what would be stored is not what was sent.
const LONE_SURROGATE = /\p{Surrogate}/u;

function admitText(text: string): void {
  if (tooLong(text, TEXT_BYTES_MAX)) throw payloadTooLarge('text', TEXT_BYTES_MAX);
  if (text === '' || LONE_SURROGATE.test(text)) throw invalidArgument('text', `1..${TEXT_BYTES_MAX} bytes of UTF-8`);
}

function admitControl(control: Control): void {
  if (control.kind !== ControlKind.App) throw invalidArgument('control.kind', 'CONTROL_KIND_APP');
  const { appType, appData } = control;
  if (appType === '' || tooLong(appType, CONTROL_APP_TYPE_BYTES_MAX) || !isLine(appType)) {
    throw invalidArgument('control.appType', `1..${CONTROL_APP_TYPE_BYTES_MAX} bytes of UTF-8 without control characters`);
  }
  if (appData.length > CONTENT_BYTES_MAX) throw payloadTooLarge('control.appData', CONTENT_BYTES_MAX);
}

/** Any short text: what an emoji is changes with every version of Unicode. @throws InvalidArgument */
export function admitEmoji(emoji: string): void {
  if (emoji === '' || tooLong(emoji, REACTION_EMOJI_BYTES_MAX) || !isLine(emoji)) {
    throw invalidArgument('emoji', `1..${REACTION_EMOJI_BYTES_MAX} bytes of UTF-8 without control characters`);
  }
}

/** @throws InvalidArgument | PayloadTooLarge */
export function admitTitle(title: string): void {
  if (tooLong(title, TITLE_BYTES_MAX)) throw payloadTooLarge('title', TITLE_BYTES_MAX);
  if (!isLine(title)) throw invalidArgument('title', `at most ${TITLE_BYTES_MAX} bytes of UTF-8 without control characters`);
}

/** @throws InvalidArgument */
export function admitMemberIds(memberIds: readonly UserId[], least: 0 | 1): void {
  if (memberIds.length < least || memberIds.length > MEMBERS_PER_CALL_MAX) {
    throw invalidArgument('memberIds', `${least}..${MEMBERS_PER_CALL_MAX} ids`);
  }
}

/** No character takes less than a byte: the first comparison spares the encoder a text of any length. */
function tooLong(text: string, bytesMax: number): boolean {
  return text.length > bytesMax || utf8Bytes(text) > bytesMax;
}

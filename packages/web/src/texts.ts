/** Values of the SDK as sentences for people. */
import {
  type Control,
  type Conversation,
  type Damage,
  isQimClientError,
  type MessageContent,
  MessageType,
  type Preview,
} from '@qim/client';

export function titleOf(conversation: Conversation, userId: string): string {
  if (conversation.kind !== 'direct') return conversation.title === '' ? 'Untitled group' : conversation.title;
  return conversation.peerUserId === userId ? 'Notes to self' : (conversation.peerUserId ?? 'Unknown');
}

/** 'alice', 'alice and bob', 'alice, bob and 3 others'. */
export function peopleText(userIds: readonly string[], userId: string): string {
  const named = userIds.map((id) => (id === userId ? 'you' : id));
  if (named.length <= 1) return named[0] ?? 'nobody';
  if (named.length <= 3) return `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
  return `${named.slice(0, 2).join(', ')} and ${named.length - 2} others`;
}

export function controlText(control: Control, senderUserId: string, userId: string): string {
  const sender = senderUserId === userId ? 'You' : senderUserId;
  switch (control.kind) {
    case 'created': {
      const others = control.userIds.filter((id) => id !== senderUserId);
      const group = control.title === '' ? 'the group' : `“${control.title}”`;
      return others.length === 0 ? `${sender} made ${group}` : `${sender} made ${group} with ${peopleText(others, userId)}`;
    }
    case 'joined':
      return isOneself(control.userIds, senderUserId) ? `${sender} joined` : `${sender} added ${peopleText(control.userIds, userId)}`;
    case 'left':
      return `${sender} left`;
    case 'removed':
      return `${sender} removed ${peopleText(control.userIds, userId)}`;
    case 'title':
      return `${sender} named the group “${control.title}”`;
    case 'role':
      return `${sender} made ${peopleText(control.userIds, userId)} ${control.role === 'unknown' ? 'something new' : control.role}`;
    case 'settings':
      return `${sender} changed the settings`;
    case 'app':
      return `${sender}: ${control.appType}`;
    case 'unknown':
      return `${sender} did something that this page does not know`;
  }
}

function isOneself(userIds: readonly string[], senderUserId: string): boolean {
  return userIds.length === 1 && userIds[0] === senderUserId;
}

export function contentText(content: MessageContent): string {
  if (content.kind === 'text') return content.text;
  return content.kind === 'data' ? `[${content.contentType}, ${content.data.length} bytes]` : '';
}

/** One line for the list. Emphasised ones are about the message, not its text. */
export function previewText(conversation: Conversation, userId: string): { readonly text: string; readonly emphasised: boolean } {
  const { preview, damaged, previewDamaged } = conversation;
  if (damaged !== undefined) return { text: 'Stored data is damaged', emphasised: true };
  if (previewDamaged !== undefined) return { text: 'The newest message is damaged', emphasised: true };
  if (preview === undefined) return { text: 'No messages yet', emphasised: true };
  const who = preview.senderUserId === userId ? 'You' : preview.senderUserId;
  if (preview.status === 'recalled') return { text: `${who} recalled a message`, emphasised: true };
  if (preview.status === 'deleted') return { text: 'A message was deleted', emphasised: true };
  const prefix = conversation.kind === 'direct' && who !== 'You' ? '' : `${who}: `;
  return { text: `${prefix}${snippetText(preview)}`, emphasised: false };
}

function snippetText({ type, snippet, truncated }: Preview): string {
  if (type !== MessageType.Text) return `[${snippet === '' ? 'attachment' : snippet}]`;
  return truncated ? `${snippet}…` : snippet;
}

export function damageText(damage: Damage): string {
  const where = damage.conversationSeq === 0 ? '' : ` at message ${damage.conversationSeq}`;
  const what =
    damage.reason === 'UNSUPPORTED_VERSION'
      ? 'was written by a newer version of the server'
      : `is damaged on the server (${damage.what}${where})`;
  return `Part of this conversation ${what}. How much is unread cannot be known.`;
}

const ERROR_TEXTS: Readonly<Record<string, string>> = {
  NOT_CONNECTED: 'There is no connection.',
  CONNECTION_LOST: 'The connection was lost.',
  CALL_TIMEOUT: 'The server did not answer in time.',
  NOT_MEMBER: 'You are not a member of this conversation.',
  FORBIDDEN: 'You are not allowed to do this.',
  NOT_FOUND: 'It is not there any more.',
  MESSAGE_FINAL: 'This message was recalled or deleted already.',
  RECALL_WINDOW_PASSED: 'It is too late to recall this message.',
  PAYLOAD_TOO_LARGE: 'This is too long.',
  RATE_LIMITED: 'Too much at once. Wait a moment.',
  CORRUPT_RECORD: 'Stored data of this conversation is damaged. Whoever runs the server has to look at it.',
  UNSUPPORTED_VERSION: 'Stored data of this conversation was written by a newer version of the server.',
  STORE_UNAVAILABLE: 'The server cannot reach its store. Try again in a moment.',
};

export function errorText(error: unknown): string {
  if (!isQimClientError(error)) return 'Something went wrong.';
  return ERROR_TEXTS[error.reason] ?? `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
}

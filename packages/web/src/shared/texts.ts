/** Values of the SDK as sentences for people. `say` has the language, `nameOf` the names. */
import {
  type Control,
  type Conversation,
  type Damage,
  isQimClientError,
  type Message,
  type MessageContent,
  MessageType,
  type Preview,
} from '@qim/client';
import { SYSTEM_USER_ID } from '@qim/proto';
import type { Say } from '../i18n/i18n.js';
import type { NameOf } from './names.js';

/** What a sentence is said with. `userId` is the reader. */
export interface Speech {
  readonly say: Say;
  readonly userId: string;
  readonly nameOf: NameOf;
}

export function titleOf(conversation: Conversation, { say, userId, nameOf }: Speech): string {
  const { kind, title, peerUserId } = conversation;
  if (kind !== 'direct') return title === '' ? say('name.untitled') : title;
  if (peerUserId === userId) return say('name.notes');
  return peerUserId === undefined ? say('name.unknown') : nameOf(peerUserId);
}

/** As the beginning of a sentence. */
export function whoText(userId: string, { say, userId: reader, nameOf }: Speech): string {
  if (userId === SYSTEM_USER_ID) return say('name.system');
  return userId === reader ? say('name.you') : nameOf(userId);
}

/** 'Alice', 'Alice and Bob', 'Alice, Bob and 3 others'. */
export function peopleText(userIds: readonly string[], { say, userId, nameOf }: Speech): string {
  const named = userIds.map((id) => (id === userId ? say('name.youSmall') : nameOf(id)));
  const [first, last] = [named[0], named.at(-1)];
  if (first === undefined || last === undefined) return say('name.nobody');
  if (named.length === 1) return first;
  if (named.length === 2) return say('name.two', { first, last });
  const separator = say('name.separator');
  if (named.length === 3) return say('name.list', { names: named.slice(0, -1).join(separator), last });
  return say('name.more', { names: named.slice(0, 2).join(separator), count: named.length - 2 });
}

export function controlText(control: Control, senderUserId: string, speech: Speech): string {
  const { say } = speech;
  const who = whoText(senderUserId, speech);
  const people = 'userIds' in control ? peopleText(control.userIds, speech) : '';
  switch (control.kind) {
    case 'created': {
      const others = control.userIds.filter((id) => id !== senderUserId);
      const group = control.title === '' ? say('control.theGroup') : say('control.titled', { title: control.title });
      if (others.length === 0) return say('control.created', { who, group });
      return say('control.createdWith', { who, group, people: peopleText(others, speech) });
    }
    case 'joined':
      return isOneself(control.userIds, senderUserId) ? say('control.joined', { who }) : say('control.added', { who, people });
    case 'left':
      return say('control.left', { who });
    case 'removed':
      return say('control.removed', { who, people });
    case 'title':
      return say('control.title', { who, title: control.title });
    case 'role':
      return say('control.role', { who, people, role: say(`role.${control.role}`) });
    case 'settings':
      return say('control.settings', { who });
    case 'app':
      return say('control.app', { who, type: control.appType });
    case 'unknown':
      return say('control.unknown', { who });
  }
}

function isOneself(userIds: readonly string[], senderUserId: string): boolean {
  return userIds.length === 1 && userIds[0] === senderUserId;
}

/** Whose names a message may need. */
export function peopleOf(message: Message): string[] {
  const { content } = message;
  const named = content.kind === 'control' && 'userIds' in content.control ? content.control.userIds : [];
  return [message.senderUserId, ...named, ...message.mentionUserIds];
}

export function contentText(content: MessageContent, say: Say): string {
  if (content.kind === 'text') return content.text;
  return content.kind === 'data' ? say('message.data', { type: content.contentType, count: content.data.length }) : '';
}

/** One line that stands for a message, as in a quotation. */
export function messageText(message: Message, speech: Speech): string {
  if (message.status === 'recalled') return speech.say('message.recalled');
  if (message.status === 'deleted') return speech.say('message.deleted');
  const { content } = message;
  return content.kind === 'control' ? controlText(content.control, message.senderUserId, speech) : contentText(content, speech.say);
}

/** One line for the list. Emphasised ones are about the message, not its text. */
export function previewText(conversation: Conversation, speech: Speech): { readonly text: string; readonly emphasised: boolean } {
  const { preview, damaged, previewDamaged } = conversation;
  const { say, userId } = speech;
  const emphasised = true;
  if (damaged !== undefined) return { text: say('list.damaged'), emphasised };
  if (previewDamaged !== undefined) return { text: say('list.previewDamaged'), emphasised };
  if (preview === undefined) return { text: say('list.noMessages'), emphasised };
  const who = whoText(preview.senderUserId, speech);
  if (preview.status === 'recalled') return { text: say('message.recalledShort'), emphasised };
  if (preview.status === 'deleted') return { text: say('message.deletedShort'), emphasised };
  const text = snippetText(preview, say);
  const isOfPeer = conversation.kind === 'direct' && preview.senderUserId !== userId;
  return { text: isOfPeer ? text : say('message.said', { who, text }), emphasised: false };
}

/** The same of what is not held, of which history told the beginning. */
export function quotedText(preview: Preview, say: Say): string {
  if (preview.status === 'recalled') return say('message.recalled');
  return preview.status === 'deleted' ? say('message.deleted') : snippetText(preview, say);
}

function snippetText({ type, snippet, truncated }: Preview, say: Say): string {
  if (type !== MessageType.Text) return `[${snippet === '' ? say('message.attachment') : snippet}]`;
  return truncated ? `${snippet}…` : snippet;
}

export function damageText(damage: Damage, say: Say): string {
  if (damage.reason === 'UNSUPPORTED_VERSION') return say('damage.newer');
  const where = damage.conversationSeq === 0 ? '' : say('damage.where', { seq: damage.conversationSeq });
  return say('damage.broken', { what: damage.what, where });
}

export function errorText(error: unknown, say: Say, has: (key: string) => boolean): string {
  if (!isQimClientError(error)) return say('error.unknown');
  const key = `error.${error.reason}`;
  if (has(key)) return say(key as 'error.unknown');
  return `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
}

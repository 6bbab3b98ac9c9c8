import type { Conversation } from '@qim/client';
import { BellOff, Pin } from 'lucide-react';
import { memo, type ReactElement } from 'react';
import { useTranslation } from 'react-i18next';
import { Avatar } from '../shared/avatar.js';
import { previewText, titleOf } from '../shared/texts.js';
import { listTime } from '../shared/times.js';
import { useSpeech } from '../shared/use-speech.js';
import { ConversationMenu } from './conversation-menu.js';
import { UnreadBadge } from './unread-badge.js';

interface ConversationRowProps {
  readonly conversation: Conversation;
  /** Unix milliseconds. */
  readonly now: number;
  readonly selected: boolean;
  /** '': none. */
  readonly draft: string;
  readonly online: boolean;
  readonly typing: boolean;
  readonly onSelect: (conversationId: string) => void;
}

export const ConversationRow = memo(function ConversationRow(props: ConversationRowProps): ReactElement {
  const { conversation, selected, online, onSelect } = props;
  const { conversationId, kind, peerUserId } = conversation;
  const speech = useSpeech(peopleOf(conversation));
  const title = titleOf(conversation, speech);
  const isNotes = kind === 'direct' && peerUserId === speech.userId;
  return (
    <li className="group relative px-2">
      <button
        type="button"
        data-testid="conversation"
        data-conversation={conversationId}
        aria-current={selected ? 'true' : undefined}
        onClick={() => onSelect(conversationId)}
        className={`flex w-full items-center gap-3 rounded-xl px-2.5 py-2 text-left ${selected ? 'bg-chosen' : 'hover:bg-hover'}`}
      >
        <Avatar id={peerUserId ?? conversationId} name={title} kind={avatarKind(kind === 'group', isNotes)} online={online && !isNotes} />
        <span className="min-w-0 flex-1">
          <TitleLine {...props} title={title} />
          <PreviewLine {...props} />
        </span>
      </button>
      <ConversationMenu conversation={conversation} title={title} />
    </li>
  );
});

function avatarKind(isGroup: boolean, isNotes: boolean): 'group' | 'notes' | 'person' {
  if (isGroup) return 'group';
  return isNotes ? 'notes' : 'person';
}

function peopleOf({ peerUserId, preview }: Conversation): string[] {
  return [peerUserId, preview?.senderUserId].filter((id) => id !== undefined);
}

function TitleLine({ conversation, now, title, online }: ConversationRowProps & { readonly title: string }): ReactElement {
  const { t: say, i18n } = useTranslation('page');
  const { flags, preview } = conversation;
  return (
    <span className="flex items-center gap-1.5">
      <span className={`truncate ${isUnread(conversation) ? 'font-semibold' : 'font-medium'}`}>{title}</span>
      {online && <span className="sr-only">, {say('list.online')}</span>}
      {flags.muted && <BellOff role="img" aria-label={say('list.muted')} className="size-3.5 shrink-0 text-muted" />}
      <span className="ml-auto flex shrink-0 items-center gap-1.5 pl-1 text-xs text-muted group-hover:invisible">
        {flags.pinned && <Pin role="img" aria-label={say('list.pinned')} className="size-3.5" />}
        {preview !== undefined && <time>{listTime(preview.committedAtMs, now, { language: i18n.language, say })}</time>}
      </span>
    </span>
  );
}

function PreviewLine({ conversation, draft, typing, selected }: ConversationRowProps): ReactElement {
  const speech = useSpeech(peopleOf(conversation));
  const { say } = speech;
  const { text, emphasised } = previewText(conversation, speech);
  const isDraft = draft !== '' && !selected;
  return (
    <span className="mt-0.5 flex h-5 items-center gap-1.5">
      {typing ? (
        <span className="truncate text-sm text-accent">{say('list.typing')}</span>
      ) : (
        <span className={`truncate text-sm text-muted ${emphasised && !isDraft ? 'italic' : ''}`}>
          {isDraft && <span className="text-danger">{say('list.draft')} </span>}
          {isDraft ? draft : text}
        </span>
      )}
      <span className="ml-auto flex shrink-0 items-center gap-1">
        <UnreadBadge conversation={conversation} />
      </span>
    </span>
  );
}

function isUnread(conversation: Conversation): boolean {
  return conversation.damaged === undefined && (conversation.unreadCount > 0 || conversation.flags.markedUnread);
}

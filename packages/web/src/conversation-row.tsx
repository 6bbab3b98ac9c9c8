import type { Conversation } from '@qim/client';
import { memo, type ReactElement } from 'react';
import { Avatar } from './avatar.js';
import { previewText, titleOf } from './texts.js';
import { listTime } from './times.js';
import { UnreadBadge } from './unread-badge.js';

interface ConversationRowProps {
  readonly conversation: Conversation;
  readonly userId: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly selected: boolean;
  readonly onSelect: (conversationId: string) => void;
}

export const ConversationRow = memo(function ConversationRow({
  conversation,
  userId,
  now,
  selected,
  onSelect,
}: ConversationRowProps): ReactElement {
  const title = titleOf(conversation, userId);
  const { text, emphasised } = previewText(conversation, userId);
  const at = conversation.preview?.committedAtMs;
  return (
    <li>
      <button
        type="button"
        data-testid="conversation"
        aria-current={selected ? 'true' : undefined}
        onClick={() => onSelect(conversation.conversationId)}
        className={`flex w-full items-center gap-3 px-4 py-2.5 text-left -outline-offset-2 ${selected ? 'bg-chosen' : 'hover:bg-hover'}`}
      >
        <Avatar name={title} group={conversation.kind === 'group'} />
        <span className="min-w-0 flex-1">
          <span className="flex items-baseline gap-2">
            <span className="truncate font-medium">{title}</span>
            {at !== undefined && <time className="ml-auto shrink-0 text-xs text-muted">{listTime(at, now)}</time>}
          </span>
          <span className="mt-0.5 flex items-center gap-2">
            <span className={`truncate text-sm text-muted ${emphasised ? 'italic' : ''}`}>{text}</span>
            <span className="ml-auto">
              <UnreadBadge conversation={conversation} />
            </span>
          </span>
        </span>
      </button>
    </li>
  );
});

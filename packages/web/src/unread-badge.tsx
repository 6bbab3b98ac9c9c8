import { type Conversation, unreadLabel } from '@qim/client';
import type { ReactElement } from 'react';
import { damageText } from './texts.js';

/** Nothing at 0, the number while it is exact, '200+' when the server stopped counting, a mark when it cannot be known. */
export function UnreadBadge({ conversation }: { readonly conversation: Conversation }): ReactElement | null {
  if (conversation.damaged !== undefined) {
    const text = damageText(conversation.damaged);
    return (
      <span
        role="img"
        aria-label={text}
        title={text}
        data-testid="damaged"
        className="flex size-5 shrink-0 items-center justify-center rounded-full bg-warn-soft text-sm font-bold text-warn"
      >
        !
      </span>
    );
  }
  const label = unreadLabel(conversation);
  if (label === '' || label === undefined) return null;
  const explained = conversation.unreadExact ? `${label} unread` : `at least ${conversation.unreadCount} unread`;
  return (
    <span
      data-testid="badge"
      title={explained}
      className="flex h-5 min-w-5 shrink-0 items-center justify-center rounded-full bg-accent px-1.5 text-xs font-semibold text-on-accent tabular-nums"
    >
      <span aria-hidden="true">{label}</span>
      <span className="sr-only">{explained}</span>
    </span>
  );
}

import { type Conversation, type SoundConversation, unreadLabel } from '@qim/client';
import { AtSign, TriangleAlert } from 'lucide-react';
import type { ReactElement } from 'react';
import { damageText } from '../shared/texts.js';
import { useSay } from '../shared/use-speech.js';

/** Nothing at 0, the number while it is exact, '200+' when the server stopped counting, a mark when it cannot be known. */
export function UnreadBadge({ conversation }: { readonly conversation: Conversation }): ReactElement | null {
  const say = useSay();
  if (conversation.damaged !== undefined) return <DamagedMark text={damageText(conversation.damaged, say)} />;
  const isMentioned = (conversation.mentionCount ?? 0) > 0;
  return (
    <>
      {isMentioned && (
        <span
          role="img"
          aria-label={say('list.mentioned')}
          title={say('list.mentioned')}
          data-testid="mentioned"
          className="flex size-5 items-center justify-center rounded-full bg-accent text-on-accent"
        >
          <AtSign aria-hidden="true" className="size-3.5" />
        </span>
      )}
      <UnreadNumber conversation={conversation} />
    </>
  );
}

function UnreadNumber({ conversation }: { readonly conversation: SoundConversation }): ReactElement | null {
  const say = useSay();
  const { unreadExact, unreadCount, flags } = conversation;
  const label = unreadLabel(conversation) ?? '';
  if (label === '' && !flags.markedUnread) return null;
  const counted = unreadExact ? say('list.unread', { label }) : say('list.unreadAtLeast', { count: unreadCount });
  const explained = label === '' ? say('list.markedUnread') : counted;
  return (
    <span
      data-testid="badge"
      title={explained}
      className={`flex h-5 min-w-5 shrink-0 items-center justify-center rounded-full px-1.5 text-xs font-semibold tabular-nums ${flags.muted ? 'bg-quiet text-on-quiet' : 'bg-accent text-on-accent'}`}
    >
      <span aria-hidden="true">{label}</span>
      <span className="sr-only">{explained}</span>
    </span>
  );
}

function DamagedMark({ text }: { readonly text: string }): ReactElement {
  return (
    <span
      role="img"
      aria-label={text}
      title={text}
      data-testid="damaged"
      className="flex size-5 shrink-0 items-center justify-center rounded-full bg-warn-soft text-warn"
    >
      <TriangleAlert aria-hidden="true" className="size-3.5" />
    </span>
  );
}

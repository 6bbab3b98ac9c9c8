import type { ConversationSnapshot, Message } from '@qim/client';
import { Fragment, type ReactElement } from 'react';
import { useClient } from './client-context.js';
import { useMinute } from './clock.js';
import { MessageItem } from './message-item.js';
import { Notice } from './notice.js';
import { OutgoingItem } from './outgoing-item.js';
import { dayName, isSameDay } from './times.js';
import type { ShownConversation } from './use-conversation.js';
import { useReadMarks } from './use-read-marks.js';
import { useScroll } from './use-scroll.js';

interface MessageListProps {
  readonly open: ShownConversation;
  readonly snapshot: ConversationSnapshot;
  readonly isGroup: boolean;
  readonly onEdit: (message: Message) => void;
  readonly onRecall: (message: Message) => void;
}

export function MessageList({ open, snapshot, isGroup, onEdit, onRecall }: MessageListProps): ReactElement {
  const { userId } = useClient();
  const { messages, outgoing, hasOlder, status } = snapshot;
  const { box, ...older } = useScroll(open, snapshot);
  useReadMarks(box, open, messages);
  const now = useMinute();
  return (
    <div
      ref={box}
      role="log"
      aria-label="Messages"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      onScroll={older.onScroll}
      className="flex min-h-0 flex-1 flex-col overflow-y-auto px-3 py-4 -outline-offset-2 [overflow-anchor:none] sm:px-6"
    >
      <div className="mt-auto" />
      {status === 'loading' && <Notice>Loading messages…</Notice>}
      {hasOlder && (
        <p className="py-2 text-center text-sm text-muted">
          {older.problem === '' ? (
            'Loading older messages…'
          ) : (
            <button type="button" className="button button-quiet" onClick={older.load}>
              Older messages could not be loaded. Try again
            </button>
          )}
        </p>
      )}
      {status === 'ready' && !hasOlder && messages.length === 0 && outgoing.length === 0 && <Notice>No messages yet.</Notice>}
      <ol className="flex flex-col">
        {messages.map((message, at) => {
          const before = messages[at - 1];
          const isNewDay = before === undefined || !isSameDay(before.committedAtMs, message.committedAtMs);
          return (
            <Fragment key={message.messageId}>
              {isNewDay && <DayLine text={dayName(message.committedAtMs, now)} />}
              <MessageItem
                message={message}
                userId={userId}
                continues={!isNewDay && continues(before, message)}
                showSender={isGroup}
                onEdit={onEdit}
                onRecall={onRecall}
              />
            </Fragment>
          );
        })}
        {outgoing.map((message) => (
          <OutgoingItem key={message.clientMessageId} message={message} />
        ))}
      </ol>
    </div>
  );
}

/** Of the same sender within five minutes: one block. */
function continues(before: Message | undefined, message: Message): boolean {
  return (
    before !== undefined &&
    before.content.kind !== 'control' &&
    before.senderUserId === message.senderUserId &&
    message.committedAtMs - before.committedAtMs < 5 * 60_000
  );
}

function DayLine({ text }: { readonly text: string }): ReactElement {
  return (
    <li className="my-4 flex items-center gap-3 text-xs font-medium text-muted" data-testid="day">
      <span className="h-px flex-1 bg-line" />
      {text}
      <span className="h-px flex-1 bg-line" />
    </li>
  );
}

import type { Message } from '@qim/client';
import { memo, type ReactElement, type ReactNode } from 'react';
import { contentText, controlText } from './texts.js';
import { clockTime } from './times.js';

interface MessageItemProps {
  readonly message: Message;
  readonly userId: string;
  /** Of one block with the message before. */
  readonly continues: boolean;
  readonly showSender: boolean;
  readonly onEdit: (message: Message) => void;
  readonly onRecall: (message: Message) => void;
}

export const MessageItem = memo(function MessageItem(props: MessageItemProps): ReactElement {
  const { message, userId, continues, showSender } = props;
  const { content, status, senderUserId } = message;
  if (content.kind === 'control') {
    return (
      <Row message={message} className="my-2 px-6 text-center text-sm text-muted">
        {controlText(content.control, senderUserId, userId)}
      </Row>
    );
  }
  const isOwn = senderUserId === userId;
  const isGone = status === 'recalled' || status === 'deleted';
  const isNamed = showSender && !isOwn && !continues && !isGone;
  return (
    <Row message={message} className={`group flex items-end gap-2 ${continues ? 'mt-0.5' : 'mt-3'} ${isOwn ? 'flex-row-reverse' : ''}`}>
      <div
        className={`max-w-[85%] min-w-0 rounded-2xl px-3.5 py-2 sm:max-w-[70%] ${isOwn ? 'rounded-br-md bg-own' : 'rounded-bl-md border border-line bg-other'}`}
      >
        {isNamed ? (
          <p className="text-sm font-semibold text-accent">{senderUserId}</p>
        ) : (
          <span className="sr-only">{isOwn ? 'You' : senderUserId}: </span>
        )}
        {/* The time beside a short text, below a long one. */}
        <div className="flex flex-wrap items-end justify-end gap-x-3">
          <p className={`min-w-0 grow break-words whitespace-pre-wrap ${isGone ? 'text-muted italic' : ''}`}>
            {isGone ? goneText(status, isOwn, senderUserId) : contentText(content)}
          </p>
          <p className="text-xs text-muted">
            {status === 'edited' && 'edited · '}
            <time dateTime={new Date(message.committedAtMs).toISOString()}>{clockTime(message.committedAtMs)}</time>
          </p>
        </div>
      </div>
      {isOwn && !isGone && <Actions {...props} />}
    </Row>
  );
});

function Row({
  message,
  className,
  children,
}: {
  readonly message: Message;
  readonly className: string;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <li className={className} data-testid="message" data-seq={message.conversationSeq}>
      {children}
    </li>
  );
}

/** Shown on hover and focus; always where there is no hovering. */
function Actions({ message, onEdit, onRecall }: MessageItemProps): ReactElement {
  const style = 'rounded px-1.5 py-1 text-xs text-muted hover:bg-hover hover:text-ink';
  return (
    <span className="flex shrink-0 opacity-0 group-hover:opacity-100 focus-within:opacity-100 [@media(hover:none)]:opacity-100">
      {message.content.kind === 'text' && (
        <button type="button" className={style} onClick={() => onEdit(message)}>
          Edit
        </button>
      )}
      <button type="button" className={style} onClick={() => onRecall(message)}>
        Recall
      </button>
    </span>
  );
}

function goneText(status: Message['status'], isOwn: boolean, sender: string): string {
  if (status === 'deleted') return 'This message was deleted';
  return isOwn ? 'You recalled this message' : `${sender} recalled this message`;
}

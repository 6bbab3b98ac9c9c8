import type { Message } from '@qim/client';
import { memo, type ReactElement, useRef } from 'react';
import { Avatar } from '../shared/avatar.js';
import { controlText, peopleOf } from '../shared/texts.js';
import { useSpeech } from '../shared/use-speech.js';
import { useAct } from './acts.js';
import { MessageActions } from './message-actions.js';
import { MessageBubble } from './message-bubble.js';
import { ReactionChips } from './reaction-chips.js';
import { useWatched } from './use-read-marks.js';

export interface MessageRowProps {
  readonly message: Message;
  readonly repliedTo: Message | undefined;
  readonly continues: boolean;
  readonly isGroup: boolean;
  readonly isAdmin: boolean;
  /** Hovered, focused or touched. */
  readonly active: boolean;
  /** It was just looked for. */
  readonly flash: boolean;
  /** Undefined: not this one any more. */
  readonly onActive: (messageId: string | undefined) => void;
  readonly onHold: (held: boolean) => void;
}

export const MessageRow = memo(function MessageRow(props: MessageRowProps): ReactElement {
  const { message, flash, onActive } = props;
  const { messageId, conversationSeq, content } = message;
  const row = useRef<HTMLElement>(null);
  useWatched(row, conversationSeq);
  const activate = (): void => onActive(messageId);
  return (
    <article
      ref={row}
      data-testid="message"
      data-row=""
      data-seq={conversationSeq}
      tabIndex={-1}
      // A finger does not hover: it gives the focus, and lifting it takes nothing back.
      onPointerEnter={({ pointerType }) => pointerType === 'mouse' && activate()}
      onPointerLeave={({ pointerType }) => pointerType === 'mouse' && onActive(undefined)}
      onFocus={activate}
      className={`rounded-xl -outline-offset-2 ${flash ? 'flash' : ''}`}
    >
      {content.kind === 'control' ? <ControlLine message={message} /> : <Talk {...props} />}
    </article>
  );
});

function ControlLine({ message }: { readonly message: Message }): ReactElement | null {
  const speech = useSpeech(peopleOf(message));
  if (message.content.kind !== 'control') return null;
  return (
    <p className="my-2 flex justify-center px-6 text-center text-sm text-muted">
      <span className="rounded-2xl bg-ink/5 px-3 py-1">{controlText(message.content.control, message.senderUserId, speech)}</span>
    </p>
  );
}

function Talk(props: MessageRowProps): ReactElement {
  const { message, continues, isGroup, isAdmin, active, onHold } = props;
  const { userId, nameOf } = useSpeech([message.senderUserId]);
  const act = useAct();
  const isOwn = message.senderUserId === userId;
  const isGone = message.status === 'recalled' || message.status === 'deleted';
  return (
    <div className={`relative flex gap-2 ${continues ? 'pt-0.5' : 'pt-3'} ${isOwn ? 'flex-row-reverse' : ''}`}>
      {isGroup && !isOwn && (
        <span className="w-8 shrink-0">
          {!continues && (
            <button type="button" tabIndex={-1} onClick={() => act({ kind: 'person', userId: message.senderUserId })}>
              <Avatar id={message.senderUserId} name={nameOf(message.senderUserId)} size="small" />
              <span className="sr-only">{nameOf(message.senderUserId)}</span>
            </button>
          )}
        </span>
      )}
      <div className={`flex max-w-[85%] min-w-0 flex-col sm:max-w-[70%] ${isOwn ? 'items-end' : 'items-start'}`}>
        <MessageBubble {...props} />
        <ReactionChips message={message} />
      </div>
      {active && !isGone && <MessageActions message={message} isAdmin={isAdmin} side={isOwn ? 'right' : 'left'} onHold={onHold} />}
    </div>
  );
}

import type { Message } from '@qim/client';
import { Ban } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { whoText } from '../shared/texts.js';
import { clockTime } from '../shared/times.js';
import { useSpeech } from '../shared/use-speech.js';
import { MessageText } from './message-text.js';
import { Quote } from './quote.js';
import { Ticks } from './ticks.js';

export interface BubbleProps {
  readonly message: Message;
  readonly repliedTo: Message | undefined;
  readonly isGroup: boolean;
  readonly continues: boolean;
}

export function MessageBubble({ message, repliedTo, isGroup, continues }: BubbleProps): ReactElement {
  const { senderUserId, status, replyTo, mentionUserIds, mentionAll } = message;
  const speech = useSpeech([senderUserId]);
  const isOwn = senderUserId === speech.userId;
  const isGone = status === 'recalled' || status === 'deleted';
  const isNamed = isGroup && !isOwn && !continues;
  const mentionsReader = !isOwn && (mentionAll || mentionUserIds.includes(speech.userId));
  return (
    <Bubble own={isOwn} marked={mentionsReader}>
      {isNamed ? (
        <p className="text-sm font-semibold text-accent">{whoText(senderUserId, speech)}</p>
      ) : (
        <span className="sr-only">{whoText(senderUserId, speech)}: </span>
      )}
      {replyTo !== undefined && !isGone && <Quote replyTo={replyTo} message={repliedTo} />}
      {/* The time beside a short text, below a long one. */}
      <div className="flex flex-wrap items-end justify-end gap-x-3">
        <div className="min-w-0 grow">{isGone ? <Gone message={message} /> : <MessageText message={message} />}</div>
        <BubbleFoot message={message} isOwn={isOwn} isGroup={isGroup} />
      </div>
    </Bubble>
  );
}

interface BubbleFrameProps {
  readonly own: boolean;
  readonly marked?: boolean;
  readonly failed?: boolean;
  readonly children: ReactNode;
}

export function Bubble({ own, marked = false, failed = false, children }: BubbleFrameProps): ReactElement {
  const side = own ? 'rounded-br-md bg-own' : 'rounded-bl-md bg-other';
  const edge = marked ? 'ring-1 ring-accent' : '';
  return (
    <div className={`max-w-full min-w-0 rounded-2xl px-3 py-1.5 shadow-xs ${side} ${edge} ${failed ? 'border border-danger' : ''}`}>
      {children}
    </div>
  );
}

function Gone({ message }: { readonly message: Message }): ReactElement {
  const speech = useSpeech([message.senderUserId]);
  const { say } = speech;
  return (
    <p className="flex items-center gap-1.5 text-muted italic">
      <Ban aria-hidden="true" className="size-4 shrink-0" />
      {message.status === 'deleted' ? say('message.deleted') : say('message.recalled', { who: whoText(message.senderUserId, speech) })}
    </p>
  );
}

function BubbleFoot({
  message,
  isOwn,
  isGroup,
}: {
  readonly message: Message;
  readonly isOwn: boolean;
  readonly isGroup: boolean;
}): ReactElement {
  const { t: say, i18n } = useTranslation('page');
  const { committedAtMs, status, conversationId, conversationSeq } = message;
  return (
    <p className="flex shrink-0 items-center gap-1 text-xs text-muted">
      {status === 'edited' && <span>{say('message.edited')}</span>}
      <time dateTime={new Date(committedAtMs).toISOString()}>{clockTime(committedAtMs, i18n.language)}</time>
      {isOwn && <Ticks conversationId={conversationId} conversationSeq={conversationSeq} isGroup={isGroup} />}
    </p>
  );
}

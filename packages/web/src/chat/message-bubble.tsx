import type { Message } from '@qim/client';
import { Ban } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { lookOf } from '../shared/look.js';
import { whoText } from '../shared/texts.js';
import { clockTime } from '../shared/times.js';
import { useSay, useSpeech } from '../shared/use-speech.js';
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
        <p className={`truncate text-sm font-semibold ${lookOf(senderUserId).text}`}>{whoText(senderUserId, speech)}</p>
      ) : (
        <span className="sr-only">{whoText(senderUserId, speech)}: </span>
      )}
      {replyTo !== undefined && !isGone && <Quote replyTo={replyTo} message={repliedTo} preview={message.replyPreview} />}
      <Footed foot={<BubbleFoot message={message} isOwn={isOwn} isGroup={isGroup} />}>
        {isGone ? <Gone status={status} /> : <MessageText message={message} />}
      </Footed>
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

/** What was said, and beside its last line, if there is room, when. Of inline children. */
export function Footed({ foot, children }: { readonly foot: ReactElement | null; readonly children: ReactNode }): ReactElement {
  return (
    <div className="flow-root">
      {children}
      {foot !== null && <span className="float-right mt-1.5 ml-3 flex h-4 items-center gap-1 text-xs text-muted">{foot}</span>}
    </div>
  );
}

/** Who recalled it is not known: an admin may recall what others wrote. */
function Gone({ status }: { readonly status: Message['status'] }): ReactElement {
  const say = useSay();
  return (
    <span className="text-muted italic">
      <Ban aria-hidden="true" className="mr-1.5 inline size-4 align-text-bottom" />
      {say(status === 'deleted' ? 'message.deleted' : 'message.recalled')}
    </span>
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
  const { committedAtMs, status, conversationSeq } = message;
  return (
    <>
      {status === 'edited' && <span>{say('message.edited')}</span>}
      <time dateTime={new Date(committedAtMs).toISOString()}>{clockTime(committedAtMs, i18n.language)}</time>
      {isOwn && <Ticks conversationSeq={conversationSeq} isGroup={isGroup} />}
    </>
  );
}

import type { Message, Preview, ReplyTo } from '@qim/client';
import type { ReactElement } from 'react';
import { messageText, quotedText, whoText } from '../shared/texts.js';
import { useSpeech } from '../shared/use-speech.js';
import { useAct } from './acts.js';

interface QuoteProps {
  readonly replyTo: ReplyTo;
  /** What is replied to; undefined: it is not held here. */
  readonly message: Message | undefined;
  /** What history told of it; undefined: nothing. */
  readonly preview: Preview | undefined;
}

/** What a message replies to; a click shows it. */
export function Quote({ replyTo, message, preview }: QuoteProps): ReactElement {
  const act = useAct();
  const sender = (message ?? preview)?.senderUserId;
  const speech = useSpeech(sender === undefined ? [] : [sender]);
  const text = message === undefined ? preview && quotedText(preview, speech.say) : messageText(message, speech);
  return (
    <button
      type="button"
      data-testid="quote"
      tabIndex={-1}
      onClick={() => act({ kind: 'seek', conversationSeq: replyTo.conversationSeq })}
      className="mb-1 block w-full max-w-full rounded-md border-l-3 border-accent bg-ink/5 px-2 py-1 text-left text-sm"
    >
      <span className="sr-only">{speech.say('message.replied')} </span>
      {sender === undefined ? (
        <span className="text-muted italic">{speech.say('message.repliedOld')}</span>
      ) : (
        <>
          <span className="block truncate font-medium text-accent">{whoText(sender, speech)}</span>
          <span className="line-clamp-2 break-words">{text}</span>
        </>
      )}
    </button>
  );
}

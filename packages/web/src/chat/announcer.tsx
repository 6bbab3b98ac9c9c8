import type { Message } from '@qim/client';
import { type ReactElement, useState } from 'react';
import { messageText, whoText } from '../shared/texts.js';
import { useSpeech } from '../shared/use-speech.js';

interface AnnouncerProps {
  readonly messages: readonly Message[];
  /** They are a part of the past: nothing of it has just come. */
  readonly past: boolean;
}

/** Says what has just come, to those who hear the page; the list itself says nothing while one scrolls. */
export function Announcer({ messages, past }: AnnouncerProps): ReactElement {
  const last = messages.at(-1);
  const [opened] = useState(last?.conversationSeq ?? 0);
  const [held, setHeld] = useState({ first: opened, last: opened });
  // The first messages to show are not news.
  if (held.first === 0 && last !== undefined) setHeld({ first: last.conversationSeq, last: last.conversationSeq });
  const speech = useSpeech(last === undefined ? [] : [last.senderUserId]);
  const isNews = !past && last !== undefined && held.first > 0 && last.conversationSeq > held.first && last.senderUserId !== speech.userId;
  return (
    <p aria-live="polite" className="sr-only">
      {isNews && speech.say('message.new', { who: whoText(last.senderUserId, speech), text: messageText(last, speech) })}
    </p>
  );
}

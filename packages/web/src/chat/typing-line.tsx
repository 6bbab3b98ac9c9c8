import { useTyping } from '@qim/client/react';
import type { ReactElement } from 'react';
import { peopleText } from '../shared/texts.js';
import { useSpeech } from '../shared/use-speech.js';

/** Who is writing, said once when it begins; its place stays, so that nothing moves. */
export function TypingLine({ conversationId }: { readonly conversationId: string }): ReactElement {
  const typing = useTyping(conversationId);
  const speech = useSpeech(typing.slice(0, 3));
  const text = typing.length === 0 ? '' : speech.say('message.typing', { count: typing.length, people: peopleText(typing, speech) });
  return (
    <p role="status" data-testid="typing" className="h-5 shrink-0 truncate px-4 text-xs text-accent sm:px-7">
      {text}
    </p>
  );
}

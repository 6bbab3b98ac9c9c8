import { Check, CheckCheck } from 'lucide-react';
import type { ReactElement } from 'react';
import { peopleText } from '../shared/texts.js';
import { useSpeech } from '../shared/use-speech.js';
import { useReadBy } from './read-by.js';

interface TicksProps {
  readonly conversationSeq: number;
  readonly isGroup: boolean;
}

/** That one's own message is durable, and who is known to have read it. */
export function Ticks({ conversationSeq, isGroup }: TicksProps): ReactElement {
  const readBy = useReadBy();
  const readers = [...readBy].filter(([, seq]) => seq >= conversationSeq).map(([userId]) => userId);
  const speech = useSpeech(readers.slice(0, 3));
  const { say } = speech;
  if (readers.length === 0) return <Check role="img" aria-label={say('message.sent')} className="size-3.5" />;
  const label = isGroup ? say('message.readBy', { people: peopleText(readers, speech) }) : say('message.read');
  return (
    <span role="img" aria-label={label} title={label} data-testid="read">
      <CheckCheck aria-hidden="true" className="size-3.5 text-accent" />
    </span>
  );
}

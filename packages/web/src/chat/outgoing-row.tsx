import type { OutgoingMessage } from '@qim/client';
import { useQim } from '@qim/client/react';
import { Clock } from 'lucide-react';
import type { ReactElement } from 'react';
import { useErrorText, useSay } from '../shared/use-speech.js';
import { Bubble, Footed } from './message-bubble.js';

/** One's own message on its way, or stuck on it. */
export function OutgoingRow({ message, continues }: { readonly message: OutgoingMessage; readonly continues: boolean }): ReactElement {
  const say = useSay();
  const { content, status } = message;
  const isFailed = status === 'failed';
  return (
    <div className={`flex flex-col items-end pl-12 ${continues ? 'pt-0.5' : 'pt-3'}`} data-testid="outgoing">
      <Bubble own failed={isFailed}>
        <Footed foot={isFailed ? null : <Clock role="img" aria-label={say('message.sending')} className="size-3.5" />}>
          <span className="break-words whitespace-pre-wrap">{content.kind === 'text' ? content.text : ''}</span>
        </Footed>
      </Bubble>
      {isFailed && <Failure message={message} />}
    </div>
  );
}

function Failure({ message }: { readonly message: OutgoingMessage }): ReactElement {
  const say = useSay();
  const client = useQim();
  const errorText = useErrorText();
  const { clientMessageId, error } = message;
  const why = error?.outcomeUnknown === true ? say('message.unknownSent') : say('message.notSent', { why: errorText(error) });
  return (
    <p role="alert" className="mt-1 flex flex-wrap justify-end gap-x-2 text-sm text-danger">
      <span>{why}</span>
      <button
        type="button"
        className="font-medium underline"
        // A new failure shows here as this one does.
        onClick={() => void client.outbox.retry(clientMessageId).catch(() => {})}
      >
        {say('message.sendAgain')}
      </button>
      <button type="button" className="font-medium underline" onClick={() => client.outbox.drop(clientMessageId)}>
        {say('message.drop')}
      </button>
    </p>
  );
}

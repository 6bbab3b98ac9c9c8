import type { OutgoingMessage } from '@qim/client';
import type { ReactElement } from 'react';
import { useClient } from './client-context.js';
import { errorText } from './texts.js';

/** One's own message on its way, or stuck on it. */
export function OutgoingItem({ message }: { readonly message: OutgoingMessage }): ReactElement {
  const { client } = useClient();
  const { clientMessageId, content, status, error } = message;
  // A new failure shows here as this one does.
  const sendAgain = (): void => void client.outbox.retry(clientMessageId).catch(() => {});
  const isFailed = status === 'failed';
  return (
    <li className="mt-0.5 flex flex-col items-end" data-testid="outgoing">
      <div
        className={`max-w-[85%] rounded-2xl rounded-br-md px-3.5 py-2 sm:max-w-[70%] ${isFailed ? 'border border-danger' : 'bg-own opacity-70'}`}
      >
        <div className="flex flex-wrap items-end justify-end gap-x-3">
          <p className="line-clamp-[12] min-w-0 grow break-words whitespace-pre-wrap">{content.kind === 'text' ? content.text : ''}</p>
          {!isFailed && <p className="text-xs text-muted">sending…</p>}
        </div>
      </div>
      {isFailed && (
        <p role="alert" className="mt-1 text-sm text-danger">
          {error?.outcomeUnknown === true ? 'It is not known whether this was sent.' : `Not sent. ${errorText(error)}`}{' '}
          <button type="button" className="font-medium underline" onClick={sendAgain}>
            Send again
          </button>{' '}
          <button type="button" className="font-medium underline" onClick={() => client.outbox.drop(clientMessageId)}>
            Drop
          </button>
        </p>
      )}
    </li>
  );
}

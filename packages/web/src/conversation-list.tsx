import { type ReactElement, useState } from 'react';
import { useClient, useObservable } from './client-context.js';
import { useMinute } from './clock.js';
import { ConversationRow } from './conversation-row.js';
import { Notice } from './notice.js';
import { errorText } from './texts.js';

interface ConversationListProps {
  /** Undefined: none. */
  readonly selectedId: string | undefined;
  readonly onSelect: (conversationId: string) => void;
  readonly onNewChat: () => void;
}

export function ConversationList({ selectedId, onSelect, onNewChat }: ConversationListProps): ReactElement {
  const { client, userId } = useClient();
  const now = useMinute();
  const { status, error, conversations, hasMore } = useObservable(client.conversations);
  if (status === 'loading') return <Notice>Loading your conversations…</Notice>;
  return (
    <nav aria-label="Conversations" className="min-h-0 flex-1 overflow-y-auto">
      {status === 'error' && (
        <Notice action="Try again" onAction={client.conversations.refresh}>
          The list could not be read. {errorText(error)}
        </Notice>
      )}
      {conversations.length === 0 && status === 'ready' && (
        <Notice action="Start a chat" onAction={onNewChat}>
          No conversations yet.
        </Notice>
      )}
      <ul>
        {conversations.map((conversation) => (
          <ConversationRow
            key={conversation.conversationId}
            conversation={conversation}
            userId={userId}
            now={now}
            selected={conversation.conversationId === selectedId}
            onSelect={onSelect}
          />
        ))}
      </ul>
      {hasMore && <LoadMore load={client.conversations.loadMore} />}
    </nav>
  );
}

function LoadMore({ load }: { readonly load: () => Promise<void> }): ReactElement {
  const [state, setState] = useState<'idle' | 'busy' | 'failed'>('idle');
  function onClick(): void {
    setState('busy');
    load().then(
      () => setState('idle'),
      () => setState('failed'),
    );
  }
  return (
    <div className="p-3 text-center">
      {state === 'failed' && <p className="mb-2 text-sm text-danger">More could not be loaded.</p>}
      <button type="button" className="button button-quiet" disabled={state === 'busy'} onClick={onClick}>
        {state === 'busy' ? 'Loading…' : 'Show more'}
      </button>
    </div>
  );
}

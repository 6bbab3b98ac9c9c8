import type { Conversation } from '@qim/client';
import { useConversations, useObservable, usePresence, useQim } from '@qim/client/react';
import { CircleAlert, MessagesSquare, SearchX } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { useDraftTexts } from '../compose/use-drafts.js';
import { useMinute } from '../shared/clock.js';
import { useNames } from '../shared/names.js';
import { Notice } from '../shared/notice.js';
import { titleOf } from '../shared/texts.js';
import { useErrorText, useSpeech } from '../shared/use-speech.js';
import { ConversationRow } from './conversation-row.js';
import { ListSkeleton } from './list-skeleton.js';
import { SampleOffer } from './sample-offer.js';

interface ConversationListProps {
  /** Undefined: none. */
  readonly selectedId: string | undefined;
  /** What titles must have in them; '': all. */
  readonly filter: string;
  readonly onSelect: (conversationId: string) => void;
  readonly onNewChat: () => void;
}

export function ConversationList(props: ConversationListProps): ReactElement {
  const { filter, onNewChat } = props;
  const client = useQim();
  const { say } = useSpeech();
  const errorText = useErrorText();
  const { status, error, conversations, hasMore } = useConversations();
  const shown = useFiltered(conversations, filter);
  if (status === 'loading') return <ListSkeleton label={say('list.loading')} />;
  const isEmpty = conversations.length === 0 && status === 'ready';
  return (
    <nav aria-label={say('list.label')} className="min-h-0 flex-1 overflow-y-auto py-1">
      {status === 'error' && (
        <Notice icon={CircleAlert} title={say('list.failed')} action={say('act.tryAgain')} onAction={client.conversations.refresh}>
          {errorText(error)}
        </Notice>
      )}
      {isEmpty && (
        <Notice icon={MessagesSquare} title={say('list.empty')} action={say('list.new')} onAction={onNewChat}>
          {say('list.emptyNote')}
        </Notice>
      )}
      {isEmpty && <SampleOffer />}
      {shown.length === 0 && conversations.length > 0 && <Notice icon={SearchX} title={say('list.noMatch')} />}
      {shown.length > 0 && <Rows {...props} conversations={shown} />}
      {hasMore && <LoadMore load={client.conversations.loadMore} />}
    </nav>
  );
}

function Rows({
  conversations,
  selectedId,
  onSelect,
}: ConversationListProps & { readonly conversations: readonly Conversation[] }): ReactElement {
  const client = useQim();
  const now = useMinute();
  const drafts = useDraftTexts();
  const presence = usePresence();
  const typing = useObservable(client.typing);
  return (
    <ul>
      {conversations.map((conversation) => (
        <ConversationRow
          key={conversation.conversationId}
          conversation={conversation}
          now={now}
          selected={conversation.conversationId === selectedId}
          draft={drafts.get(conversation.conversationId) ?? ''}
          online={conversation.peerUserId !== undefined && presence.has(conversation.peerUserId)}
          typing={typing.has(conversation.conversationId)}
          onSelect={onSelect}
        />
      ))}
    </ul>
  );
}

function useFiltered(conversations: readonly Conversation[], filter: string): readonly Conversation[] {
  const speech = useSpeech();
  const wanted = filter.trim().toLocaleLowerCase();
  // Without a filter no title is needed here, and no name.
  const peers = wanted === '' ? [] : conversations.map(({ peerUserId }) => peerUserId ?? '').filter((id) => id !== '');
  const nameOf = useNames(peers);
  if (wanted === '') return conversations;
  return conversations.filter((one) =>
    titleOf(one, { ...speech, nameOf })
      .toLocaleLowerCase()
      .includes(wanted),
  );
}

function LoadMore({ load }: { readonly load: () => Promise<void> }): ReactElement {
  const { say } = useSpeech();
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
      {state === 'failed' && <p className="mb-2 text-sm text-danger">{say('list.moreFailed')}</p>}
      <button type="button" className="button button-quiet" disabled={state === 'busy'} onClick={onClick}>
        {say(state === 'busy' ? 'act.loading' : 'act.showMore')}
      </button>
    </div>
  );
}

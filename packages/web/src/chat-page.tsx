import { type ReactElement, useCallback, useState } from 'react';
import { Avatar } from './avatar.js';
import { useClient } from './client-context.js';
import { ConnectionLine } from './connection-line.js';
import { ConversationList } from './conversation-list.js';
import { ConversationPane } from './conversation-pane.js';
import { DraftPane } from './draft-pane.js';
import { NewChatDialog } from './new-chat-dialog.js';
import { Notice } from './notice.js';
import { useSelection } from './selection.js';

/** Two panes on a wide screen, one at a time on a phone. */
export function ChatPage({ onSignOut }: { readonly onSignOut: () => void }): ReactElement {
  const { client, userId } = useClient();
  const [selection, select] = useSelection();
  const [isNewChatOpen, setIsNewChatOpen] = useState(false);
  const onSelect = useCallback((conversationId: string) => select({ kind: 'conversation', conversationId }), [select]);
  const onClose = useCallback(() => select({ kind: 'none' }), [select]);

  function startDirect(toUserId: string): void {
    const { conversations } = client.conversations.snapshot();
    const held = conversations.find(({ kind, peerUserId }) => kind === 'direct' && peerUserId === toUserId);
    if (held === undefined) select({ kind: 'draft', toUserId });
    else onSelect(held.conversationId);
  }

  const isOpen = selection.kind !== 'none';
  return (
    <div className="flex h-full flex-col">
      <ConnectionLine onSignOut={onSignOut} />
      <div className="flex min-h-0 flex-1">
        <section
          aria-label="Your conversations"
          className={`w-full flex-col border-line bg-pane md:flex md:border-r md:w-80 lg:w-96 ${isOpen ? 'hidden' : 'flex'}`}
        >
          <header className="flex h-16 shrink-0 items-center gap-2 border-b border-line px-4">
            <Avatar name={userId} small />
            <span className="min-w-0 flex-1 truncate font-medium" data-testid="me">
              {userId}
            </span>
            <button type="button" className="button button-main" onClick={() => setIsNewChatOpen(true)}>
              New chat
            </button>
            <button type="button" className="button button-quiet" onClick={onSignOut}>
              Log out
            </button>
          </header>
          <ConversationList
            selectedId={selection.kind === 'conversation' ? selection.conversationId : undefined}
            onSelect={onSelect}
            onNewChat={() => setIsNewChatOpen(true)}
          />
        </section>
        <main className={`min-w-0 flex-1 flex-col md:flex ${isOpen ? 'flex' : 'hidden'}`}>
          {selection.kind === 'conversation' && (
            <ConversationPane key={selection.conversationId} conversationId={selection.conversationId} onClose={onClose} />
          )}
          {selection.kind === 'draft' && (
            <DraftPane key={selection.toUserId} toUserId={selection.toUserId} onClose={onClose} onStarted={onSelect} />
          )}
          {selection.kind === 'none' && (
            <div className="m-auto">
              <Notice>Choose a conversation, or start one.</Notice>
            </div>
          )}
        </main>
      </div>
      {isNewChatOpen && <NewChatDialog onClose={() => setIsNewChatOpen(false)} onDirect={startDirect} onGroup={onSelect} />}
    </div>
  );
}

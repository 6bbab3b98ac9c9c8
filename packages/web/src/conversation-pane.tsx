import type { Conversation, Message } from '@qim/client';
import { type ReactElement, useState } from 'react';
import { useClient, useObservable } from './client-context.js';
import { EditBox } from './edit-box.js';
import { MembersDialog } from './members-dialog.js';
import { MessageList } from './message-list.js';
import { Notice } from './notice.js';
import { PaneHeader } from './pane-header.js';
import { RecallDialog } from './recall-dialog.js';
import { SendBox } from './send-box.js';
import { errorText, titleOf } from './texts.js';
import { useConversation } from './use-conversation.js';

interface ConversationPaneProps {
  readonly conversationId: string;
  readonly onClose: () => void;
}

/** Give it the conversation's id as key: what is being edited belongs to one conversation. */
export function ConversationPane({ conversationId, onClose }: ConversationPaneProps): ReactElement {
  const open = useConversation(conversationId);
  const { client, userId } = useClient();
  const snapshot = useObservable(open);
  const { conversations } = useObservable(client.conversations);
  const entry = conversations.find((one) => one.conversationId === conversationId);
  const [editing, setEditing] = useState<Message | null>(null);
  const [recalling, setRecalling] = useState<Message | null>(null);
  const [isMembersOpen, setIsMembersOpen] = useState(false);

  function send(text: string): void {
    const newest = snapshot.messages.at(-1)?.conversationSeq ?? 0;
    // A failure shows beside the message, where it can be sent again.
    client.sendMessage({ target: { conversationId }, content: text, readConversationSeq: newest }).catch(() => {});
  }

  const isRemoved = snapshot.status === 'removed';
  return (
    <>
      <PaneHeader
        title={entry === undefined ? '…' : titleOf(entry, userId)}
        group={entry?.kind === 'group'}
        {...noteOf(entry)}
        onClose={onClose}
      >
        {entry?.kind === 'group' && !isRemoved && (
          <button type="button" className="button button-quiet" onClick={() => setIsMembersOpen(true)}>
            Members
          </button>
        )}
      </PaneHeader>
      {snapshot.status === 'error' && (
        <div
          role="alert"
          className="flex items-center justify-between gap-4 border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn sm:px-6"
        >
          {errorText(snapshot.error)}
          <button type="button" className="shrink-0 font-medium underline" onClick={open.retry}>
            Try again
          </button>
        </div>
      )}
      {isRemoved ? (
        <div className="m-auto">
          <Notice action="Back to the conversations" onAction={onClose}>
            You are not a member of this conversation any more.
          </Notice>
        </div>
      ) : (
        <MessageList open={open} snapshot={snapshot} onEdit={setEditing} onRecall={setRecalling} isGroup={entry?.kind === 'group'} />
      )}
      {!isRemoved &&
        (editing === null ? (
          <SendBox onSend={send} />
        ) : (
          <EditBox key={editing.messageId} message={editing} onDone={() => setEditing(null)} />
        ))}
      {recalling !== null && <RecallDialog message={recalling} onClose={() => setRecalling(null)} />}
      {isMembersOpen && entry !== undefined && <MembersDialog conversation={entry} onClose={() => setIsMembersOpen(false)} />}
    </>
  );
}

function noteOf(entry: Conversation | undefined): { readonly note?: string } {
  if (entry?.damaged !== undefined) return { note: 'Stored data is damaged' };
  return entry?.kind === 'group' ? { note: `Group · you are ${entry.role === 'member' ? 'a member' : `its ${entry.role}`}` } : {};
}

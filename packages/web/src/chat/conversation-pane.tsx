import type { Conversation } from '@qim/client';
import { type ShownConversation, useConversation, useConversations, useQim } from '@qim/client/react';
import { DoorClosed } from 'lucide-react';
import { type ReactElement, useCallback, useState } from 'react';
import { Composer } from '../compose/composer.js';
import type { Written } from '../compose/written.js';
import { PersonDialog } from '../groups/person-dialog.js';
import { Notice } from '../shared/notice.js';
import { useSay } from '../shared/use-speech.js';
import { type Act, ActContext } from './acts.js';
import { Announcer } from './announcer.js';
import { ConversationHeader, RemovedHeader } from './conversation-header.js';
import { MessageDialog } from './message-dialogs.js';
import { MessageList } from './message-list.js';
import { NoMessages, PaneTrouble } from './pane-states.js';
import { ReadByOthers } from './read-by.js';
import { TypingLine } from './typing-line.js';

interface ConversationPaneProps {
  readonly conversationId: string;
  readonly onClose: () => void;
  readonly onDirect: (userId: string) => void;
}

/** Give it the conversation's id as key: what is being written belongs to one conversation. */
export function ConversationPane({ conversationId, onClose, onDirect }: ConversationPaneProps): ReactElement {
  const open = useConversation(conversationId);
  const say = useSay();
  const { conversations } = useConversations();
  const entry = conversations.find((one) => one.conversationId === conversationId);
  // For the header of one who was removed: nothing else of it is shown then.
  const [known, setKnown] = useState(entry);
  if (entry !== undefined && entry.title !== known?.title) setKnown(entry);
  const [act, setAct] = useState<Act | null>(null);
  const endAct = useCallback(() => setAct(null), []);
  if (open.status === 'removed') {
    return (
      <>
        <RemovedHeader conversationId={conversationId} known={known} onClose={onClose} />
        <div className="m-auto">
          <Notice icon={DoorClosed} title={say('state.removed')} action={say('act.back')} onAction={onClose}>
            {say('state.removedNote')}
          </Notice>
        </div>
      </>
    );
  }
  const sought = act?.kind === 'seek' ? act : null;
  return (
    <ActContext value={setAct}>
      <ConversationHeader conversationId={conversationId} entry={entry} onClose={onClose} onDirect={onDirect} />
      <PaneTrouble open={open} entry={entry} />
      {hasShape(open) ? (
        <ReadByOthers conversationId={conversationId}>
          <MessageList open={open} entry={entry} sought={sought} />
        </ReadByOthers>
      ) : (
        <NoMessages status={open.status} damaged={entry?.damaged !== undefined} />
      )}
      <Announcer messages={open.messages} past={open.hasNewer} />
      <TypingLine conversationId={conversationId} />
      <WriteBox open={open} entry={entry} act={act} onDone={endAct} />
      {act !== null && <MessageDialog act={act} onClose={endAct} />}
      {act?.kind === 'person' && <PersonDialog userId={act.userId} onClose={endAct} onDirect={onDirect} />}
    </ActContext>
  );
}

function hasShape({ messages, outgoing, status }: ShownConversation): boolean {
  return messages.length > 0 || (outgoing.length > 0 && status !== 'loading');
}

interface WriteBoxProps {
  readonly open: ShownConversation;
  readonly entry: Conversation | undefined;
  readonly act: Act | null;
  readonly onDone: () => void;
}

function WriteBox({ open, entry, act, onDone }: WriteBoxProps): ReactElement {
  const client = useQim();
  const say = useSay();
  const { conversationId } = open;
  const send = useCallback(
    ({ text, ...mentions }: Written) => {
      const readConversationSeq = open.messages.at(-1)?.conversationSeq ?? 0;
      const replyTo = act?.kind === 'reply' ? { replyTo: act.message } : {};
      // A failure shows beside the message, where it can be sent again.
      client.sendMessage({ target: { conversationId }, content: text, readConversationSeq, ...replyTo, ...mentions }).catch(() => {});
    },
    [client, conversationId, open.messages, act],
  );
  if (entry?.settings.onlyAdminsPost === true && entry.role === 'member') {
    return <p className="border-t border-line bg-pane p-4 text-center text-sm text-muted">{say('compose.onlyAdmins')}</p>;
  }
  const target = act?.kind === 'reply' || act?.kind === 'edit' ? act : null;
  return (
    <Composer
      key={target?.kind === 'edit' ? target.message.messageId : ''}
      open={open}
      isGroup={entry?.kind === 'group'}
      act={target}
      onSend={send}
      onDone={onDone}
    />
  );
}

import { type ReactElement, useState } from 'react';
import { useClient } from './client-context.js';
import { Notice } from './notice.js';
import { PaneHeader } from './pane-header.js';
import { SendBox } from './send-box.js';
import { errorText } from './texts.js';

interface DraftPaneProps {
  readonly toUserId: string;
  readonly onClose: () => void;
  readonly onStarted: (conversationId: string) => void;
}

/** A direct conversation before its first message, which makes it. */
export function DraftPane({ toUserId, onClose, onStarted }: DraftPaneProps): ReactElement {
  const { client } = useClient();
  const [isSending, setIsSending] = useState(false);
  const [failure, setFailure] = useState<{ readonly text: string; readonly why: string } | null>(null);

  async function send(text: string): Promise<void> {
    setIsSending(true);
    setFailure(null);
    try {
      const { message } = await client.sendMessage({ target: { toUserId }, content: text });
      onStarted(message.conversationId);
    } catch (error) {
      setFailure({ text, why: errorText(error) });
      setIsSending(false);
    }
  }

  return (
    <>
      <PaneHeader title={toUserId} note="New conversation" onClose={onClose} />
      <div className="min-h-0 flex-1 content-center">
        {failure === null ? (
          <Notice>{isSending ? 'Sending…' : `Write ${toUserId} a first message.`}</Notice>
        ) : (
          <Notice action="Send again" onAction={() => void send(failure.text)}>
            “{failure.text}” was not sent. {failure.why}
          </Notice>
        )}
      </div>
      <SendBox onSend={(text) => void send(text)} disabled={isSending} />
    </>
  );
}

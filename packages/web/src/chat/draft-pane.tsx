import { useQim } from '@qim/client/react';
import { CircleAlert, MessageCircle } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { PlainComposer } from '../compose/plain-composer.js';
import { Avatar } from '../shared/avatar.js';
import { Notice } from '../shared/notice.js';
import { whoText } from '../shared/texts.js';
import { useErrorText, useSpeech } from '../shared/use-speech.js';
import { PaneHeader } from './pane-header.js';

interface DraftPaneProps {
  readonly toUserId: string;
  readonly onClose: () => void;
  readonly onStarted: (conversationId: string) => void;
}

/** A direct conversation before its first message, which makes it. */
export function DraftPane({ toUserId, onClose, onStarted }: DraftPaneProps): ReactElement {
  const client = useQim();
  const speech = useSpeech([toUserId]);
  const { say } = speech;
  const errorText = useErrorText();
  const [isSending, setIsSending] = useState(false);
  const [failure, setFailure] = useState<{ readonly text: string; readonly error: unknown } | null>(null);
  const who = whoText(toUserId, speech);

  async function send(text: string): Promise<void> {
    setIsSending(true);
    setFailure(null);
    try {
      const { message } = await client.sendMessage({ target: { toUserId }, content: text });
      onStarted(message.conversationId);
    } catch (error) {
      setFailure({ text, error });
      setIsSending(false);
    }
  }

  return (
    <>
      <PaneHeader
        avatar={<Avatar id={toUserId} name={who} size="medium" />}
        title={who}
        note={say('compose.draftNote')}
        onClose={onClose}
      />
      <div className="min-h-0 flex-1 content-center">
        {failure === null ? (
          <Notice icon={MessageCircle} title={isSending ? say('message.sending') : say('compose.recipients', { who })} />
        ) : (
          <Notice
            icon={CircleAlert}
            title={say('message.notSent', { why: errorText(failure.error) })}
            action={say('message.sendAgain')}
            onAction={() => void send(failure.text)}
          >
            “{failure.text}”
          </Notice>
        )}
      </div>
      <PlainComposer onSend={(text) => void send(text)} disabled={isSending} />
    </>
  );
}

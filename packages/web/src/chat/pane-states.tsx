import type { Conversation, ConversationSnapshot } from '@qim/client';
import type { ShownConversation } from '@qim/client/react';
import { FileWarning, MessageCircle, TriangleAlert } from 'lucide-react';
import type { ReactElement } from 'react';
import { Notice } from '../shared/notice.js';
import { damageText } from '../shared/texts.js';
import { useErrorText, useSay } from '../shared/use-speech.js';

/** What is wrong with a conversation that can be read in part, or could not be read just now. */
export function PaneTrouble({
  open,
  entry,
}: {
  readonly open: ShownConversation;
  readonly entry: Conversation | undefined;
}): ReactElement | null {
  const say = useSay();
  const errorText = useErrorText();
  const damage = entry?.damaged ?? entry?.previewDamaged;
  if (open.status !== 'error' && damage === undefined) return null;
  return (
    <div role="alert" className="flex items-start gap-3 border-b border-line bg-warn-soft px-4 py-2.5 text-sm text-warn sm:px-6">
      <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 flex-1">
        {damage === undefined ? errorText(open.error) : damageText(damage, say)}
        {damage !== undefined && <p className="mt-0.5">{say('damage.what')}</p>}
      </div>
      {open.status === 'error' && (
        <button type="button" className="shrink-0 font-medium underline" onClick={open.retry}>
          {say('act.tryAgain')}
        </button>
      )}
    </div>
  );
}

const BUBBLES = ['w-48', 'w-64 self-end', 'w-40', 'w-56', 'w-52 self-end'] as const;

interface NoMessagesProps {
  readonly status: ConversationSnapshot['status'];
  /** Why they cannot be read is that they are damaged. */
  readonly damaged: boolean;
}

export function NoMessages({ status, damaged }: NoMessagesProps): ReactElement {
  const say = useSay();
  if (status === 'loading') {
    return (
      <div
        role="status"
        aria-label={say('message.loading')}
        className="flex flex-1 animate-pulse flex-col justify-end gap-3 px-4 motion-reduce:animate-none sm:px-6"
      >
        {BUBBLES.map((shape) => (
          <span key={shape} className={`h-10 rounded-2xl bg-raised ${shape}`} />
        ))}
      </div>
    );
  }
  return (
    <div className="min-h-0 flex-1 content-center">
      {status === 'ready' && <Notice icon={MessageCircle} title={say('message.empty')} />}
      {status === 'error' && (
        <Notice icon={FileWarning} title={say('state.unreadable')}>
          {damaged && say('state.unreadableNote')}
        </Notice>
      )}
    </div>
  );
}

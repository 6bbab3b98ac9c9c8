import { Pencil, Reply, X } from 'lucide-react';
import type { ReactElement } from 'react';
import { IconButton } from '../shared/icon-button.js';
import { messageText, whoText } from '../shared/texts.js';
import { useSpeech } from '../shared/use-speech.js';
import type { ComposeAct } from './compose-act.js';

/** Above the field: what is replied to, or edited. */
export function ComposeBar({ act, onEnd }: { readonly act: ComposeAct; readonly onEnd: () => void }): ReactElement {
  const { kind, message } = act;
  const speech = useSpeech([message.senderUserId]);
  const { say } = speech;
  const Icon = kind === 'edit' ? Pencil : Reply;
  return (
    <div className="mb-2 flex items-center gap-3 rounded-lg bg-raised px-3 py-1.5" data-testid="compose-bar">
      <Icon aria-hidden="true" className="size-4 shrink-0 text-accent" />
      <p className="min-w-0 flex-1 text-sm">
        <span className="block font-medium text-accent">
          {kind === 'edit' ? say('compose.editing') : say('compose.replying', { who: whoText(message.senderUserId, speech) })}
        </span>
        <span className="block truncate text-muted">{messageText(message, speech)}</span>
      </p>
      <IconButton icon={X} label={say('act.cancel')} small onClick={onEnd} />
    </div>
  );
}

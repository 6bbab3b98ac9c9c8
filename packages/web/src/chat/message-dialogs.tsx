import { useQim } from '@qim/client/react';
import { type ReactElement, useState } from 'react';
import { ConfirmDialog } from '../shared/confirm-dialog.js';
import { useTell } from '../shared/tell.js';
import { messageText } from '../shared/texts.js';
import { useSpeech } from '../shared/use-speech.js';
import type { Act } from './acts.js';

/** What is asked before something is done to a message for good; nothing for acts that ask nothing. */
export function MessageDialog({ act, onClose }: { readonly act: Act; readonly onClose: () => void }): ReactElement | null {
  const client = useQim();
  const speech = useSpeech();
  const { word } = useTell();
  const [comment, setComment] = useState('');
  if (act.kind !== 'recall' && act.kind !== 'delete' && act.kind !== 'report') return null;
  const { say } = speech;
  const { kind, message } = act;
  async function run(): Promise<void> {
    if (kind === 'recall') await client.recallMessage(message);
    else if (kind === 'delete') await client.deleteMessage(message);
    else {
      await client.reportMessage({ ...message, comment: comment.trim() });
      word(say('report.done'));
    }
  }
  return (
    <ConfirmDialog title={say(`${kind}.title`)} text={say(`${kind}.text`)} action={say(`${kind}.action`)} run={run} onClose={onClose}>
      <blockquote className="mt-3 line-clamp-3 rounded-md border-l-3 border-line bg-raised px-3 py-2 text-sm break-words">
        {messageText(message, speech)}
      </blockquote>
      {kind === 'report' && (
        <label className="mt-3 block">
          <span className="mb-1 block text-sm font-medium">{say('report.comment')}</span>
          <textarea className="field" rows={2} value={comment} onChange={(event) => setComment(event.target.value)} />
        </label>
      )}
    </ConfirmDialog>
  );
}

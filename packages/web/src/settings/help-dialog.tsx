import type { ReactElement } from 'react';
import { Dialog } from '../shared/dialog.js';
import { useSay } from '../shared/use-speech.js';

const KEYS = [
  { keys: ['/', 'Ctrl K'], sentence: 'help.find' },
  { keys: ['N'], sentence: 'help.new' },
  { keys: ['Alt ↑', 'Alt ↓'], sentence: 'help.move' },
  { keys: ['I'], sentence: 'help.write' },
  { keys: ['Enter'], sentence: 'help.send' },
  { keys: ['↑'], sentence: 'help.edit' },
  { keys: ['↑', '↓'], sentence: 'help.messages' },
  { keys: ['Enter'], sentence: 'help.actions' },
  { keys: ['Esc'], sentence: 'help.escape' },
  { keys: ['?'], sentence: 'help.this' },
] as const;

export function HelpDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const say = useSay();
  return (
    <Dialog title={say('help.title')} onClose={onClose}>
      <dl className="space-y-2">
        {KEYS.map(({ keys, sentence }) => (
          <div key={sentence} className="flex items-center justify-between gap-4 text-sm">
            <dt>{say(sentence)}</dt>
            <dd className="flex shrink-0 gap-1">
              {keys.map((key) => (
                <kbd key={key} className="rounded-md border border-line bg-raised px-1.5 py-0.5 font-sans text-xs">
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

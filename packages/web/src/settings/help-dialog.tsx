import type { ReactElement } from 'react';
import { Dialog } from '../shared/dialog.js';
import { useSay } from '../shared/use-speech.js';

/** The same key means something else elsewhere: so they are told by where one is. */
const PLACES = [
  {
    place: 'help.anywhere',
    rows: [
      { keys: ['/', 'Ctrl K'], sentence: 'help.find' },
      { keys: ['N'], sentence: 'help.new' },
      { keys: ['Alt ↑', 'Alt ↓'], sentence: 'help.move' },
      { keys: ['I'], sentence: 'help.write' },
      { keys: ['Esc'], sentence: 'help.escape' },
      { keys: ['?'], sentence: 'help.this' },
    ],
  },
  {
    place: 'help.writing',
    rows: [
      { keys: ['Enter'], sentence: 'help.send' },
      { keys: ['↑'], sentence: 'help.edit' },
    ],
  },
  {
    place: 'help.reading',
    rows: [
      { keys: ['↑', '↓'], sentence: 'help.messages' },
      { keys: ['Enter'], sentence: 'help.actions' },
    ],
  },
] as const;

export function HelpDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const say = useSay();
  return (
    <Dialog title={say('help.title')} onClose={onClose}>
      {PLACES.map(({ place, rows }) => (
        <section key={place} className="not-first:mt-4">
          <h3 className="mb-2 text-sm font-semibold text-muted">{say(place)}</h3>
          <dl className="space-y-2">
            {rows.map(({ keys, sentence }) => (
              <div key={sentence} className="flex items-center justify-between gap-4 text-sm">
                <dt>{say(sentence)}</dt>
                <dd className="flex shrink-0 gap-1">
                  {keys.map((key) => (
                    <kbd key={key} className="min-w-6 rounded-md border border-line bg-raised px-1.5 py-0.5 text-center font-sans text-xs">
                      {key}
                    </kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}

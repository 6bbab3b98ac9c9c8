import { type ReactElement, useRef, useState } from 'react';
import { useFocusAtFirst } from './use-focus.js';
import { WriteField } from './write-field.js';

interface PlainComposerProps {
  readonly disabled: boolean;
  readonly onSend: (text: string) => void;
}

/** For a first message: nobody to mention yet, and nothing to reply to. */
export function PlainComposer({ disabled, onSend }: PlainComposerProps): ReactElement {
  const [text, setText] = useState('');
  const box = useRef<HTMLTextAreaElement>(null);
  useFocusAtFirst(box);
  function submit(): void {
    if (text.trim() === '' || disabled) return;
    onSend(text.trim());
    setText('');
  }
  return (
    <div className="shrink-0 border-t border-line bg-pane p-2 sm:px-4">
      <WriteField box={box} text={text} onText={setText} onSubmit={submit} disabled={disabled} />
    </div>
  );
}

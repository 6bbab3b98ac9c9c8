import { type KeyboardEvent, type ReactElement, useEffect, useRef, useState } from 'react';
import { fitHeight, isPlainEnter, submitting } from './writing.js';

interface SendBoxProps {
  readonly onSend: (text: string) => void;
  readonly disabled?: boolean;
}

/** Enter sends, Shift+Enter begins a new line. */
export function SendBox({ onSend, disabled = false }: SendBoxProps): ReactElement {
  const [text, setText] = useState('');
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // On a phone that would bring up the keyboard over what one came to read.
    if (matchMedia('(hover: hover)').matches) box.current?.focus();
  }, []);
  useEffect(() => fitHeight(box.current, text), [text]);

  function submit(): void {
    if (text.trim() === '' || disabled) return;
    onSend(text.trim());
    setText('');
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (!isPlainEnter(event)) return;
    event.preventDefault();
    submit();
  }

  return (
    <form onSubmit={submitting(submit)} className="flex shrink-0 items-end gap-2 border-t border-line bg-pane p-3">
      <textarea
        ref={box}
        rows={1}
        aria-label="Message"
        placeholder="Write a message"
        className="field max-h-40 resize-none"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="submit" className="button button-main" disabled={disabled || text.trim() === ''}>
        Send
      </button>
    </form>
  );
}

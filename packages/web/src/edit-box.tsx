import type { Message } from '@qim/client';
import { type KeyboardEvent, type ReactElement, useEffect, useRef, useState } from 'react';
import { useClient } from './client-context.js';
import { errorText } from './texts.js';
import { fitHeight, isPlainEnter, submitting } from './writing.js';

/** Stands in the send box's place while a message is edited. Enter saves, Escape leaves it as it was. */
export function EditBox({ message, onDone }: { readonly message: Message; readonly onDone: () => void }): ReactElement {
  const { client } = useClient();
  const [text, setText] = useState(message.content.kind === 'text' ? message.content.text : '');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    box.current?.focus();
    box.current?.setSelectionRange(box.current.value.length, box.current.value.length);
  }, []);
  useEffect(() => fitHeight(box.current, text), [text]);

  async function save(): Promise<void> {
    if (text.trim() === '' || busy) return;
    setBusy(true);
    try {
      const { mentionUserIds, mentionAll } = message;
      await client.editMessage({ ...message, content: text.trim(), mentionUserIds, mentionAll });
      onDone();
    } catch (error) {
      setProblem(errorText(error));
      setBusy(false);
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Escape') onDone();
    if (!isPlainEnter(event)) return;
    event.preventDefault();
    void save();
  }

  return (
    <form onSubmit={submitting(() => void save())} className="shrink-0 border-t border-line bg-pane p-3">
      <p className="mb-1 text-sm text-muted" role="status">
        {problem === '' ? 'Editing your message. Escape leaves it as it was.' : problem}
      </p>
      <div className="flex items-end gap-2">
        <textarea
          ref={box}
          rows={1}
          aria-label="Edited message"
          className="field max-h-40 resize-none"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <button type="button" className="button button-quiet" onClick={onDone}>
          Cancel
        </button>
        <button type="submit" className="button button-main" disabled={busy || text.trim() === ''}>
          Save
        </button>
      </div>
    </form>
  );
}

import { SendHorizontal, Smile } from 'lucide-react';
import { type KeyboardEvent, type ReactElement, type RefObject, useEffect } from 'react';
import { IconButton } from '../shared/icon-button.js';
import { useSay } from '../shared/use-speech.js';
import { fitHeight, isPlainEnter, submitting } from '../shared/writing.js';
import { EmojiButton } from './emoji-button.js';

export interface WriteFieldProps {
  readonly box: RefObject<HTMLTextAreaElement | null>;
  readonly text: string;
  /** `caret`: where the next letter goes. */
  readonly onText: (text: string, caret: number) => void;
  readonly onSubmit: () => void;
  /** Keys before the field's own; one that it has used, it has prevented. */
  readonly onKey?: (event: KeyboardEvent<HTMLTextAreaElement>) => void;
  readonly disabled?: boolean;
  /** What says that suggestions are open, for those who hear the field. */
  readonly suggestionsId?: string | undefined;
}

/** Enter sends, Shift+Enter begins a new line. */
export function WriteField({ box, text, onText, onSubmit, onKey, disabled = false, suggestionsId }: WriteFieldProps): ReactElement {
  const say = useSay();
  useEffect(() => fitHeight(box.current, text), [box, text]);
  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>): void {
    onKey?.(event);
    if (event.defaultPrevented || !isPlainEnter(event)) return;
    event.preventDefault();
    onSubmit();
  }
  function insert(piece: string): void {
    const element = box.current;
    const [from, to] = [element?.selectionStart ?? text.length, element?.selectionEnd ?? text.length];
    onText(text.slice(0, from) + piece + text.slice(to), from + piece.length);
    element?.focus();
  }
  return (
    <form onSubmit={submitting(onSubmit)} className="flex items-end gap-1">
      <EmojiButton icon={Smile} label={say('compose.emoji')} onEmoji={insert} />
      <textarea
        ref={box}
        rows={1}
        aria-label={say('message.input')}
        placeholder={say('compose.placeholder')}
        aria-controls={suggestionsId}
        data-compose=""
        className="field max-h-40 resize-none rounded-2xl px-4 focus-visible:outline-none"
        value={text}
        onChange={(event) => onText(event.target.value, event.target.selectionStart)}
        onKeyDown={onKeyDown}
      />
      <IconButton
        icon={SendHorizontal}
        label={say('compose.send')}
        type="submit"
        disabled={disabled || text.trim() === ''}
        className="enabled:text-accent"
      />
    </form>
  );
}

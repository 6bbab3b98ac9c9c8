import type { Message } from '@qim/client';
import { type ShownConversation, useQim } from '@qim/client/react';
import { type KeyboardEvent, type ReactElement, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useAct } from '../chat/acts.js';
import { useMe } from '../shared/me.js';
import { useTell } from '../shared/tell.js';
import type { ComposeAct } from './compose-act.js';
import { ComposeBar } from './compose-bar.js';
import { useDrafts } from './use-drafts.js';
import { useFocusAtFirst } from './use-focus.js';
import { useMentions } from './use-mentions.js';
import { WriteField } from './write-field.js';
import type { Written } from './written.js';

interface ComposerProps {
  readonly open: ShownConversation;
  readonly isGroup: boolean;
  /** What the writing is about; null: nothing but itself. */
  readonly act: ComposeAct | null;
  readonly onSend: (written: Written) => void;
  readonly onDone: () => void;
}

/** Where one writes. What is half written is kept for each conversation; an edit is kept nowhere. */
export function Composer({ open, isGroup, act, onSend, onDone }: ComposerProps): ReactElement {
  const { conversationId } = open;
  const box = useRef<HTMLTextAreaElement>(null);
  const edited = act?.kind === 'edit' ? act.message : null;
  const { text, change } = useText(conversationId, edited, box);
  const setTyping = (on: boolean): void => open.setTyping(on);
  const mentions = useMentions({ conversationId, isGroup, text, initial: namedBefore(edited), setText: change });
  const save = useEdit(edited, onDone);
  const onEditLast = useEditLast(open.messages);
  useFocusAtFirst(box);
  useEffect(() => {
    if (act !== null) box.current?.focus();
  }, [act]);

  function submit(): void {
    const written = { text: text.trim(), ...mentions.namedIn(text) };
    if (written.text === '') return;
    if (edited !== null) {
      save(written);
      return;
    }
    onSend(written);
    change('', 0);
    setTyping(false);
    onDone();
  }

  function onKey(event: KeyboardEvent<HTMLTextAreaElement>): void {
    mentions.onKey(event);
    if (event.defaultPrevented) return;
    if (event.key === 'Escape' && act !== null) {
      event.stopPropagation();
      onDone();
    } else if (event.key === 'ArrowUp' && text === '' && act === null) {
      event.preventDefault();
      onEditLast();
    }
  }

  return (
    <div className="relative shrink-0 border-t border-line bg-pane p-2 sm:px-4">
      {mentions.list}
      {act !== null && <ComposeBar act={act} onEnd={onDone} />}
      <WriteField
        box={box}
        text={text}
        onText={(written, caret) => {
          change(written, caret);
          mentions.onText(written, caret);
          if (edited === null) setTyping(written !== '');
        }}
        onSubmit={submit}
        onKey={onKey}
        suggestionsId={mentions.listId}
      />
    </div>
  );
}

function namedBefore(edited: Message | null) {
  return (edited?.mentionUserIds ?? []).map((userId) => ({ userId, name: userId }));
}

/** The draft of the conversation, or the text of what is edited. */
function useText(conversationId: string, edited: Message | null, box: { readonly current: HTMLTextAreaElement | null }) {
  const drafts = useDrafts();
  const [text, setText] = useState(() => {
    if (edited === null) return drafts.snapshot().get(conversationId) ?? '';
    return edited.content.kind === 'text' ? edited.content.text : '';
  });
  const caret = useRef<number>(null);
  useLayoutEffect(() => {
    const at = caret.current;
    caret.current = null;
    if (at !== null && box.current?.value === text && box.current.selectionStart !== at) box.current.setSelectionRange(at, at);
  }, [text, box]);
  function change(written: string, at: number): void {
    caret.current = at;
    setText(written);
    if (edited === null) drafts.set(conversationId, written);
  }
  return { text, change };
}

function useEdit(edited: Message | null, onDone: () => void): (written: Written) => void {
  const client = useQim();
  const { trying } = useTell();
  return ({ text, ...mentions }) => {
    if (edited === null) return;
    trying(async () => {
      await client.editMessage({ ...edited, content: text, ...mentions });
      onDone();
    });
  };
}

/** Begins to edit one's own newest message that has a text. */
function useEditLast(messages: readonly Message[]): () => void {
  const act = useAct();
  const userId = useMe();
  return () => {
    const message = messages.findLast((one) => one.senderUserId === userId && one.content.kind === 'text');
    if (message !== undefined) act({ kind: 'edit', message });
  };
}

import { useMembers } from '@qim/client/react';
import { type KeyboardEvent, type ReactElement, useId, useMemo, useState } from 'react';
import { useSpeech } from '../shared/use-speech.js';
import { MentionList } from './mention-list.js';
import { type Asked, askedAt, type Candidate, candidatesFor, namedIn, withName } from './mentions.js';

/** Suggestions that fit above a phone's keyboard. */
const SHOWN_MAX = 6;

export interface Mentions {
  /** Null: nothing is asked for. */
  readonly list: ReactElement | null;
  readonly listId: string | undefined;
  readonly onText: (text: string, caret: number) => void;
  readonly onKey: (event: KeyboardEvent<HTMLTextAreaElement>) => void;
  readonly namedIn: (text: string) => { readonly mentionUserIds: string[]; readonly mentionAll: boolean };
}

interface MentionsOptions {
  readonly conversationId: string;
  readonly isGroup: boolean;
  readonly text: string;
  /** Those whom an edited message names already. */
  readonly initial: readonly Candidate[];
  readonly setText: (text: string, caret: number) => void;
}

export function useMentions({ conversationId, isGroup, text, initial, setText }: MentionsOptions): Mentions {
  const people = usePeople(conversationId);
  const [asking, setAsking] = useState<{ readonly asked: Asked; readonly caret: number } | null>(null);
  const [place, setPlace] = useState(0);
  const [chosen, setChosen] = useState<readonly Candidate[]>(initial);
  const id = useId();
  const candidates = asking === null || !isGroup ? [] : candidatesFor(asking.asked.begun, people, SHOWN_MAX);
  const isOpen = candidates.length > 0;
  const at = Math.min(place, candidates.length - 1);

  function pick(candidate: Candidate): void {
    if (asking === null) return;
    const next = withName(text, asking.asked, asking.caret, candidate.name);
    setChosen((before) => [...before, candidate]);
    setAsking(null);
    setText(next.text, next.caret);
  }

  function onKey(event: KeyboardEvent<HTMLTextAreaElement>): void {
    const candidate = candidates[at];
    if (candidate === undefined || event.nativeEvent.isComposing) return;
    const moves = { ArrowDown: 1, ArrowUp: -1 } as const;
    if (event.key === 'Escape') setAsking(null);
    else if (event.key === 'Enter' || event.key === 'Tab') pick(candidate);
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp')
      setPlace((at + moves[event.key] + candidates.length) % candidates.length);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return {
    list: isOpen ? <MentionList id={id} candidates={candidates} chosen={at} onPick={pick} /> : null,
    listId: isOpen ? id : undefined,
    onText: (written, caret) => {
      const asked = askedAt(written, caret);
      setAsking(asked === undefined ? null : { asked, caret });
      setPlace(0);
    },
    onKey,
    namedIn: (written) => namedIn(written, chosen),
  };
}

function usePeople(conversationId: string): readonly Candidate[] {
  const { members } = useMembers(conversationId);
  const ids = useMemo(() => members.map(({ userId }) => userId), [members]);
  const { say, userId, nameOf } = useSpeech(ids);
  return useMemo(() => {
    const others = ids.filter((id) => id !== userId).map((id) => ({ userId: id, name: nameOf(id) }));
    return [...others, { userId: undefined, name: say('compose.all') }];
  }, [ids, userId, nameOf, say]);
}

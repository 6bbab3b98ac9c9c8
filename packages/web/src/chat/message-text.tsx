import type { Message } from '@qim/client';
import { type ReactElement, useMemo } from 'react';
import { piecesOf } from '../shared/rich-text.js';
import { contentText } from '../shared/texts.js';
import { useSpeech } from '../shared/use-speech.js';

/** Characters: a name that is not longer stays on one line. */
const UNBROKEN_MAX = 24;

/** A message's text: links that open elsewhere and tell nobody from where, names that are mentioned, and the rest as it was written. */
export function MessageText({ message }: { readonly message: Message }): ReactElement {
  const { mentionUserIds, mentionAll, content } = message;
  const { say, nameOf } = useSpeech(mentionUserIds);
  const text = contentText(content, say);
  const pieces = useMemo(() => {
    const names = mentionUserIds.flatMap((userId) => [nameOf(userId), userId]);
    return piecesOf(text, mentionAll ? [...names, 'all', say('compose.all')] : names);
  }, [text, mentionUserIds, mentionAll, nameOf, say]);
  return (
    <span data-testid="text" className="break-words whitespace-pre-wrap">
      {pieces.map((piece, at) => {
        const key = `${at}`;
        if (piece.kind === 'text') return <span key={key}>{piece.text}</span>;
        if (piece.kind === 'mention') {
          return (
            <span key={key} className={`font-medium text-accent ${piece.text.length <= UNBROKEN_MAX ? 'whitespace-nowrap' : ''}`}>
              {piece.text}
            </span>
          );
        }
        return (
          <a key={key} href={piece.href} target="_blank" rel="noopener noreferrer nofollow" className="text-accent underline">
            {piece.text}
          </a>
        );
      })}
    </span>
  );
}

import type { Message } from '@qim/client';
import { useQim } from '@qim/client/react';
import type { ReactElement } from 'react';
import { useTell } from '../shared/tell.js';
import { peopleText } from '../shared/texts.js';
import { useSpeech } from '../shared/use-speech.js';

/** Who reacted how. A click sets or takes off one's own. */
export function ReactionChips({ message }: { readonly message: Message }): ReactElement | null {
  const client = useQim();
  const { trying } = useTell();
  const { reactions } = message;
  const speech = useSpeech(reactions.flatMap(({ userIds }) => userIds.slice(0, 3)));
  if (reactions.length === 0) return null;
  return (
    <span className="mt-1 mb-1 flex flex-wrap gap-1">
      {reactions.map(({ emoji, userIds }) => {
        const isOwn = userIds.includes(speech.userId);
        const label = speech.say('message.reaction', { emoji, people: peopleText(userIds, speech) });
        return (
          <button
            key={emoji}
            type="button"
            data-testid="reaction"
            aria-pressed={isOwn}
            title={label}
            onClick={() => trying(() => client.setReaction(message, emoji, !isOwn))}
            className={`flex h-6 items-center gap-1 rounded-full border px-2 text-xs ${isOwn ? 'border-accent bg-chosen' : 'border-line bg-pane hover:bg-hover'}`}
          >
            <span className="font-emoji">{emoji}</span>
            <span className="tabular-nums">{userIds.length}</span>
            <span className="sr-only">{label}</span>
          </button>
        );
      })}
    </span>
  );
}

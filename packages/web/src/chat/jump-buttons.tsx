import { type Conversation, unreadLabel } from '@qim/client';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { useSay } from '../shared/use-speech.js';

interface JumpButtonsProps {
  readonly entry: Conversation | undefined;
  readonly isAtEnd: boolean;
  /** Where what is unread begins, when that is above what shows; undefined: it shows, or there is none. */
  readonly unreadAbove: number | undefined;
  readonly busy: boolean;
  readonly onFirstUnread: () => void;
  readonly onLatest: () => void;
}

/** Over the messages: back to where one stopped reading, and on to the newest. */
export function JumpButtons({ entry, isAtEnd, unreadAbove, busy, onFirstUnread, onLatest }: JumpButtonsProps): ReactElement {
  const say = useSay();
  const [done, setDone] = useState<number>();
  const label = entry === undefined ? '' : (unreadLabel(entry) ?? '');
  const offersUnread = busy || (unreadAbove !== undefined && done !== unreadAbove);
  const latest = label === '' ? say('message.latest') : say('message.latestUnread', { label });
  return (
    <>
      {offersUnread && (
        <button
          type="button"
          className="absolute top-3 left-1/2 flex -translate-x-1/2 items-center gap-2 rounded-full border border-line bg-pane py-1.5 pr-4 pl-3 text-sm font-medium text-accent shadow-md hover:bg-hover"
          disabled={busy}
          onClick={() => {
            setDone(unreadAbove);
            onFirstUnread();
          }}
        >
          <ArrowUp aria-hidden="true" className="size-4" />
          {say(busy ? 'message.seeking' : 'message.firstUnread')}
        </button>
      )}
      {!isAtEnd && (
        <button
          type="button"
          aria-label={latest}
          title={latest}
          onClick={onLatest}
          className="absolute right-4 bottom-3 flex size-10 items-center justify-center rounded-full border border-line bg-pane text-muted shadow-md hover:bg-hover"
        >
          <ArrowDown aria-hidden="true" className="size-5" />
          {label !== '' && (
            <span aria-hidden="true" className="absolute -top-2 rounded-full bg-accent px-1.5 text-xs font-semibold text-on-accent">
              {label}
            </span>
          )}
        </button>
      )}
    </>
  );
}

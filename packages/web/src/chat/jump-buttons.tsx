import { type Conversation, type Message, unreadLabel } from '@qim/client';
import { type ShownConversation, useObservable } from '@qim/client/react';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { useSay } from '../shared/use-speech.js';
import type { Sight } from './sight.js';
import type { UnreadLine } from './use-unread-line.js';

interface JumpButtonsProps {
  readonly entry: Conversation | undefined;
  readonly open: Pick<ShownConversation, 'messages' | 'hasNewer'>;
  readonly sight: Sight;
  /** How the list numbers the first item. */
  readonly firstIndex: number;
  readonly line: UnreadLine;
  readonly busy: boolean;
  readonly onFirstUnread: () => void;
  readonly onLatest: () => void;
}

/** Over the messages: back to where one stopped reading, and on to the newest. */
export function JumpButtons({
  entry,
  open: { messages, hasNewer },
  sight,
  firstIndex,
  line,
  busy,
  onFirstUnread,
  onLatest,
}: JumpButtonsProps): ReactElement {
  const say = useSay();
  const { startIndex, isAtEnd } = useObservable(sight);
  const above = unreadAbove(line, messages, startIndex - firstIndex);
  const [done, setDone] = useState<number>();
  const label = entry === undefined ? '' : (unreadLabel(entry) ?? '');
  const offersUnread = busy || (above !== undefined && done !== above);
  const latest = label === '' ? say('message.latest') : say('message.latestUnread', { label });
  return (
    <>
      {offersUnread && (
        <button
          type="button"
          className="absolute top-3 left-1/2 flex -translate-x-1/2 items-center gap-2 rounded-full border border-line bg-pane py-1.5 pr-4 pl-3 text-sm font-medium text-accent shadow-md hover:bg-hover"
          disabled={busy}
          onClick={() => {
            setDone(above);
            onFirstUnread();
          }}
        >
          <ArrowUp aria-hidden="true" className="size-4" />
          {say(busy ? 'message.seeking' : 'message.firstUnread')}
        </button>
      )}
      {(!isAtEnd || hasNewer) && (
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

/** Whether the unread line is above what shows, or not even held yet; `start`: the place of the first item that shows. */
function unreadAbove({ place, afterSeq }: UnreadLine, messages: readonly Message[], start: number): number | undefined {
  if (afterSeq === undefined) return undefined;
  const isAbove = place === -1 ? (messages[0]?.conversationSeq ?? 0) > afterSeq : place < start;
  return isAbove ? afterSeq : undefined;
}

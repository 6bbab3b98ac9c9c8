import type { Conversation, Message, OutgoingMessage } from '@qim/client';
import { type ShownConversation, useOutbox } from '@qim/client/react';
import { type ReactElement, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Virtuoso, type VirtuosoHandle } from 'react-virtuoso';
import { later } from '../shared/clock.js';
import { useMe } from '../shared/me.js';
import { useSay } from '../shared/use-speech.js';
import { type Item, itemsOf, keyOf, placeAfter } from './items.js';
import { JumpButtons } from './jump-buttons.js';
import { type ListContext, ListItem } from './list-item.js';
import { LIST_PARTS } from './list-parts.js';
import { onRowKey } from './row-keys.js';
import { Sight } from './sight.js';
import { useActive } from './use-active.js';
import { useFirstIndex } from './use-first-index.js';
import { useFollow } from './use-follow.js';
import { useMore } from './use-more.js';
import { useReadMarks, WatchContext } from './use-read-marks.js';
import { useSeek } from './use-seek.js';
import { useStayAtEnd } from './use-stay-at-end.js';
import { useUnreadLine } from './use-unread-line.js';

const FLASH_MS = 1_600;
/** Nearer to the end than this is at the end. */
const AT_END_PX = 80;

export interface MessageListProps {
  readonly open: ShownConversation;
  readonly entry: Conversation | undefined;
  /** The sequence of a message to show; a new object each time it is asked for. */
  readonly sought: { readonly conversationSeq: number } | null;
}

/** Give it a non-empty conversation. Loads what is older as one scrolls up; nothing that is looked at moves. */
export function MessageList({ open, entry, sought }: MessageListProps): ReactElement {
  const say = useSay();
  const userId = useMe();
  const { messages, outgoing, hasNewer, markRead } = open;
  const items = useMemo(() => itemsOf({ messages, outgoing }), [messages, outgoing]);
  const { firstIndex, generation } = useFirstIndex(messages);
  const line = useUnreadLine(entry, open, userId);
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const watch = useReadMarks(scroller, markRead);
  useStayAtEnd(scroller, AT_END_PX);
  const pages = usePages(open);
  const virtuoso = useRef<VirtuosoHandle>(null);
  const [sight] = useState(() => new Sight());
  const takeScroller = useCallback((element: unknown) => setScroller(element instanceof HTMLElement ? element : null), []);
  const active = useActive();
  const { flashId, ...shows } = useShow(virtuoso, messages);
  useFollow({ items, past: hasNewer, generation }, scroller, AT_END_PX, shows.showLatest);
  const { busy, start: soughtPlace, seek, latest } = useSeek(open, shows);
  useSought(sought, seek);
  useOwnInView(useOutbox(), open.conversationId, latest);
  const context = useListContext({ items, firstIndex, messages, line: line.place, entry, flashId, ...active, ...pages });
  return (
    <WatchContext value={watch}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the rows in it */}
      <div className="relative min-h-0 flex-1" onKeyDown={onRowKey}>
        <Virtuoso<Item, ListContext>
          key={generation}
          ref={virtuoso}
          scrollerRef={takeScroller}
          aria-label={say('message.list')}
          data={items}
          context={context}
          firstItemIndex={firstIndex}
          initialTopMostItemIndex={beginAt(soughtPlace ?? (line.place > 0 ? line.place : 'end'))}
          alignToBottom
          atBottomThreshold={AT_END_PX}
          atBottomStateChange={sight.atEnd}
          startReached={pages.older.reached}
          endReached={pages.newer.reached}
          rangeChanged={sight.began}
          increaseViewportBy={{ top: 600, bottom: 300 }}
          computeItemKey={(_, item) => keyOf(item, userId)}
          itemContent={(index, item, given) => <ListItem index={index} item={item} context={given} />}
          components={LIST_PARTS}
          className="h-full -outline-offset-2"
        />
        <JumpButtons
          entry={entry}
          open={open}
          sight={sight}
          firstIndex={firstIndex}
          line={line}
          busy={busy}
          onFirstUnread={() => seek(line.afterSeq ?? 0)}
          onLatest={latest}
        />
      </div>
    </WatchContext>
  );
}

function usePages({ hasOlder, loadOlder, hasNewer, loadNewer }: ShownConversation) {
  return { hasOlder, older: useMore(loadOlder, hasOlder), hasNewer, newer: useMore(loadNewer, hasNewer) };
}

/** Each time it is asked for. */
function useSought(sought: MessageListProps['sought'], seek: (afterSeq: number) => void): void {
  useEffect(() => {
    if (sought !== null) seek(sought.conversationSeq - 1);
  }, [sought, seek]);
}

/** A little below the upper edge, so that one sees that there is more. */
function beginAt(place: number | 'end') {
  return place === 'end' ? ({ index: 'LAST', align: 'end' } as const) : ({ index: place, align: 'start', offset: -80 } as const);
}

/** Scrolls to a place, and lets the message there shine for a moment. */
function useShow(virtuoso: { readonly current: VirtuosoHandle | null }, messages: readonly Message[]) {
  const [flashId, setFlashId] = useState<string>();
  useEffect(() => (flashId === undefined ? undefined : later(FLASH_MS, () => setFlashId(undefined))), [flashId]);
  const show = useCallback(
    (place: number) => {
      virtuoso.current?.scrollToIndex({ index: place, align: 'start', offset: -80 });
      setFlashId(messages[place]?.messageId);
    },
    [virtuoso, messages],
  );
  const showLatest = useCallback(() => virtuoso.current?.scrollToIndex({ index: 'LAST', align: 'end' }), [virtuoso]);
  return { flashId, show, showLatest };
}

/** One's own new message always comes into view. */
function useOwnInView(outbox: readonly OutgoingMessage[], conversationId: string, latest: () => void): void {
  // By the outbox: while a part of the past is shown, the conversation shows none of them.
  const isHere = ({ target }: OutgoingMessage): boolean => 'conversationId' in target && target.conversationId === conversationId;
  const newest = outbox.findLast(isHere)?.clientMessageId;
  useEffect(() => {
    if (newest !== undefined) latest();
  }, [newest, latest]);
}

type ContextInput = Omit<ListContext, 'bySeq' | 'isGroup' | 'isAdmin'> & {
  readonly messages: readonly Message[];
  readonly entry: Conversation | undefined;
};

function useListContext({ messages, entry, ...rest }: ContextInput): ListContext {
  const bySeq = useCallback(
    (conversationSeq: number) => {
      const found = messages[placeAfter(messages, conversationSeq - 1)];
      return found?.conversationSeq === conversationSeq ? found : undefined;
    },
    [messages],
  );
  const isGroup = entry?.kind === 'group';
  return { ...rest, bySeq, isGroup, isAdmin: isGroup && (entry?.role === 'admin' || entry?.role === 'owner') };
}

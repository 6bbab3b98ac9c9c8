import type { Message } from '@qim/client';
import type { ReactElement } from 'react';
import { useMe } from '../shared/me.js';
import { continues, dayBefore, type Item } from './items.js';
import { Beginning, DayLine, UnreadLine } from './lines.js';
import { MessageRow } from './message-row.js';
import { OutgoingRow } from './outgoing-row.js';
import type { Active } from './use-active.js';
import type { More } from './use-more.js';

/** What every item of the list is shown with. */
export interface ListContext extends Active {
  readonly items: readonly Item[];
  /** The list's own number of the first item. */
  readonly firstIndex: number;
  /** The place of the first unread one; -1: none. */
  readonly line: number;
  readonly bySeq: (conversationSeq: number) => Message | undefined;
  readonly isGroup: boolean;
  readonly isAdmin: boolean;
  readonly flashId: string | undefined;
  readonly older: More;
  readonly hasOlder: boolean;
  readonly newer: More;
  readonly hasNewer: boolean;
}

export function ListItem({
  index,
  item,
  context,
}: {
  readonly index: number;
  readonly item: Item;
  readonly context: ListContext;
}): ReactElement {
  const userId = useMe();
  const { items, firstIndex, line, bySeq, isGroup, isAdmin, activeId, flashId, onActive, onHold, hasOlder } = context;
  const place = index - firstIndex;
  const before = items[place - 1];
  // Of the first one held it is not known whether its day begins with it.
  const day = place === 0 && hasOlder ? undefined : dayBefore(item, before);
  const isFirstUnread = place === line;
  // Nor whether it goes on with a block: as if, so that it is no less high once more is known.
  const goesOn = !isFirstUnread && ((place === 0 && hasOlder) || continues(item, before, userId));
  return (
    <div className="px-3 sm:px-6">
      {place === 0 && !hasOlder && <Beginning />}
      {day !== undefined && <DayLine atMs={day} />}
      {isFirstUnread && <UnreadLine />}
      {item.kind === 'outgoing' ? (
        <OutgoingRow message={item.message} continues={goesOn} />
      ) : (
        <MessageRow
          message={item.message}
          repliedTo={item.message.replyTo && bySeq(item.message.replyTo.conversationSeq)}
          continues={goesOn}
          isGroup={isGroup}
          isAdmin={isAdmin}
          active={item.message.messageId === activeId}
          flash={item.message.messageId === flashId}
          onActive={onActive}
          onHold={onHold}
        />
      )}
    </div>
  );
}

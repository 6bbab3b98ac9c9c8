import type { Message } from '@qim/client';
import { useQim } from '@qim/client/react';
import { Copy, Ellipsis, Flag, Pencil, Reply, SmilePlus, Trash2, Undo2 } from 'lucide-react';
import type { ReactElement } from 'react';
import { EmojiButton } from '../compose/emoji-button.js';
import { IconButton } from '../shared/icon-button.js';
import { useMe } from '../shared/me.js';
import { Menu, MenuItem, MenuLine } from '../shared/menu.js';
import { useTell } from '../shared/tell.js';
import { useSay } from '../shared/use-speech.js';
import { useAct } from './acts.js';

const QUICK = ['👍', '❤️', '😂', '😮', '😢', '🎉'] as const;

/** Where there is no room beside a long message it lies over its upper edge, so that nothing moves. */
const NARROW = 'max-lg:absolute max-lg:-top-8 max-lg:z-10';
const NARROW_AT = { left: 'max-lg:left-14', right: 'max-lg:right-3' } as const;

interface MessageActionsProps {
  readonly message: Message;
  /** The reader is an admin or owner of the group. */
  readonly isAdmin: boolean;
  /** Of the pane, where the message stands. */
  readonly side: keyof typeof NARROW_AT;
  /** A menu of it is open, or closed again. */
  readonly onHold: (held: boolean) => void;
}

/** Beside the message that is hovered, focused or touched. The server has the last word on who may do what. */
export function MessageActions({ message, isAdmin, side, onHold }: MessageActionsProps): ReactElement {
  const say = useSay();
  const act = useAct();
  const client = useQim();
  const { trying } = useTell();
  return (
    <span
      className={`flex shrink-0 items-center self-center rounded-lg border border-line bg-pane shadow-xs ${NARROW} ${NARROW_AT[side]}`}
      data-testid="actions"
    >
      <EmojiButton
        icon={SmilePlus}
        label={say('message.react')}
        small
        quick={QUICK}
        onOpenChange={onHold}
        onEmoji={(emoji) => trying(() => client.setReaction(message, emoji, true))}
      />
      <IconButton icon={Reply} label={say('message.reply')} small onClick={() => act({ kind: 'reply', message })} />
      <Menu
        label={say('message.actions')}
        onOpenChange={onHold}
        trigger={<IconButton icon={Ellipsis} label={say('message.more')} small data-more="" />}
      >
        <MoreItems message={message} isAdmin={isAdmin} />
      </Menu>
    </span>
  );
}

function MoreItems({ message, isAdmin }: Omit<MessageActionsProps, 'onHold' | 'side'>): ReactElement {
  const say = useSay();
  const act = useAct();
  const { trying, word } = useTell();
  const isOwn = message.senderUserId === useMe();
  const { content } = message;
  async function copy(text: string): Promise<void> {
    await navigator.clipboard.writeText(text);
    word(say('act.copied'));
  }
  return (
    <>
      <MenuItem icon={Reply} onSelect={() => act({ kind: 'reply', message })}>
        {say('message.reply')}
      </MenuItem>
      {content.kind === 'text' && (
        <MenuItem icon={Copy} onSelect={() => trying(() => copy(content.text))}>
          {say('message.copy')}
        </MenuItem>
      )}
      {isOwn && content.kind === 'text' && (
        <MenuItem icon={Pencil} onSelect={() => act({ kind: 'edit', message })}>
          {say('message.edit')}
        </MenuItem>
      )}
      <MenuLine />
      {(isOwn || isAdmin) && (
        <MenuItem icon={Undo2} danger onSelect={() => act({ kind: 'recall', message })}>
          {say('message.recall')}
        </MenuItem>
      )}
      {isAdmin && (
        <MenuItem icon={Trash2} danger onSelect={() => act({ kind: 'delete', message })}>
          {say('message.delete')}
        </MenuItem>
      )}
      {!isOwn && (
        <MenuItem icon={Flag} danger onSelect={() => act({ kind: 'report', message })}>
          {say('message.report')}
        </MenuItem>
      )}
    </>
  );
}

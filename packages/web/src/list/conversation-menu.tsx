import type { Conversation } from '@qim/client';
import { useQim } from '@qim/client/react';
import { Bell, BellOff, Check, CircleDot, Ellipsis, Eraser, EyeOff, Pin, PinOff } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { ConfirmDialog } from '../shared/confirm-dialog.js';
import { IconButton } from '../shared/icon-button.js';
import { Menu, MenuItem, MenuLine } from '../shared/menu.js';
import { useTell } from '../shared/tell.js';
import { useSay } from '../shared/use-speech.js';

/** What can be done with one entry of the list. Over its row on hover and focus; always where there is no hovering. */
export function ConversationMenu({ conversation, title }: { readonly conversation: Conversation; readonly title: string }): ReactElement {
  const say = useSay();
  const label = say('list.actions', { title });
  return (
    <span className="absolute top-1.5 right-4 rounded-lg bg-pane shadow-xs opacity-0 group-hover:opacity-100 focus-within:opacity-100 has-data-[state=open]:opacity-100 [@media(hover:none)]:hidden">
      <Menu label={label} trigger={<IconButton icon={Ellipsis} label={label} small />}>
        <ConversationMenuItems conversation={conversation} />
      </Menu>
    </span>
  );
}

/** Stands within a `Menu`. */
export function ConversationMenuItems({ conversation }: { readonly conversation: Conversation }): ReactElement {
  const say = useSay();
  const client = useQim();
  const { trying } = useTell();
  const { conversationId, flags } = conversation;
  const { pinned, muted } = flags;
  const set = (change: Parameters<typeof client.setConversationFlags>[1]) => (): void =>
    trying(() => client.setConversationFlags(conversationId, change));
  return (
    <>
      <MenuItem icon={pinned ? PinOff : Pin} onSelect={set({ pinned: !pinned })}>
        {say(pinned ? 'flag.unpin' : 'flag.pin')}
      </MenuItem>
      <MenuItem icon={muted ? Bell : BellOff} onSelect={set({ muted: !muted })}>
        {say(muted ? 'flag.unmute' : 'flag.mute')}
      </MenuItem>
      <ReadItem conversation={conversation} />
      <MenuItem icon={EyeOff} onSelect={set({ hidden: true })}>
        {say('flag.hide')}
      </MenuItem>
    </>
  );
}

function ReadItem({ conversation }: { readonly conversation: Conversation }): ReactElement | null {
  const say = useSay();
  const client = useQim();
  const { trying } = useTell();
  if (conversation.damaged !== undefined) return null;
  const { conversationId, flags, unreadCount, latestConversationSeq } = conversation;
  if (unreadCount === 0 && !flags.markedUnread) {
    return (
      <MenuItem icon={CircleDot} onSelect={() => trying(() => client.setConversationFlags(conversationId, { markedUnread: true }))}>
        {say('flag.markUnread')}
      </MenuItem>
    );
  }
  const read = async (): Promise<void> => {
    if (unreadCount > 0) await client.markRead(conversationId, latestConversationSeq);
    if (flags.markedUnread) await client.setConversationFlags(conversationId, { markedUnread: false });
  };
  return (
    <MenuItem icon={Check} onSelect={() => trying(read)}>
      {say('flag.markRead')}
    </MenuItem>
  );
}

/** A menu item, and the dialog that it opens; to be shown outside the menu, which closes. */
export function useClear(conversation: Conversation | undefined): readonly [item: ReactElement | null, dialog: ReactElement | null] {
  const say = useSay();
  const client = useQim();
  const [isAsking, setIsAsking] = useState(false);
  if (conversation === undefined || conversation.damaged !== undefined || conversation.latestConversationSeq === 0) return [null, null];
  const { conversationId, latestConversationSeq } = conversation;
  const item = (
    <>
      <MenuLine />
      <MenuItem icon={Eraser} danger onSelect={() => setIsAsking(true)}>
        {say('flag.clear')}
      </MenuItem>
    </>
  );
  const dialog = isAsking ? (
    <ConfirmDialog
      title={say('flag.clearTitle')}
      text={say('flag.clearText')}
      action={say('flag.clearAction')}
      run={() => client.clearHistory(conversationId, latestConversationSeq)}
      onClose={() => setIsAsking(false)}
    />
  ) : null;
  return [item, dialog];
}

import type { Conversation } from '@qim/client';
import { useMembers, usePresence } from '@qim/client/react';
import { EllipsisVertical, Info } from 'lucide-react';
import { type ReactElement, type ReactNode, useState } from 'react';
import { GroupDialog } from '../groups/group-dialog.js';
import { PersonDialog } from '../groups/person-dialog.js';
import { ConversationMenuItems, useClear } from '../list/conversation-menu.js';
import { Avatar } from '../shared/avatar.js';
import { IconButton } from '../shared/icon-button.js';
import { Menu } from '../shared/menu.js';
import { titleOf } from '../shared/texts.js';
import { useSpeech } from '../shared/use-speech.js';
import { PaneHeader } from './pane-header.js';

interface ConversationHeaderProps {
  readonly conversationId: string;
  /** Undefined: not in the list, or not yet. */
  readonly entry: Conversation | undefined;
  readonly onClose: () => void;
  readonly onDirect: (userId: string) => void;
}

export function ConversationHeader({ conversationId, entry, onClose, onDirect }: ConversationHeaderProps): ReactElement {
  const [isInfoOpen, setIsInfoOpen] = useState(false);
  const presence = usePresence();
  const peer = entry?.peerUserId;
  const speech = useSpeech(peer === undefined ? [] : [peer]);
  const { say, userId } = speech;
  const [clearItem, clearDialog] = useClear(entry);
  if (entry === undefined) {
    return <PaneHeader avatar={<Avatar id={conversationId} name="" size="medium" kind="unknown" />} title="…" note="" onClose={onClose} />;
  }
  const title = titleOf(entry, speech);
  const isNotes = peer === userId;
  const isOnline = peer !== undefined && !isNotes && presence.has(peer);
  const kind = entry.kind === 'group' ? 'group' : isNotes ? 'notes' : 'person';
  const avatar = <Avatar id={peer ?? conversationId} name={title} size="medium" kind={kind} online={isOnline} />;
  const openInfo = (): void => setIsInfoOpen(true);
  const closeInfo = (): void => setIsInfoOpen(false);
  const label = say('list.actions', { title });
  const infoHint = kind === 'group' ? say('group.info') : say('person.about', { who: title });
  const info = isNotes ? {} : { onTitle: openInfo, titleHint: infoHint };
  return (
    <>
      <HeaderWithNote {...info} entry={entry} avatar={avatar} title={title} online={isOnline} onClose={onClose}>
        {!isNotes && <IconButton icon={Info} label={infoHint} onClick={openInfo} className="max-sm:hidden" />}
        <Menu label={label} trigger={<IconButton icon={EllipsisVertical} label={label} />}>
          <ConversationMenuItems conversation={entry} />
          {clearItem}
        </Menu>
      </HeaderWithNote>
      {clearDialog}
      {isInfoOpen && kind === 'group' && <GroupDialog conversation={entry} onClose={closeInfo} onDirect={onDirect} />}
      {isInfoOpen && kind === 'person' && peer !== undefined && <PersonDialog userId={peer} onClose={closeInfo} onDirect={onDirect} />}
    </>
  );
}

interface RemovedHeaderProps {
  readonly conversationId: string;
  /** What was in the list before; undefined: it was not. */
  readonly known: Conversation | undefined;
  readonly onClose: () => void;
}

/** Of a conversation that the reader is no member of: there is nothing to do with it. */
export function RemovedHeader({ conversationId, known, onClose }: RemovedHeaderProps): ReactElement {
  const speech = useSpeech();
  const title = known === undefined ? speech.say('name.unknown') : titleOf(known, speech);
  const avatar = <Avatar id={conversationId} name={title} size="medium" kind={known?.kind === 'group' ? 'group' : 'unknown'} />;
  return <PaneHeader avatar={avatar} title={title} note="" onClose={onClose} />;
}

interface HeaderWithNoteProps {
  readonly entry: Conversation;
  readonly avatar: ReactElement;
  readonly title: string;
  readonly online: boolean;
  readonly onClose: () => void;
  readonly onTitle?: () => void;
  readonly titleHint?: string;
  readonly children: ReactNode;
}

function HeaderWithNote(props: HeaderWithNoteProps): ReactElement {
  const { online, ...rest } = props;
  return props.entry.kind === 'group' ? <GroupHeader {...rest} /> : <DirectHeader {...rest} online={online} />;
}

function DirectHeader({ entry, online, ...rest }: HeaderWithNoteProps): ReactElement {
  const { say } = useSpeech();
  return (
    <PaneHeader
      {...rest}
      note={entry.damaged === undefined ? say(online ? 'person.online' : 'person.offline') : say('state.damagedNote')}
    />
  );
}

function GroupHeader({ entry, ...rest }: Omit<HeaderWithNoteProps, 'online'>): ReactElement {
  const { say } = useSpeech();
  const { members, status, hasMore } = useMembers(entry.conversationId);
  const presence = usePresence();
  const count = members.length;
  const size = hasMore ? say('group.membersMany', { count }) : say('group.members', { count });
  const online = members.filter(({ userId }) => presence.has(userId)).length;
  const note = online > 1 ? `${size} · ${say('group.online', { count: online })}` : size;
  return <PaneHeader {...rest} note={status === 'loading' ? '' : entry.damaged === undefined ? note : say('state.damagedNote')} />;
}

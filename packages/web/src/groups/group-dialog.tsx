import type { Conversation } from '@qim/client';
import { useQim } from '@qim/client/react';
import { type ReactElement, useState } from 'react';
import { Avatar } from '../shared/avatar.js';
import { Dialog } from '../shared/dialog.js';
import { namesFrom } from '../shared/people.js';
import { Problem } from '../shared/problem.js';
import { SwitchRow } from '../shared/switch-row.js';
import { TextField } from '../shared/text-field.js';
import { titleOf } from '../shared/texts.js';
import { type Changes, useChanges } from '../shared/use-changes.js';
import { useSay, useSpeech } from '../shared/use-speech.js';
import { submitting } from '../shared/writing.js';
import { LeaveGroup } from './leave-group.js';
import { MemberList } from './member-list.js';

interface GroupDialogProps {
  readonly conversation: Conversation;
  readonly onClose: () => void;
  readonly onDirect: (userId: string) => void;
}

/** Members, roles, title and settings; what the reader may not change is shown and cannot be changed. */
export function GroupDialog({ conversation, onClose, onDirect }: GroupDialogProps): ReactElement {
  const say = useSay();
  const changes = useChanges();
  const { conversationId, role } = conversation;
  const isAdmin = role === 'admin' || role === 'owner';
  return (
    <Dialog title={say('group.info')} onClose={onClose}>
      {isAdmin ? <TitleForm conversation={conversation} changes={changes} /> : <Heading conversation={conversation} />}
      <Settings conversation={conversation} changes={changes} mayChange={isAdmin} />
      <MemberList conversation={conversation} changes={changes} onDirect={onDirect} onClose={onClose} />
      {isAdmin && <AddForm conversationId={conversationId} changes={changes} />}
      <Problem text={changes.problem} />
      <LeaveGroup conversationId={conversationId} changes={changes} onLeft={onClose} />
    </Dialog>
  );
}

interface PartProps {
  readonly conversation: Conversation;
  readonly changes: Changes;
  readonly mayChange: boolean;
}

function Heading({ conversation }: Pick<PartProps, 'conversation'>): ReactElement {
  const speech = useSpeech();
  const title = titleOf(conversation, speech);
  return (
    <div className="flex items-center gap-3">
      <Avatar id={conversation.conversationId} name={title} kind="group" />
      <p className="min-w-0 font-semibold break-words">{title}</p>
    </div>
  );
}

function TitleForm({ conversation, changes }: Omit<PartProps, 'mayChange'>): ReactElement {
  const say = useSay();
  const client = useQim();
  const [title, setTitle] = useState(conversation.title);
  const wanted = title.trim();
  const save = (): void => void changes.run(() => client.updateConversation(conversation.conversationId, { title: wanted }));
  return (
    <form onSubmit={submitting(save)} className="flex items-end gap-2">
      <TextField label={say('group.title')} value={title} onValue={setTitle} />
      <button type="submit" className="button button-quiet" disabled={changes.busy || wanted === '' || wanted === conversation.title}>
        {say('act.save')}
      </button>
    </form>
  );
}

function Settings({ conversation, changes, mayChange }: PartProps): ReactElement {
  const say = useSay();
  const client = useQim();
  const { conversationId, settings } = conversation;
  const disabled = !mayChange || changes.busy;
  const set = (change: Parameters<typeof client.updateConversation>[1]): void =>
    void changes.run(() => client.updateConversation(conversationId, change));
  return (
    <fieldset className="mt-5">
      <legend className="mb-1 text-sm font-semibold">{say('group.settings')}</legend>
      <SwitchRow
        label={say('group.onlyAdmins')}
        checked={settings.onlyAdminsPost}
        disabled={disabled}
        onChecked={(onlyAdminsPost) => set({ onlyAdminsPost })}
      />
      <SwitchRow
        label={say('group.history')}
        checked={settings.historyVisibility === 'all'}
        disabled={disabled}
        onChecked={(all) => set({ historyVisibility: all ? 'all' : 'fromJoining' })}
      />
      <SwitchRow
        label={say('group.receipts')}
        checked={settings.readReceipts}
        disabled={disabled}
        onChecked={(readReceipts) => set({ readReceipts })}
      />
    </fieldset>
  );
}

function AddForm({ conversationId, changes }: { readonly conversationId: string; readonly changes: Changes }): ReactElement {
  const say = useSay();
  const client = useQim();
  const [names, setNames] = useState('');
  async function add(): Promise<void> {
    if (await changes.run(() => client.addMembers(conversationId, namesFrom(names)))) setNames('');
  }
  return (
    <form onSubmit={submitting(() => void add())} className="mt-4 flex items-end gap-2">
      <TextField label={say('group.add')} value={names} onValue={setNames} placeholder={say('group.addExample')} names />
      <button type="submit" className="button button-main" disabled={changes.busy || namesFrom(names).length === 0}>
        {say('group.addAction')}
      </button>
    </form>
  );
}

import { useQim } from '@qim/client/react';
import { type ReactElement, useState } from 'react';
import { Dialog } from '../shared/dialog.js';
import { namesFrom } from '../shared/people.js';
import { Problem } from '../shared/problem.js';
import { TextField } from '../shared/text-field.js';
import { useChanges } from '../shared/use-changes.js';
import { useSay } from '../shared/use-speech.js';
import { submitting } from '../shared/writing.js';

interface NewChatDialogProps {
  readonly onClose: () => void;
  readonly onDirect: (toUserId: string) => void;
  readonly onGroup: (conversationId: string) => void;
}

export function NewChatDialog({ onClose, onDirect, onGroup }: NewChatDialogProps): ReactElement {
  const say = useSay();
  return (
    <Dialog title={say('new.title')} onClose={onClose}>
      <DirectForm
        onStart={(toUserId) => {
          onClose();
          onDirect(toUserId);
        }}
      />
      <hr className="my-5 border-line" />
      <GroupForm
        onMade={(conversationId) => {
          onClose();
          onGroup(conversationId);
        }}
      />
    </Dialog>
  );
}

function DirectForm({ onStart }: { readonly onStart: (toUserId: string) => void }): ReactElement {
  const say = useSay();
  const [name, setName] = useState('');
  return (
    <form onSubmit={submitting(() => onStart(name.trim()))} aria-label={say('new.direct')}>
      <h3 className="mb-2 text-sm font-semibold">{say('new.direct')}</h3>
      <div className="flex items-end gap-2">
        <TextField label={say('new.person')} value={name} onValue={setName} placeholder={say('new.personExample')} names first />
        <button type="submit" className="button button-main" disabled={name.trim() === ''}>
          {say('new.write')}
        </button>
      </div>
    </form>
  );
}

function GroupForm({ onMade }: { readonly onMade: (conversationId: string) => void }): ReactElement {
  const say = useSay();
  const client = useQim();
  const [title, setTitle] = useState('');
  const [names, setNames] = useState('');
  const { busy, problem, run } = useChanges();

  async function make(): Promise<void> {
    await run(async () => {
      const group = await client.createGroup({ title: title.trim(), memberIds: namesFrom(names), readReceipts: true });
      onMade(group.conversationId);
    });
  }

  return (
    <form onSubmit={submitting(() => void make())} aria-label={say('new.group')} className="space-y-3">
      <h3 className="text-sm font-semibold">{say('new.group')}</h3>
      <TextField label={say('new.groupTitle')} value={title} onValue={setTitle} placeholder={say('new.groupExample')} />
      <TextField label={say('new.members')} value={names} onValue={setNames} placeholder={say('new.membersExample')} names />
      <Problem text={problem} />
      <button type="submit" className="button button-main w-full" disabled={busy || title.trim() === '' || namesFrom(names).length === 0}>
        {say('new.make')}
      </button>
    </form>
  );
}

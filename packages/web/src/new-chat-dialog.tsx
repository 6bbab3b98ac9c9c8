import { type ReactElement, useState } from 'react';
import { useClient } from './client-context.js';
import { Dialog } from './dialog.js';
import { namesFrom } from './people.js';
import { useChanges } from './use-changes.js';
import { submitting } from './writing.js';

interface NewChatDialogProps {
  readonly onClose: () => void;
  readonly onDirect: (toUserId: string) => void;
  readonly onGroup: (conversationId: string) => void;
}

export function NewChatDialog({ onClose, onDirect, onGroup }: NewChatDialogProps): ReactElement {
  return (
    <Dialog title="New chat" onClose={onClose}>
      <DirectForm
        onStart={(toUserId) => {
          onClose();
          onDirect(toUserId);
        }}
      />
      <div className="my-5 flex items-center gap-3 text-sm text-muted">
        <span className="h-px flex-1 bg-line" />
        or
        <span className="h-px flex-1 bg-line" />
      </div>
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
  const [name, setName] = useState('');
  return (
    <form onSubmit={submitting(() => onStart(name.trim()))} aria-label="Write to one person">
      <label className="block">
        <span className="mb-1 block text-sm font-medium">Write to one person</span>
        <input
          className="field"
          value={name}
          onChange={(event) => setName(event.target.value)}
          placeholder="bob"
          autoCapitalize="none"
          spellCheck={false}
        />
      </label>
      <button type="submit" className="button button-main mt-3 w-full" disabled={name.trim() === ''}>
        Write
      </button>
    </form>
  );
}

function GroupForm({ onMade }: { readonly onMade: (conversationId: string) => void }): ReactElement {
  const { client } = useClient();
  const [title, setTitle] = useState('');
  const [names, setNames] = useState('');
  const { busy, problem, run } = useChanges();

  async function make(): Promise<void> {
    await run(async () => {
      const group = await client.createGroup({ title: title.trim(), memberIds: namesFrom(names) });
      onMade(group.conversationId);
    });
  }

  return (
    <form onSubmit={submitting(() => void make())} aria-label="Make a group">
      <label className="block">
        <span className="mb-1 block text-sm font-medium">Group title</span>
        <input className="field" value={title} onChange={(event) => setTitle(event.target.value)} placeholder="Tea at four" />
      </label>
      <label className="mt-3 block">
        <span className="mb-1 block text-sm font-medium">Members, separated by commas</span>
        <input
          className="field"
          value={names}
          onChange={(event) => setNames(event.target.value)}
          placeholder="bob, carol"
          autoCapitalize="none"
          spellCheck={false}
        />
      </label>
      <p role="alert" className="mt-2 min-h-5 text-sm text-danger">
        {problem}
      </p>
      <button
        type="submit"
        className="button button-quiet mt-1 w-full"
        disabled={busy || title.trim() === '' || namesFrom(names).length === 0}
      >
        Make the group
      </button>
    </form>
  );
}

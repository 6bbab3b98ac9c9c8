import { type ReactElement, useState } from 'react';
import { namesFrom } from './people.js';
import { submitting } from './writing.js';

export function AddForm({
  disabled,
  onAdd,
}: {
  readonly disabled: boolean;
  readonly onAdd: (userIds: readonly string[]) => Promise<boolean>;
}): ReactElement {
  const [names, setNames] = useState('');
  async function add(): Promise<void> {
    if (await onAdd(namesFrom(names))) setNames('');
  }
  return (
    <form onSubmit={submitting(() => void add())} className="mt-4 flex items-end gap-2">
      <label className="min-w-0 flex-1">
        <span className="mb-1 block text-sm font-medium">Add people, separated by commas</span>
        <input
          className="field"
          value={names}
          onChange={(event) => setNames(event.target.value)}
          placeholder="dave"
          autoCapitalize="none"
          spellCheck={false}
        />
      </label>
      <button type="submit" className="button button-main" disabled={disabled || namesFrom(names).length === 0}>
        Add
      </button>
    </form>
  );
}

/** Asks once more in the same place: leaving cannot be undone by oneself. */
export function LeaveButton({ disabled, onLeave }: { readonly disabled: boolean; readonly onLeave: () => void }): ReactElement {
  const [isAsking, setIsAsking] = useState(false);
  if (!isAsking) {
    return (
      <button type="button" className="button button-quiet mt-2 w-full text-danger" onClick={() => setIsAsking(true)}>
        Leave the group
      </button>
    );
  }
  return (
    <div className="mt-2 flex items-center gap-2">
      <span className="flex-1 text-sm text-muted">Only a member can let you in again.</span>
      <button type="button" className="button button-quiet" onClick={() => setIsAsking(false)}>
        Stay
      </button>
      <button type="button" className="button button-quiet text-danger" disabled={disabled} onClick={onLeave}>
        Leave
      </button>
    </div>
  );
}

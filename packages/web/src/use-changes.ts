import { useState } from 'react';
import { errorText } from './texts.js';

export interface Changes {
  readonly busy: boolean;
  /** Why the last one failed; '': it did not. */
  readonly problem: string;
  /** Whether it worked. */
  readonly run: (change: () => Promise<unknown>) => Promise<boolean>;
}

/** Calls that change something on the server, one at a time, for a dialog that shows how they went. */
export function useChanges(): Changes {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  async function run(change: () => Promise<unknown>): Promise<boolean> {
    setBusy(true);
    setProblem('');
    try {
      await change();
      return true;
    } catch (error) {
      setProblem(errorText(error));
      return false;
    } finally {
      setBusy(false);
    }
  }
  return { busy, problem, run };
}

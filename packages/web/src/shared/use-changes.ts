import { useState } from 'react';
import { useErrorText } from './use-speech.js';

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
  const [problem, setProblem] = useState<unknown>();
  const errorText = useErrorText();
  async function run(change: () => Promise<unknown>): Promise<boolean> {
    setBusy(true);
    setProblem(undefined);
    try {
      await change();
      return true;
    } catch (error) {
      setProblem(error);
      return false;
    } finally {
      setBusy(false);
    }
  }
  return { busy, problem: problem === undefined ? '' : errorText(problem), run };
}

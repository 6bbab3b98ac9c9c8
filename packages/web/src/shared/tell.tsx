/** A word about what was just done, for some seconds: where it failed, or where nothing else shows that it worked. */
import { createContext, type ReactElement, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import { later } from './clock.js';
import { useErrorText } from './use-speech.js';

const SHOWN_MS = 5_000;

export interface Tell {
  readonly word: (text: string) => void;
  /** Runs it, and tells of its failure. */
  readonly trying: (run: () => Promise<unknown>) => void;
}

const TellContext = createContext<Tell | null>(null);

/** @throws Error outside a Teller */
export function useTell(): Tell {
  const tell = useContext(TellContext);
  if (tell === null) throw new Error('useTell needs a Teller around it');
  return tell;
}

type Word = { readonly text: string } | { readonly error: unknown };

export function Teller({ children }: { readonly children: ReactNode }): ReactElement {
  const [shown, setShown] = useState<Word | null>(null);
  const errorText = useErrorText();
  const word = useCallback((text: string) => setShown({ text }), []);
  const trying = useCallback((run: () => Promise<unknown>) => {
    run().catch((error: unknown) => setShown({ error }));
  }, []);
  useEffect(() => (shown === null ? undefined : later(SHOWN_MS, () => setShown(null))), [shown]);
  const tell = useMemo(() => ({ word, trying }), [word, trying]);
  return (
    <TellContext value={tell}>
      {children}
      <div role="status" className="pointer-events-none fixed inset-x-0 bottom-24 z-30 flex justify-center px-4">
        {shown !== null && (
          <p className="rounded-full bg-ink px-4 py-2 text-sm text-pane shadow-lg">
            {'text' in shown ? shown.text : errorText(shown.error)}
          </p>
        )}
      </div>
    </TellContext>
  );
}

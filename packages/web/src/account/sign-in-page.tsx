import { type ReactElement, useState } from 'react';
import { Problem } from '../shared/problem.js';
import { useSay } from '../shared/use-speech.js';
import { submitting, takeFocus } from '../shared/writing.js';
import { type Account, SignInError, type SignInFailure, signIn } from './account.js';

export function SignInPage({ onSignIn }: { readonly onSignIn: (account: Account) => void }): ReactElement {
  const say = useSay();
  const [name, setName] = useState('');
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<SignInFailure | 'unreachable' | null>(null);

  async function submit(): Promise<void> {
    setBusy(true);
    setFailure(null);
    try {
      onSignIn(await signIn(name.trim()));
    } catch (error) {
      setFailure(error instanceof SignInError ? error.failure : 'unreachable');
      setBusy(false);
    }
  }

  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <form onSubmit={submitting(() => void submit())} className="w-full max-w-sm rounded-2xl border border-line bg-pane p-8 shadow-sm">
        <img src="/favicon.svg" alt="" className="mb-4 size-12" />
        <h1 className="text-xl font-semibold">{say('signIn.title')}</h1>
        <p className="mt-1 text-muted">{say('signIn.note')}</p>
        <label className="mt-6 block">
          <span className="mb-1 block text-sm font-medium">{say('signIn.name')}</span>
          <input
            className="field"
            value={name}
            onChange={(event) => setName(event.target.value)}
            placeholder={say('signIn.example')}
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            ref={takeFocus}
          />
        </label>
        <Problem text={failure === null ? '' : say(`signIn.${failure}`)} />
        <button type="submit" className="button button-main mt-4 w-full" disabled={busy || name.trim() === ''}>
          {say(busy ? 'signIn.busy' : 'signIn.action')}
        </button>
      </form>
    </main>
  );
}

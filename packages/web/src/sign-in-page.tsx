import { type ReactElement, useState } from 'react';
import { type Account, SignInError, signIn } from './account.js';
import { submitting, takeFocus } from './writing.js';

export function SignInPage({ onSignIn }: { readonly onSignIn: (account: Account) => void }): ReactElement {
  const [name, setName] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');

  async function submit(): Promise<void> {
    setBusy(true);
    setProblem('');
    try {
      onSignIn(await signIn(name.trim()));
    } catch (error) {
      setProblem(error instanceof SignInError ? error.message : 'The server cannot be reached.');
      setBusy(false);
    }
  }

  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <form onSubmit={submitting(() => void submit())} className="w-full max-w-sm rounded-2xl border border-line bg-pane p-8 shadow-sm">
        <img src="/favicon.svg" alt="" className="mb-4 size-10" />
        <h1 className="text-xl font-semibold">Sign in to qim</h1>
        <p className="mt-1 text-muted">Any name will do here. Open a second window to be a second person.</p>
        <label className="mt-6 block">
          <span className="mb-1 block text-sm font-medium">Your name</span>
          <input
            className="field"
            value={name}
            onChange={(event) => setName(event.target.value)}
            placeholder="alice"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            ref={takeFocus}
          />
        </label>
        <p role="alert" className="mt-2 min-h-5 text-sm text-danger">
          {problem}
        </p>
        <button type="submit" className="button button-main mt-2 w-full" disabled={busy || name.trim() === ''}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}

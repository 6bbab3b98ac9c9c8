/**
 * Who this window is. Kept in sessionStorage, which each window has to itself: two windows can be two people, and a reload
 * stays the same one.
 */

export interface Account {
  readonly user: string;
  readonly token: string;
  readonly device: string;
}

const KEY = 'qim-account';

/** Null: signed out. */
export function storedAccount(): Account | null {
  const text = sessionStorage.getItem(KEY);
  if (text === null) return null;
  try {
    const { user, token, device } = JSON.parse(text) as Partial<Account>;
    return user && token && device ? { user, token, device } : null;
  } catch {
    return null;
  }
}

export function storeAccount(account: Account | null): void {
  if (account === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, JSON.stringify(account));
}

/** notOffered: the server runs without --dev. refused: no such name may be. */
export type SignInFailure = 'notOffered' | 'refused' | 'failed';

export class SignInError extends Error {
  readonly failure: SignInFailure;

  constructor(failure: SignInFailure) {
    super(failure);
    this.failure = failure;
  }
}

/** @throws SignInError; TypeError when the server cannot be reached */
export async function signIn(user: string, device = newDevice()): Promise<Account> {
  const body = JSON.stringify({ user, device });
  const answer = await fetch('/dev/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  if (answer.status === 404) throw new SignInError('notOffered');
  if (answer.status === 400) throw new SignInError('refused');
  const { token } = (await answer.json()) as { readonly token?: string };
  if (token === undefined) throw new SignInError('failed');
  return { user, token, device };
}

function newDevice(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return `web-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

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

/** Why signing in failed, in words for people. */
export class SignInError extends Error {}

/** @throws SignInError; TypeError when the server cannot be reached */
export async function signIn(user: string, device = newDevice()): Promise<Account> {
  const body = JSON.stringify({ user, device });
  const answer = await fetch('/dev/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  if (answer.status === 404) throw new SignInError('This server does not offer signing in by name: it runs without --dev.');
  const { token, message } = (await answer.json()) as { readonly token?: string; readonly message?: string };
  if (token === undefined) throw new SignInError(message ?? 'Signing in failed.');
  return { user, token, device };
}

function newDevice(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return `web-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

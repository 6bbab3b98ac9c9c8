import { type ReactElement, useEffect, useState } from 'react';
import { type Account, storeAccount, storedAccount } from './account.js';
import { ChatPage } from './chat-page.js';
import { ClientContext } from './client-context.js';
import { type Session, sessionOf } from './session.js';
import { SignInPage } from './sign-in-page.js';

function resumed(): Session | null {
  const account = storedAccount();
  return account && sessionOf(account);
}

/** Signed out or in. */
export function App(): ReactElement {
  const [session, setSession] = useState(resumed);
  useEffect(() => session?.client.connect(), [session]);

  function enter(account: Account): void {
    storeAccount(account);
    setSession(sessionOf(account));
  }

  function leave(): void {
    session?.client.close();
    storeAccount(null);
    location.hash = '';
    setSession(null);
  }

  if (session === null) return <SignInPage onSignIn={enter} />;
  const { client, account } = session;
  return (
    <ClientContext key={account.device} value={{ client, userId: account.user }}>
      <ChatPage onSignOut={leave} />
    </ClientContext>
  );
}

import { QimProvider } from '@qim/client/react';
import { type ReactElement, useEffect, useState } from 'react';
import { type Account, storeAccount, storedAccount } from './account/account.js';
import { type Session, sessionOf } from './account/session.js';
import { SignInPage } from './account/sign-in-page.js';
import { ChatPage } from './chat-page.js';
import { DraftsContext } from './compose/use-drafts.js';
import { MeContext } from './shared/me.js';
import { Teller } from './shared/tell.js';

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
    void session?.client.logout();
    session?.drafts.clear();
    storeAccount(null);
    location.hash = '';
    setSession(null);
  }

  if (session === null) return <SignInPage onSignIn={enter} />;
  const { client, account, drafts } = session;
  return (
    <QimProvider key={account.device} client={client}>
      <MeContext value={account.user}>
        <DraftsContext value={drafts}>
          <Teller>
            <ChatPage onSignOut={leave} />
          </Teller>
        </DraftsContext>
      </MeContext>
    </QimProvider>
  );
}

import { type Client, createClient, type TokenSource } from '@qim/client';
import { Drafts } from '../compose/drafts.js';
import { type Account, signIn, storeAccount } from './account.js';

/** One signing in: who, the client that speaks for him, and what he has half written. */
export interface Session {
  readonly account: Account;
  readonly client: Client;
  readonly drafts: Drafts;
}

/** Connects nothing yet. */
export function sessionOf(account: Account): Session {
  const { user, device } = account;
  const client = createClient({ url: location.origin, token: tokenOf(account), device, account: { userId: user } });
  return { account, client, drafts: new Drafts(localStorage, user) };
}

/** The stored token, and a new one under the same name when that one has run out or will soon. */
function tokenOf(account: Account): TokenSource {
  let { token } = account;
  return async (why) => {
    if (why !== 'connect') {
      const renewed = await signIn(account.user, account.device);
      storeAccount(renewed);
      token = renewed.token;
    }
    return token;
  };
}

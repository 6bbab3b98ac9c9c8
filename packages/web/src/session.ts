import { type Client, createClient, type TokenSource } from '@qim/client';
import { type Account, signIn, storeAccount } from './account.js';

/** One signing in: who, and the client that speaks for him. */
export interface Session {
  readonly account: Account;
  readonly client: Client;
}

/** Connects nothing yet. */
export function sessionOf(account: Account): Session {
  return { account, client: createClient({ url: location.origin, token: tokenOf(account), device: account.device }) };
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

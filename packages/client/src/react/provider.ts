import type { Client } from '@qim/client';
import { createContext, createElement, type ReactElement, type ReactNode, useContext } from 'react';

const ClientContext = createContext<Client | null>(null);

/** Hands a client to the hooks below it. Whoever made the client connects and closes it. */
export function QimProvider(props: { readonly client: Client; readonly children?: ReactNode }): ReactElement {
  return createElement(ClientContext.Provider, { value: props.client }, props.children);
}

/** @throws Error outside a QimProvider */
export function useQim(): Client {
  const client = useContext(ClientContext);
  if (client === null) throw new Error('this hook needs a QimProvider around it');
  return client;
}

import { createContext, useContext } from 'react';

/** Whose page it is. */
export const MeContext = createContext<string | null>(null);

/** The user's id. @throws Error outside a MeContext */
export function useMe(): string {
  const userId = useContext(MeContext);
  if (userId === null) throw new Error('useMe needs a MeContext around it');
  return userId;
}

/** How far the others have read in the conversation that is shown; nobody of whom it is not known. */
import { useReadMarks } from '@qim/client/react';
import { createContext, type ReactElement, type ReactNode, useContext } from 'react';

/** User -> the sequence up to which that user has read. */
type ReadBy = ReadonlyMap<string, number>;

const ReadByContext = createContext<ReadBy>(new Map());

interface ReadByProps {
  readonly conversationId: string;
  readonly children: ReactNode;
}

/** Apart from the pane, so that a mark renders the ticks anew and not the list. */
export function ReadByOthers({ conversationId, children }: ReadByProps): ReactElement {
  return <ReadByContext value={useReadMarks(conversationId)}>{children}</ReadByContext>;
}

export function useReadBy(): ReadBy {
  return useContext(ReadByContext);
}

import type { Client, Member } from '@qim/client';
import { useCallback, useEffect, useState } from 'react';
import { errorText } from './texts.js';

/** More than this is named as a number only. */
const PAGES_MAX = 5;

export interface Members {
  readonly members: readonly Member[];
  readonly status: 'loading' | 'ready' | 'error';
  readonly problem: string;
  /** There are more than were read. */
  readonly hasMore: boolean;
  readonly reload: () => void;
}

export function useMembers(client: Client, conversationId: string): Members {
  const [state, setState] = useState<Omit<Members, 'reload'>>({ members: [], status: 'loading', problem: '', hasMore: false });
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round reads again
  useEffect(() => {
    let isCurrent = true;
    readMembers(client, conversationId).then(
      (read) => isCurrent && setState({ ...read, status: 'ready', problem: '' }),
      (error: unknown) => isCurrent && setState({ members: [], status: 'error', problem: errorText(error), hasMore: false }),
    );
    return () => {
      isCurrent = false;
    };
  }, [client, conversationId, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { ...state, reload };
}

async function readMembers(client: Client, conversationId: string): Promise<{ members: Member[]; hasMore: boolean }> {
  const members: Member[] = [];
  let pageToken = '';
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await client.listMembers(conversationId, pageToken);
    members.push(...page.members);
    pageToken = page.nextPageToken;
    if (pageToken === '') break;
  }
  return { members, hasMore: pageToken !== '' };
}

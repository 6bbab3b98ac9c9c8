/** What a component shows. Each renders again when its value changes, and never otherwise; once for all changes of one go. */
import type {
  Client,
  ConnectionState,
  ConversationListState,
  ConversationSnapshot,
  MembersState,
  MembersView,
  Observable,
  OpenConversation,
  OutgoingMessage,
  Profile,
  TotalsState,
} from '@qim/client';
import { useMemo, useSyncExternalStore } from 'react';
import { scheduleByTimer } from '../environment.js';
import { NO_MESSAGES } from '../messages-state.js';
import { useQim } from './provider.js';
import { Turns } from './turns.js';

/** One for all hooks, so that what changes together is rendered together. */
const turns = new Turns((run) => scheduleByTimer(0, run));

export function useObservable<T>(observable: Observable<T>): T {
  const { subscribe, snapshot } = observable;
  const inTurns = useMemo(() => turns.of(subscribe), [subscribe]);
  return useSyncExternalStore(inTurns, snapshot, snapshot);
}

export function useConnection(): ConnectionState {
  return useObservable(useQim().connection);
}

/** `loadMore` and `refresh` are at `useQim().conversations`. */
export function useConversations(): ConversationListState {
  return useObservable(useQim().conversations);
}

export function useOutbox(): readonly OutgoingMessage[] {
  return useObservable(useQim().outbox);
}

export function useTotals(): TotalsState {
  return useObservable(useQim().totals);
}

/** The users who are known to be online. */
export function usePresence(): ReadonlySet<string> {
  return useObservable(useQim().presence);
}

/** Undefined until it is known. */
export function useProfile(userId: string): Profile | undefined {
  return useObservable(useQim().profiles.of(userId));
}

/** Who is writing in it. */
export function useTyping(conversationId: string): readonly string[] {
  return useObservable(useQim().typing).get(conversationId) ?? NOBODY;
}

export interface ShownConversation
  extends ConversationSnapshot,
    Omit<OpenConversation, 'close' | keyof Observable<never> | 'members' | 'typing' | 'readMarks'> {}

/** Open for as long as a component shows it: rendering alone opens nothing. */
export function useConversation(conversationId: string): ShownConversation {
  const client = useQim();
  const shown = useMemo(() => openWhileWatched(client, conversationId), [client, conversationId]);
  const snapshot = useObservable(shown.messages);
  return useMemo(() => ({ ...shown.actions, ...snapshot }), [shown, snapshot]);
}

export interface ShownMembers extends MembersState, Pick<MembersView, 'loadMore' | 'refresh'> {}

export function useMembers(conversationId: string): ShownMembers {
  const client = useQim();
  const shown = useMemo(() => openWhileWatched(client, conversationId), [client, conversationId]);
  const snapshot = useObservable(shown.members);
  return useMemo(() => ({ ...shown.memberActions, ...snapshot }), [shown, snapshot]);
}

/** How far others have read in it, by user, where it has read receipts. */
export function useReadMarks(conversationId: string): ReadonlyMap<string, number> {
  const client = useQim();
  const shown = useMemo(() => openWhileWatched(client, conversationId), [client, conversationId]);
  return useObservable(shown.readMarks);
}

const NOBODY: readonly string[] = [];
const NO_MARKS: ReadonlyMap<string, number> = new Map();
const NOTHING_READ: ConversationSnapshot = { ...NO_MESSAGES, outgoing: [] };
const NO_MEMBERS: MembersState = { status: 'loading', error: undefined, members: [], hasMore: false };

function openWhileWatched(client: Client, conversationId: string) {
  let open: OpenConversation | undefined;
  const watching = (observableOf: (opened: OpenConversation) => Observable<unknown>) => (listener: () => void) => {
    const opened = client.openConversation(conversationId);
    open = opened;
    const end = observableOf(opened).subscribe(listener);
    return () => {
      end();
      opened.close();
      if (open === opened) open = undefined;
    };
  };
  return {
    messages: { subscribe: watching((opened) => opened), snapshot: () => open?.snapshot() ?? NOTHING_READ },
    members: { subscribe: watching(({ members }) => members), snapshot: () => open?.members.snapshot() ?? NO_MEMBERS },
    readMarks: { subscribe: watching(({ readMarks }) => readMarks), snapshot: () => open?.readMarks.snapshot() ?? NO_MARKS },
    memberActions: { loadMore: () => open?.members.loadMore(), refresh: () => open?.members.refresh() },
    actions: {
      conversationId,
      loadOlder: async () => open?.loadOlder(),
      jumpTo: async (seq: number) => open?.jumpTo(seq),
      loadNewer: async () => open?.loadNewer(),
      toLatest: async () => open?.toLatest(),
      markRead: (seq: number) => open?.markRead(seq),
      setTyping: (on: boolean) => open?.setTyping(on),
      retry: () => open?.retry(),
    },
  };
}

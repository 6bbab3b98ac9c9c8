/** What was meant against what is there. Pure, so that a test can show that it notices. */
import { EXACT_UNREAD_SCAN_LIMIT } from '@qim/proto';

export interface FreshMessage {
  readonly messageId: string;
  readonly conversationSeq: number;
  readonly clientMessageId: string;
  readonly by: string;
  readonly control: boolean;
  readonly activityId: string;
  /** '' for what was recalled. */
  readonly words: string;
}

export interface FreshEntry {
  readonly damaged: boolean;
  readonly head: number;
  readonly read: number;
  readonly unread: number;
  readonly exact: boolean;
}

export interface FreshView {
  /** Undefined: the conversation is not in the list. */
  readonly entry: FreshEntry | undefined;
  /** The whole history, ascending. */
  readonly messages: readonly FreshMessage[];
}

export interface Meant {
  readonly by: string;
  readonly conversationId: string;
  readonly words: string;
  readonly clientMessageId: string;
  readonly acknowledged: { readonly messageId: string; readonly conversationSeq: number } | undefined;
  readonly recalled: boolean;
}

export interface Reader {
  readonly user: string;
  readonly conversationId: string;
  readonly view: FreshView;
  /** The read mark that the server said it holds; 0: none. */
  readonly heldMark: number;
}

export interface Verdict {
  /** Acknowledged, and not in some reader's history as it was acknowledged. */
  readonly lost: readonly string[];
  /** In some history more than once, or meant by nobody. */
  readonly doubled: readonly string[];
  /** Order, counts, marks, heads, words. */
  readonly divergences: readonly string[];
}

/** `meant` in the order of each sender's sending. */
export function judge(meant: readonly Meant[], readers: readonly Reader[]): Verdict {
  const lost: string[] = [];
  const doubled: string[] = [];
  const divergences: string[] = [];
  for (const reader of readers) {
    const mine = meant.filter(({ conversationId }) => conversationId === reader.conversationId);
    const who = `${reader.user} in ${reader.conversationId}`;
    lost.push(...lostFrom(mine, reader.view, who));
    doubled.push(...doubledIn(mine, reader.view, who));
    divergences.push(...disorder(mine, reader.view, who), ...miscounted(reader, who), ...wrongWords(mine, reader.view, who));
  }
  divergences.push(...disagreements(readers));
  return { lost, doubled, divergences };
}

function lostFrom(meant: readonly Meant[], { messages }: FreshView, who: string): string[] {
  const there = new Map(messages.map((message) => [message.clientMessageId, message]));
  return meant.flatMap(({ acknowledged, clientMessageId, words }) => {
    const found = there.get(clientMessageId);
    if (acknowledged === undefined) return [];
    if (found === undefined) return [`${who}: "${words}" was acknowledged and is gone`];
    const same = found.messageId === acknowledged.messageId && found.conversationSeq === acknowledged.conversationSeq;
    return same ? [] : [`${who}: "${words}" was acknowledged at ${acknowledged.conversationSeq} and is at ${found.conversationSeq}`];
  });
}

function doubledIn(meant: readonly Meant[], { messages }: FreshView, who: string): string[] {
  const left = new Set(meant.map(({ clientMessageId }) => clientMessageId));
  // What is met a second time, or was never meant, is not left in the set.
  const surplus = messages.filter(({ control, clientMessageId }) => !control && !left.delete(clientMessageId));
  return surplus.map(({ conversationSeq, words }) => `${who}: "${words}" at ${conversationSeq} is one too many`);
}

/** Sequences rise, and each sender's own messages lie in the order of their sending. */
function disorder(meant: readonly Meant[], { messages }: FreshView, who: string): string[] {
  const problems = messages.flatMap(({ conversationSeq }, i) =>
    i === 0 || conversationSeq > (messages[i - 1]?.conversationSeq ?? 0) ? [] : [`${who}: ${conversationSeq} does not rise`],
  );
  const place = new Map(meant.map(({ clientMessageId }, i) => [clientMessageId, i]));
  const newest = new Map<string, number>();
  for (const { by, clientMessageId, conversationSeq } of messages) {
    const at = place.get(clientMessageId);
    if (at === undefined) continue;
    if (at < (newest.get(by) ?? -1)) problems.push(`${who}: ${conversationSeq} of ${by} was sent before what precedes it`);
    newest.set(by, at);
  }
  return problems;
}

function miscounted({ user, view: { entry, messages }, heldMark }: Reader, who: string): string[] {
  if (entry === undefined) return [`${who}: it is not in the list`];
  if (entry.damaged) return [`${who}: the entry is damaged`];
  const head = messages.at(-1)?.conversationSeq ?? 0;
  const exact = head - entry.read <= EXACT_UNREAD_SCAN_LIMIT;
  const counted = messages.filter((m) => m.conversationSeq > entry.read && m.by !== user && !m.control && m.words !== '').length;
  const unread = exact ? counted : EXACT_UNREAD_SCAN_LIMIT;
  const problems: string[] = [];
  if (entry.head !== head) problems.push(`${who}: the list's head is ${entry.head}, the history's ${head}`);
  if (entry.read < heldMark || entry.read > head)
    problems.push(`${who}: the mark is ${entry.read}; ${heldMark} was held, the head is ${head}`);
  if (entry.unread !== unread || entry.exact !== exact) {
    problems.push(`${who}: unread ${entry.unread} (${entry.exact}) and not ${unread} (${exact})`);
  }
  return problems;
}

/** What was recalled shows no words, and all else shows its own. */
function wrongWords(meant: readonly Meant[], { messages }: FreshView, who: string): string[] {
  const words = new Map(meant.map((each) => [each.clientMessageId, each.recalled ? '' : each.words]));
  return messages.flatMap((message) => {
    const expected = words.get(message.clientMessageId);
    return expected === undefined || expected === message.words ? [] : [`${who}: "${message.words}" and not "${expected}"`];
  });
}

/** All readers of a conversation read the same; they were members from its start. */
function disagreements(readers: readonly Reader[]): string[] {
  const first = new Map<string, string>();
  return readers.flatMap(({ user, conversationId, view: { messages } }) => {
    const read = messages.map(({ messageId, activityId }) => `${messageId} ${activityId}`).join();
    const other = first.get(conversationId) ?? read;
    first.set(conversationId, other);
    return other === read ? [] : [`${user} reads ${conversationId} in another way than the others`];
  });
}

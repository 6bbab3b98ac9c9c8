/**
 * Conversations whose every record is known, so that each contender's answer can be checked against the generator before
 * its time counts for anything.
 */
import {
  type ActivityId,
  ControlKind,
  type ConversationId,
  type ConversationSeq,
  LEGACY_TENANT_ID,
  type MessageContent,
  type MessageId,
  MessageStatus,
  MessageType,
  parseActivityId,
  parseConversationId,
  parseConversationSeq,
  parseUserId,
  type UserId,
} from '@qim/proto';
import type { CommitOutcome, CommitRequest, ConversationState, ConversationSummary, Store } from '@qim/store';
import { commitRequest, directCreate } from '@qim/store/testing';
import { uuidv7 } from 'uuidv7';

export const TENANT = LEGACY_TENANT_ID;
export const READER = parseUserId('reader-1');
/** With what stands around it a record has about 300 bytes. */
export const TEXT = 'The quick brown fox jumps over the lazy dog, and then it sits down for a while to think about what it did.';
const IN_FLIGHT = 512;
const MAKERS = 16;

export interface KnownRecord {
  readonly sequence: ConversationSeq;
  readonly messageId: MessageId;
  readonly activityId: ActivityId;
  readonly sender: UserId;
  readonly type: MessageType;
  readonly status: MessageStatus;
}

/** `records[n]` has sequence n + 1: nothing leaves a hole. */
export interface KnownConversation {
  readonly conversationId: ConversationId;
  readonly records: KnownRecord[];
}

export function peerOf(index: number): UserId {
  return parseUserId(`writer-${index}`);
}

/** `members` the first of whom sends, in a conversation that it makes when there is none. */
export function request(conversationId: ConversationId, members: readonly [UserId, ...UserId[]], content: MessageContent): CommitRequest {
  const type = content.kind === 'control' ? MessageType.Control : content.kind === 'text' ? MessageType.Text : MessageType.Custom;
  return commitRequest(members[0], conversationId, { type, content, create: directCreate(members) });
}

export function text(value: string): MessageContent {
  return { kind: 'text', text: value };
}

const CONTROL: MessageContent = { kind: 'control', control: { kind: ControlKind.App, appType: 'bench', appData: new Uint8Array(8) } };

/** About two of three count as unread: each fifth is the reader's own, each eleventh Control, each thirteenth recalled. */
export async function fill(store: Store, conversations: number, messagesEach: number): Promise<readonly KnownConversation[]> {
  const known: KnownConversation[] = [];
  const next = Array.from({ length: conversations }, (_, index) => index).values();
  const makers = Array.from({ length: MAKERS }, async () => {
    for (const index of next) known[index] = await fillOne(store, index, messagesEach);
  });
  await Promise.all(makers);
  return known;
}

async function fillOne(store: Store, index: number, messages: number): Promise<KnownConversation> {
  const conversationId = parseConversationId(`g_bench_${index}`);
  const records: KnownRecord[] = [];
  for (let from = 1; from <= messages; from += IN_FLIGHT) {
    const requests = Array.from({ length: Math.min(IN_FLIGHT, messages - from + 1) }, (_, i) => {
      const own = (from + i) % 5 === 0;
      const members: [UserId, UserId] = own ? [READER, peerOf(index)] : [peerOf(index), READER];
      return request(conversationId, members, (from + i) % 11 === 0 ? CONTROL : text(TEXT));
    });
    const outcomes = await Promise.all(requests.map((each) => store.messages.commit(each)));
    records.push(...(await Promise.all(outcomes.map((outcome) => recalledOrNot(store, outcome)))));
  }
  return { conversationId, records };
}

async function recalledOrNot(store: Store, { conversationSeq, message }: CommitOutcome): Promise<KnownRecord> {
  if (message === undefined) throw new Error('a fresh commit comes back with its message');
  const target = message.record;
  const recalled = conversationSeq % 13 === 0 && target.type !== MessageType.Control;
  if (recalled) {
    const erased = { status: MessageStatus.Recalled, content: { kind: 'none' }, mentions: { userIds: [], all: false } } as const;
    const outcome = await store.messages.amend({
      actor: target.sender.userId,
      needs: 'member',
      target,
      activityId: parseActivityId(uuidv7()),
      ...erased,
    });
    if (outcome.kind !== 'amended') throw new Error('nobody else amends here');
    return knownFrom(conversationSeq, outcome.message.record);
  }
  return knownFrom(conversationSeq, target);
}

function knownFrom(
  sequence: ConversationSeq,
  {
    messageId,
    activityId,
    sender,
    type,
    status,
  }: Omit<KnownRecord, 'sender' | 'sequence'> & { readonly sender: { readonly userId: UserId } },
): KnownRecord {
  return { sequence, messageId, activityId, sender: sender.userId, type, status };
}

/** The watermark that leaves the newest `distance` sequences unread. */
export function stateAt({ conversationId, records }: KnownConversation, distance: number): ConversationState {
  return { conversationId, watermark: parseConversationSeq(records.length - distance) };
}

/** What every contender has to answer for a state. */
export type Answer = Pick<
  ConversationSummary,
  'latestConversationSeq' | 'lastMessageId' | 'lastActivityId' | 'unreadCount' | 'unreadExact'
>;

const EXACT_MAX = 200;

export function expectedAnswer({ records }: KnownConversation, watermark: number): Answer {
  const last = records.at(-1);
  if (last === undefined) throw new Error('a conversation of the bench has records');
  const exact = last.sequence - watermark <= EXACT_MAX;
  const { sequence: latestConversationSeq, messageId: lastMessageId, activityId: lastActivityId } = last;
  const unreadCount = exact ? records.slice(watermark).filter(countsForReader).length : EXACT_MAX;
  return { latestConversationSeq, lastMessageId, lastActivityId, unreadCount, unreadExact: exact };
}

export function countsForReader({ sender, type, status }: Pick<KnownRecord, 'sender' | 'type' | 'status'>): boolean {
  return sender !== READER && type !== MessageType.Control && (status === MessageStatus.Normal || status === MessageStatus.Edited);
}

/** @throws when they differ anywhere: a wrong answer has no speed */
export function checkAnswers(who: string, answers: readonly Answer[], expected: readonly Answer[]): void {
  const differs = expected.findIndex((right, i) => KEYS.some((key) => answers[i]?.[key] !== right[key]));
  if (answers.length === expected.length && differs < 0) return;
  throw new Error(`${who} answers wrongly at ${differs}: ${JSON.stringify(answers[differs])}, not ${JSON.stringify(expected[differs])}`);
}

const KEYS = ['latestConversationSeq', 'lastMessageId', 'lastActivityId', 'unreadCount', 'unreadExact'] as const;

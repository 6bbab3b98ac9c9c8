/**
 * Fills a store through its own commits, so that what is stored has the forms that a server writes: texts of chat length,
 * one in a hundred with its body apart, edits and recalls, direct conversations and one large group. Everything is
 * delivered afterwards, so that the verifier judges the lists too.
 */
import { randomUUID } from 'node:crypto';
import {
  ControlKind,
  type ConversationId,
  ConversationKind,
  HistoryVisibility,
  LEGACY_TENANT_ID,
  type MessageContent,
  type MessageRecord,
  MessageStatus,
  MessageType,
  parseActivityId,
  parseConversationId,
  parseConversationSeq,
  parseUserId,
  Role,
  type UserId,
} from '@qim/proto';
import type { CommitRequest, Store } from '@qim/store';
import { commitRequest, directCreate } from '@qim/store/testing';

/** Messages of one direct conversation. */
const DIRECT_MESSAGES = 1_000;
/** The part of all messages that are in the one group. */
const GROUP_PART = 0.1;
const GROUP_MEMBERS = 200;
/** Commits that wait at the same time. */
const AT_ONCE = 512;
const SETTINGS = { historyVisibility: HistoryVisibility.All, onlyAdminsPost: false };
const OUTBOX_LEASE_MS = 600_000;

export interface Talk {
  readonly conversationId: ConversationId;
  readonly members: readonly [UserId, UserId, ...UserId[]];
  readonly create: NonNullable<CommitRequest['create']>;
  readonly messages: number;
}

/** What to fill a store with, of so many users, all of whom are in the group; `spare`: more direct conversations of a few messages, for planting damage. */
export function talksOf(
  messages: number,
  spare: number,
  users = GROUP_MEMBERS,
): { readonly talks: readonly Talk[]; readonly spares: readonly Talk[] } {
  const inGroup = Math.floor(messages * GROUP_PART);
  const direct = Math.max(1, Math.round((messages - inGroup) / DIRECT_MESSAGES));
  const each = Math.ceil((messages - inGroup) / direct);
  const half = Math.floor(users / 2);
  const talks = [group(inGroup, users), ...Array.from({ length: direct }, (_, i) => pair(i, i % half, half + i, each))];
  return { talks, spares: Array.from({ length: spare }, (_, i) => pair(direct + i, 50, 1_000_000 + i, 5)) };
}

function pair(number: number, a: number, b: number, messages: number): Talk {
  const members = [user(a), user(b)] as const;
  return {
    conversationId: parseConversationId(`d_${String(number).padStart(26, '0')}`),
    members,
    create: directCreate(members, SETTINGS.historyVisibility),
    messages,
  };
}

function group(messages: number, users: number): Talk {
  const [first, second, ...others] = Array.from({ length: users }, (_, i) => user(i));
  if (first === undefined || second === undefined) throw new Error('a group has members');
  const members = [first, second, ...others].map((userId, i) => ({ userId, role: i === 0 ? Role.Owner : Role.Member }));
  return {
    conversationId: parseConversationId('g_0190b5e0-0000-7000-8000-000000000001'),
    members: [first, second, ...others],
    create: { kind: ConversationKind.Group, title: 'all of us', settings: SETTINGS, members, onlyNew: false },
    messages,
  };
}

function user(number: number): UserId {
  return parseUserId(`user-${number}`);
}

/** `told` hears how many are there now. */
export async function fill(store: Store, talks: readonly Talk[], told: (messages: number) => void): Promise<void> {
  let done = 0;
  let waiting: Promise<unknown>[] = [];
  const settle = async (): Promise<void> => {
    await Promise.all(waiting);
    done += waiting.length;
    waiting = [];
    told(done);
  };
  // In turns, so that commits of many conversations wait together.
  const longest = Math.max(...talks.map(({ messages }) => messages));
  for (let n = 1; n <= longest; n += 1) {
    for (const talk of talks) {
      if (n > talk.messages) continue;
      waiting.push(say(store, talk, n));
      if (waiting.length >= AT_ONCE) await settle();
    }
  }
  await settle();
  for (const talk of talks) await change(store, talk);
}

async function say(store: Store, talk: Talk, n: number): Promise<void> {
  await store.messages.commit(requestOf(talk, n));
}

function requestOf({ conversationId, members, create }: Talk, n: number): CommitRequest {
  const first = n === 1 && create.kind === ConversationKind.Group;
  const content: MessageContent = first
    ? { kind: 'control', control: { kind: ControlKind.Created, title: create.title, userIds: [...members] } }
    : { kind: 'text', text: textOf(n) };
  const by = n === 1 ? members[0] : (members[n % members.length] ?? members[0]);
  const type = first ? MessageType.Control : MessageType.Text;
  return commitRequest(by, conversationId, { type, content, mentions: { userIds: [], all: n % 50 === 0 }, create });
}

function textOf(n: number): string {
  const words = `message ${n}: ${randomUUID()} ${randomUUID()}`;
  return n % 100 === 3 ? words.repeat(20) : words;
}

/** Every hundredth message is edited, every two hundredth recalled. */
async function change(store: Store, talk: Talk): Promise<void> {
  for (let n = 50; n <= talk.messages; n += 100) {
    const sequences = [n, n + 1].filter((seq) => seq <= talk.messages).map((seq) => parseConversationSeq(seq));
    const found = await store.messages.readMessages(LEGACY_TENANT_ID, talk.conversationId, sequences);
    await Promise.all(
      found.flatMap((message, i) => (message === undefined ? [] : amend(store, message.record, i === 0 || n % 200 === 50))),
    );
  }
}

async function amend(store: Store, target: MessageRecord, edit: boolean): Promise<void> {
  await store.messages.amend({
    actor: target.sender.userId,
    needs: 'member',
    target,
    activityId: parseActivityId(randomUUID()),
    status: edit ? MessageStatus.Edited : MessageStatus.Recalled,
    content: edit ? { kind: 'text', text: 'edited' } : { kind: 'none' },
    mentions: { userIds: [], all: false },
  });
}

/** What a server's delivery does with the lists, and with what waits. Each member has read about half. */
export async function deliver(store: Store, talks: readonly Talk[]): Promise<void> {
  for (const { conversationId, members } of talks) {
    const entries = await store.messages.readMembers(LEGACY_TENANT_ID, conversationId);
    const { facts } = await store.messages.readConversation(LEGACY_TENANT_ID, conversationId, members[0]);
    if (facts === undefined) throw new Error('the conversation was made');
    const users = [...entries].map(([userId, { joinedSeq, visibleFrom }]) => ({ userId, joinedSeq, visibleFrom }));
    const activity = { conversationSeq: facts.lastSequence, activityAtMs: facts.lastCommittedAtMs };
    await store.directory.join(LEGACY_TENANT_ID, conversationId, users, activity);
    const read = parseConversationSeq(Math.max(0, facts.lastSequence - 100));
    await store.directory.raiseRead(LEGACY_TENANT_ID, members[0], conversationId, read);
  }
  for (let partition = 0; partition < store.outbox.partitionCount; partition += 1) await drain(store, partition);
}

async function drain({ outbox }: Store, partition: number): Promise<void> {
  const lease = await outbox.acquire(partition, 'fsck-million', OUTBOX_LEASE_MS);
  if (lease === undefined) throw new Error('nobody else delivers');
  for (;;) {
    const { entries } = await outbox.read([lease], 0, new AbortController().signal);
    if (entries.length === 0) break;
    await outbox.acknowledge(
      lease,
      entries.map(({ entryId }) => entryId),
    );
  }
  await outbox.release(lease);
}

/** Each command, done to the store and to the model. */
import { MessageStatus, parseActivityId, type UserId } from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import type { Activity, Directory } from '../../directory/directory.js';
import type { CatchUpPage, CommitOutcome, CommitRequest } from '../../message/message-store.js';
import { isErased } from '../../message/record.js';
import type { Store } from '../../store.js';
import type { Command } from './command.js';
import {
  burstRequests,
  changeRequest,
  configureRequest,
  createRequest,
  retriedRequest,
  roleRequest,
  sayingRequest,
  seq,
  textOf,
} from './requests.js';
import type { World } from './world.js';

/** One list change in so many waits until a later command. */
const PUT_OFF_ONE_IN = 4;
/** Against an answer that says for ever that there is more. */
const PAGES_MAX = 1_000;

export async function step(world: World, command: Command): Promise<void> {
  switch (command.kind) {
    case 'create':
      return commit(world, createRequest(world, command));
    case 'say':
      return commit(world, await sayingRequest(world, command));
    case 'burst':
      return commit(world, ...(await burstRequests(world, command.chat, command.by, command.count)));
    case 'retry': {
      const request = retriedRequest(world, command.which, command.otherContent);
      return request && commit(world, request);
    }
    case 'join':
    case 'leave':
      return commit(world, await changeRequest(world, command));
    case 'role':
      return commit(world, await roleRequest(world, command));
    case 'configure':
      return commit(world, await configureRequest(world, command));
    case 'react':
      return react(world, command);
    case 'amend':
      return amend(world, command);
    case 'flag':
      return flag(world, command);
    case 'read':
    case 'clear':
      return raise(world, command);
    case 'deliver':
      return deliver(world, command);
    case 'skip':
      return skip(world, command);
    case 'clock':
      return world.moveClock(command.ms);
    case 'restart':
      return restart(world, command);
    case 'retain':
      return retain(world, command);
    case 'catchUp':
      return catchUp(world, command);
    case 'enumerate':
      return enumerate(world, command.limit);
  }
}

async function commit(world: World, ...requests: CommitRequest[]): Promise<void> {
  const outcomes = await world.commit(requests);
  for (const [i, outcome] of outcomes.entries()) await updateLists(world, requests[i], outcome);
}

/** What the write and delivery side do to the users' lists; some of it later. */
async function updateLists(world: World, request: CommitRequest | undefined, outcome: CommitOutcome | undefined): Promise<void> {
  if (request === undefined || outcome === undefined) return;
  const { tenantId, conversationId, change } = request;
  const { conversationSeq, committedAtMs, created } = outcome;
  const activity: Activity = { conversationSeq, activityAtMs: committedAtMs };
  const members = await world.model.messages.readMembers(tenantId, conversationId);
  const entriesOf = (userIds: readonly UserId[]) =>
    userIds.flatMap((userId) => {
      const entry = members.get(userId);
      return entry === undefined ? [] : [{ userId, joinedSeq: entry.joinedSeq, visibleFrom: entry.visibleFrom }];
    });
  const joined = entriesOf(created ? [...members.keys()] : change?.kind === 'join' ? change.userIds : []);
  const left = change?.kind === 'leave' ? change.userIds : [];
  await apply(world, conversationSeq, (directory) => directory.join(tenantId, conversationId, joined, activity));
  await apply(world, conversationSeq, (directory) => directory.leave(tenantId, conversationId, left, conversationSeq));
  await apply(world, conversationSeq, (directory) => directory.touch(tenantId, conversationId, [...members.keys()], activity));
}

async function apply(world: World, sequence: number, change: (directory: Directory) => Promise<unknown>): Promise<void> {
  if (sequence % PUT_OFF_ONE_IN === 0) world.waiting.push(change);
  else await world.ask('the list change', (store) => change(store.directory));
}

async function deliver(world: World, { reversed, twice }: Extract<Command, { kind: 'deliver' }>): Promise<void> {
  const changes = world.waiting.splice(0);
  if (reversed) changes.reverse();
  for (const change of twice ? [...changes, ...changes] : changes) {
    await world.ask('the list change that waited', (store) => change(store.directory));
  }
}

async function amend(world: World, command: Extract<Command, { kind: 'amend' }>): Promise<void> {
  const { chat, by, asAdmin, back, status, bytes, mentions, stale } = command;
  const conversationId = world.chat(chat);
  const sequence = await world.messageBack(chat, back);
  const present = await world.record(world.subject.store, conversationId, sequence);
  const target = stale ? world.formerly.get(`${conversationId} ${sequence}`) : present;
  // What the write side refuses before it comes to the store.
  if (target === undefined || (isErased(target.status) && target.status !== status)) return;
  const erasing = status !== MessageStatus.Edited;
  const request = {
    actor: await world.actor(chat, by),
    needs: asAdmin ? 'admin' : 'member',
    activityId: parseActivityId(uuidv7()),
    status,
    content: erasing ? ({ kind: 'none' } as const) : textOf(bytes),
    mentions: { userIds: erasing ? [] : mentions.map((user) => world.user(user)), all: false },
  } as const;
  await world.amend(request, conversationId, target);
}

async function react(world: World, { chat, by, back, emoji, on, stale }: Extract<Command, { kind: 'react' }>): Promise<void> {
  const conversationId = world.chat(chat);
  const sequence = await world.messageBack(chat, back);
  const present = await world.record(world.subject.store, conversationId, sequence);
  const target = stale ? world.formerly.get(`${conversationId} ${sequence}`) : present;
  // What the write side refuses before it comes to the store.
  if (target === undefined || isErased(target.status)) return;
  const actor = await world.actor(chat, by);
  await world.ask('the reaction', ({ messages }) => messages.react({ actor, target, emoji, on }));
}

async function raise(world: World, { kind, chat, user, back }: Extract<Command, { kind: 'read' } | { kind: 'clear' }>): Promise<void> {
  const conversationId = world.chat(chat);
  const upTo = seq(world.sequenceBack(chat, back));
  const { tenantId } = world;
  await world.ask(`the ${kind} mark`, ({ directory }) =>
    kind === 'read'
      ? directory.raiseRead(tenantId, world.user(user), conversationId, upTo)
      : directory.clear(tenantId, world.user(user), conversationId, upTo),
  );
}

/** At the head as the model has it: both are told the same. */
async function flag(world: World, { chat, user, flag: name, on }: Extract<Command, { kind: 'flag' }>): Promise<void> {
  const [conversationId, userId] = [world.chat(chat), world.user(user)];
  const { tenantId } = world;
  const { facts } = await world.model.messages.readConversation(tenantId, conversationId, userId);
  const head = { conversationSeq: seq(facts?.lastSequence ?? 0), activityAtMs: facts?.lastCommittedAtMs ?? 0 };
  await world.ask(`the flag ${name}`, ({ directory }) => directory.setFlags(tenantId, userId, conversationId, { [name]: on }, head));
}

async function skip(world: World, { chat, count }: Extract<Command, { kind: 'skip' }>): Promise<void> {
  const [tenantId, conversationId] = [world.tenantId, world.chat(chat)];
  if ((await world.head(conversationId)) === 0) return;
  await world.subject.skipSequences({ tenantId, conversationId }, count);
  world.model.testing.skipSequences(tenantId, conversationId, count);
}

async function restart(world: World, { during }: Extract<Command, { kind: 'restart' }>): Promise<void> {
  const { subject } = world;
  if (subject.restart === undefined) return;
  if (during === undefined) return subject.restart(async () => {});
  const request = await sayingRequest(world, during);
  await updateLists(world, request, await world.commitAcrossRestart(request));
}

async function retain(world: World, { chat, keepNewest, olderThanBack }: Extract<Command, { kind: 'retain' }>): Promise<void> {
  const conversationId = world.chat(chat);
  const sequences = world.model.testing.sequences(world.tenantId, conversationId);
  const named = olderThanBack === undefined ? undefined : sequences.at(-1 - olderThanBack);
  const record = named === undefined ? undefined : await world.record(world.model, conversationId, named);
  const policy = { keepNewest, olderThanMs: record?.committedAtMs };
  for (let steps = 0; steps < PAGES_MAX && (await world.retain(conversationId, policy)); steps += 1);
}

async function catchUp(world: World, command: Extract<Command, { kind: 'catchUp' }>): Promise<void> {
  const { chat, epochOff, back, cursorBack, limit } = command;
  const [tenantId, userId, conversationId] = [world.tenantId, world.user(command.user), world.chat(chat)];
  const { facts } = await world.model.messages.readConversation(tenantId, conversationId, userId);
  const view = await world.model.directory.view(tenantId, userId, conversationId);
  const start = {
    ...{ tenantId, userId, conversationId, limit },
    clearedSeq: view?.clearedSeq ?? seq(0),
    epoch: (facts?.epoch ?? 1) + epochOff,
    after: seq(world.sequenceBack(chat, back)),
    amendmentCursor: Math.max(0, (facts?.amendmentNumber ?? 0) - cursorBack),
  };
  let query: typeof start | undefined = start;
  for (let pages = 0; query !== undefined && pages < PAGES_MAX; pages += 1) {
    const asked: typeof start = query;
    let page: CatchUpPage | undefined;
    await world.ask('catching up', async ({ messages }) => {
      page = await messages.catchUp(asked);
      return page;
    });
    if (page?.kind !== 'page' || !page.hasMore) return;
    query = { ...asked, after: page.nextAfter, amendmentCursor: page.nextAmendmentCursor };
  }
}

/** Of the run's own conversations; a store shows them in any order, and may show one twice. */
async function enumerate(world: World, limit: number): Promise<void> {
  const named = async ({ messages }: Store) => {
    const found = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await messages.conversations(cursor, limit);
      for (const { tenantId, conversationId } of page.conversations) if (tenantId === world.tenantId) found.add(conversationId);
      cursor = page.next;
    } while (cursor !== undefined);
    return [...found].sort();
  };
  await world.ask('the conversations', named);
}

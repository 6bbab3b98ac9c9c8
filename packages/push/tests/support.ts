/** A delivery side over the reference store, with clocks that the test moves and devices that write down what they get. */
import {
  type Control,
  ControlKind,
  type ConversationId,
  ConversationKind,
  HistoryVisibility,
  MessageStatus,
  MessageType,
  parseActivityId,
  parseClientMessageId,
  parseConversationId,
  parseDeviceId,
  parseMessageId,
  parseTenantId,
  parseUserId,
  Role,
  type TenantId,
  type UserId,
} from '@qim/proto';
import { createPush, type EventSink, type Push, type PushDeps, type PushEvent } from '@qim/push';
import type { AmendRequest, CommitOutcome, CommitRequest, Store } from '@qim/store';
import { openMemoryStore } from '@qim/store/memory';
import { uuidv7 } from 'uuidv7';

export const T0 = parseTenantId(0);
export const T7 = parseTenantId(7);
export const ALICE = parseUserId('alice');
export const BOB = parseUserId('bob');
export const CAROL = parseUserId('carol');
export const G = parseConversationId('g_room');

/** Both clocks are this one. Waiting goes on when the test moves it. */
export class ManualTime {
  #nowMs = 1_700_000_000_000;
  readonly #waiting = new Set<{ atMs: number; wake: () => void }>();

  readonly now = (): number => this.#nowMs;

  readonly sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const wake = () => {
        this.#waiting.delete(entry);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const entry = { atMs: this.#nowMs + ms, wake };
      this.#waiting.add(entry);
      signal.addEventListener('abort', wake);
    });

  /** How many wait for the clock. */
  get sleepers(): number {
    return this.#waiting.size;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    for (const entry of [...this.#waiting].sort((a, b) => a.atMs - b.atMs)) {
      if (entry.atMs <= this.#nowMs) entry.wake();
    }
  }
}

export interface Device extends EventSink {
  readonly events: PushEvent[];
  /** A line for each event: its kind, and the sequence where it has one. */
  readonly lines: string[];
}

export function device(userId: UserId, deviceId?: string, tenantId: TenantId = T0): Device {
  const events: PushEvent[] = [];
  return {
    tenantId,
    userId,
    deviceId: deviceId === undefined ? undefined : parseDeviceId(deviceId),
    events,
    get lines() {
      return events.map(lineOf);
    },
    deliver: (event) => {
      events.push(event);
    },
  };
}

function lineOf(event: PushEvent): string {
  if (event.kind === 'messageCommitted' || event.kind === 'messageAmended') return `${event.kind} ${event.message.record.conversationSeq}`;
  if (event.kind === 'readAdvanced') return `${event.kind} ${event.readConversationSeq}`;
  return event.kind;
}

export type World = ReturnType<typeof openWorld>;

/** `over` replaces parts of what the delivery side is given; it is made from the store that the test commits to. */
export function openWorld(over: (deps: PushDeps) => Partial<PushDeps> = () => ({})) {
  const time = new ManualTime();
  return openWorldOn(openMemoryStore({ now: time.now }), time, over);
}

export function openWorldOn(store: Store, time: ManualTime, over: (deps: PushDeps) => Partial<PushDeps> = () => ({})) {
  const logged: string[] = [];
  const setAside: string[] = [];
  const log = {
    info: () => {},
    warn: (_: object, text: string) => logged.push(text),
    error: (_: object, text: string) => logged.push(text),
  };
  const own: PushDeps = {
    messages: store.messages,
    directory: store.directory,
    users: store.users,
    outbox: store.outbox,
    bus: store.bus,
    now: time.now,
    monotonicNow: time.now,
    ownerId: 'one',
    log,
    sleep: time.sleep,
    observer: { entrySetAside: (reason) => setAside.push(reason) },
  };
  const deps: PushDeps = { ...own, ...over(own) };
  const push: Push = createPush(deps);
  return {
    ...fillStore(store),
    store,
    time,
    push,
    deps,
    logged,
    setAside,
    connect: async (...devices: Device[]) => {
      for (const one of devices) await push.subscribe(one);
    },
    /** Resolves when nothing waits in the outbox. */
    drained: async () => {
      for (;;) {
        const { entries } = await store.outbox.backlog();
        if (entries === 0) return;
        await turns(1);
      }
    },
  };
}

/** Fills a store by commits alone: what follows them is the delivery's to do. */
export function fillStore(store: Store) {
  let sent = 0;

  async function commit(userId: UserId, part: Partial<CommitRequest> = {}) {
    sent += 1;
    return store.messages.commit({
      tenantId: T0,
      conversationId: G,
      sender: { userId, deviceId: undefined },
      clientMessageId: parseClientMessageId(`c${sent}`),
      messageId: parseMessageId(uuidv7()),
      activityId: parseActivityId(uuidv7()),
      type: MessageType.Text,
      content: { kind: 'text', text: `message ${sent}` },
      mentions: { userIds: [], all: false },
      replyTo: undefined,
      needs: 'post',
      ...part,
    });
  }

  const control = (userId: UserId, value: Control, part: Partial<CommitRequest> = {}) =>
    commit(userId, { type: MessageType.Control, content: { kind: 'control', control: value }, ...part });

  const change = (kind: 'join' | 'leave', controlKind: 2 | 3 | 4, by: UserId, userIds: readonly UserId[]) =>
    control(by, { kind: controlKind, userIds }, { change: { kind, userIds } });

  /** By the message's sender. */
  async function amend({ message }: CommitOutcome, part: Pick<AmendRequest, 'status' | 'content'>) {
    if (message === undefined) throw new Error('a fresh commit has its message');
    const activityId = parseActivityId(uuidv7());
    const mentions = { userIds: [], all: false };
    return store.messages.amend({
      actor: message.record.sender.userId,
      needs: 'member',
      target: message.record,
      activityId,
      mentions,
      ...part,
    });
  }

  return {
    commit,
    control,
    edit: (sent: CommitOutcome) => amend(sent, { status: MessageStatus.Edited, content: { kind: 'text', text: 'edited' } }),
    recall: (sent: CommitOutcome) => amend(sent, { status: MessageStatus.Recalled, content: { kind: 'none' } }),
    group: (
      owner: UserId,
      others: readonly UserId[],
      visibility: HistoryVisibility = HistoryVisibility.FromJoining,
      conversationId: ConversationId = G,
      tenantId: TenantId = T0,
    ) => {
      const userIds = [owner, ...others];
      const members = userIds.map((userId) => ({ userId, role: userId === owner ? Role.Owner : Role.Member }));
      const settings = { historyVisibility: visibility, onlyAdminsPost: false };
      const create = { kind: ConversationKind.Group, title: 'room', settings, members, onlyNew: true };
      return control(owner, { kind: ControlKind.Created, title: 'room', userIds }, { create, conversationId, tenantId });
    },
    add: (by: UserId, userIds: readonly UserId[]) => change('join', ControlKind.Joined, by, userIds),
    remove: (by: UserId, userId: UserId) => change('leave', ControlKind.Removed, by, [userId]),
    leave: (userId: UserId) => change('leave', ControlKind.Left, userId, [userId]),
    /** The list of a user as conversation ids, newest activity first. */
    listOf: async (userId: UserId, tenantId: TenantId = T0) =>
      (await store.directory.page(tenantId, userId, 100, undefined)).views.map((view) => view.conversationId),
  };
}

/** Lets everything that is ready run, and what becomes ready by it: the reference store answers without a timer. */
export async function turns(count = 50): Promise<void> {
  for (let n = 0; n < count; n += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Lets time go on, in steps that no lease is lost by, until the check passes. */
export async function eventually(clock: ManualTime, check: () => unknown): Promise<void> {
  for (let steps = 0; ; steps += 1) {
    clock.advance(1_000);
    await turns(5);
    try {
      await check();
      return;
    } catch (error) {
      if (steps > 300) throw error;
    }
  }
}

/** People who write, change groups and read on their phones, and a second device of each behind a bad line. */
import {
  type Caller,
  type ConversationId,
  HistoryVisibility,
  isQimError,
  MessageType,
  parseClientMessageId,
  parseConversationSeq,
  parseDeviceId,
  parseTenantId,
  parseUserId,
  RECALL_WINDOW_MS,
  Role,
  SEQ_ZERO,
  type TenantId,
} from '@qim/proto';
import type { Push, PushEvent } from '@qim/push';
import { type Session, startSession } from '@qim/session';
import type { Store } from '@qim/store';
import { createWriter, type Writer } from '@qim/writer';
import fc from 'fast-check';
import { uuidv7 } from 'uuidv7';
import { listAll, type Shown, SimulatedDevice, shownOf } from './simulated-device.js';

const PEOPLE = ['alice', 'bob', 'carol'] as const;
const HISTORY_PAGE = 50;
const EMOJI = ['\u{1F44D}', '+1'] as const;
const ROLES = [Role.Owner, Role.Admin, Role.Member] as const;
const UNCHANGED = { historyVisibility: undefined, onlyAdminsPost: undefined, readReceipts: undefined };

export type Act =
  | 'send'
  | 'sendDirect'
  | 'edit'
  | 'recall'
  | 'delete'
  | 'react'
  | 'unreact'
  | 'read'
  | 'add'
  | 'remove'
  | 'leave'
  | 'promote'
  | 'rename'
  | 'resync';

export interface Deed {
  readonly act: Act;
  readonly by: number;
  /** Another person, or how far before the newest. */
  readonly at: number;
  /** When the devices handle what came: once it is done, while it is done, or some time later. */
  readonly devices: 'after' | 'meanwhile' | 'later';
}

/** What becomes of a push; taken one after the other, again and again. */
export type Fate = 'once' | 'twice' | 'late' | 'lost';

export interface Story {
  readonly showsPast: boolean;
  readonly deeds: readonly Deed[];
  readonly fates: readonly Fate[];
}

export function stories(fates: readonly Fate[]): fc.Arbitrary<Story> {
  const act = fc.constantFrom<Act[]>(
    'send',
    'send',
    'send',
    'sendDirect',
    'edit',
    'recall',
    'delete',
    'react',
    'react',
    'unreact',
    'promote',
    'rename',
    'read',
    'add',
    'remove',
    'leave',
    'resync',
  );
  const devices = fc.constantFrom('after', 'meanwhile', 'later');
  const deed = fc.record({ act, by: fc.nat(PEOPLE.length - 1), at: fc.nat(4), devices }) as fc.Arbitrary<Deed>;
  return fc.record({
    showsPast: fc.boolean(),
    deeds: fc.array(deed, { minLength: 1, maxLength: 25, size: 'max' }),
    fates: fc.array(fc.constantFrom(...fates), { minLength: 1, maxLength: 12, size: 'max' }),
  });
}

export interface Backing {
  readonly store: Store;
  readonly push: Push;
  readonly now: () => number;
  /** Resolves when what was committed has been delivered. */
  readonly drained: () => Promise<void>;
}

/** A line that loses, doubles and delays, by its fates. */
class Line {
  readonly device: SimulatedDevice;
  readonly #fates: readonly Fate[];
  readonly #late: PushEvent[] = [];
  #count = 0;

  constructor(device: SimulatedDevice, fates: readonly Fate[]) {
    this.device = device;
    this.#fates = fates;
  }

  deliver(event: PushEvent): void {
    const fate = this.#fates[this.#count % this.#fates.length];
    this.#count += 1;
    if (fate === 'lost') return;
    if (fate === 'late') {
      this.#late.push(event);
      return;
    }
    this.device.deliver(event);
    if (fate === 'twice') this.device.deliver(event);
    if (this.#late.length > 1) this.flush();
  }

  /** What is late comes, the last first. */
  flush(): void {
    for (const event of this.#late.splice(0).reverse()) this.device.deliver(event);
  }
}

export class DeviceWorld {
  readonly #backing: Backing;
  readonly #tenantId: TenantId;
  readonly #session: Session;
  readonly #writer: Writer;
  readonly #lines: readonly Line[];
  #ends: (() => void)[] = [];
  #group: ConversationId | undefined;

  /** `tenant`: of its own for each story, so that stories share a store. */
  constructor(backing: Backing, tenant: number, fates: readonly Fate[]) {
    const { store, push, now } = backing;
    this.#backing = backing;
    this.#tenantId = parseTenantId(tenant);
    const announceRead: Push['announceRead'] = (...args) => push.announceRead(...args);
    this.#session = startSession(store, {
      announceRead,
      announceChange: () => {},
      announceTyping: () => {},
      announceSuspended: () => {},
      now,
      newId: uuidv7,
    });
    const { messages, directory, users } = store;
    const deps = { messages, directory, users, now, newId: uuidv7, announceRead, recallWindowMs: RECALL_WINDOW_MS };
    this.#writer = createWriter({ ...deps, directMessages: () => 'anyone' });
    this.#lines = PEOPLE.map((name) => new Line(new SimulatedDevice(this.#session, this.#tenantId, parseUserId(name)), fates));
  }

  async play({ showsPast, deeds }: Story): Promise<void> {
    for (const line of this.#lines) {
      const { tenantId, userId, deviceId } = line.device;
      this.#ends.push(await this.#backing.push.subscribe({ tenantId, userId, deviceId, deliver: (event) => line.deliver(event) }));
    }
    const historyVisibility = showsPast ? HistoryVisibility.All : HistoryVisibility.FromJoining;
    const made = {
      clientRequestId: undefined,
      title: 'room',
      memberIds: [this.#caller(1).userId],
      historyVisibility,
      onlyAdminsPost: false,
      readReceipts: false,
    };
    this.#group = await this.#writer.createGroup(this.#caller(0), made);
    for (const deed of deeds) {
      await Promise.all([this.#do(deed), ...(deed.devices === 'meanwhile' ? this.#settle() : [])]);
      await this.#backing.drained();
      if (deed.devices === 'after') await Promise.all(this.#settle());
    }
    await this.#backing.drained();
    for (const line of this.#lines) line.flush();
    await Promise.all(this.#settle());
  }

  /** As after a reconnect. */
  async resync(): Promise<void> {
    for (const { device } of this.#lines) device.deliver({ kind: 'resyncNeeded' });
    await Promise.all(this.#settle());
  }

  end(): void {
    for (const end of this.#ends.splice(0)) end();
  }

  /** For each device what it shows, and what one shows that fetches anew; both of the same form. */
  async views(): Promise<readonly { readonly who: string; readonly shown: unknown; readonly fresh: unknown }[]> {
    return Promise.all(
      this.#lines.map(async ({ device }) => {
        const listed = await listAll(this.#session, device.caller);
        const byId = [...listed].sort((a, b) => (a.conversationId < b.conversationId ? -1 : 1));
        const histories = await Promise.all(byId.map(({ conversationId }) => this.#history(device.caller, conversationId)));
        const fresh = byId.map((entry, i) => ({ entry, messages: histories[i] }));
        const shown = [...device.entries.values()]
          .sort((a, b) => (a.conversationId < b.conversationId ? -1 : 1))
          .map((entry) => {
            // What was seen in an earlier membership may stay with the device; a fresh fetch does not have it.
            const first =
              histories[byId.findIndex(({ conversationId }) => conversationId === entry.conversationId)]?.[0]?.record.conversationSeq ?? 0;
            return { entry, messages: device.messages(entry.conversationId).filter(({ record }) => record.conversationSeq >= first) };
          });
        return { who: device.userId, shown, fresh };
      }),
    );
  }

  #settle(): Promise<void>[] {
    return this.#lines.map(({ device }) => device.settle());
  }

  #caller(person: number): Caller {
    const userId = parseUserId(PEOPLE[person % PEOPLE.length] ?? PEOPLE[0]);
    return { tenantId: this.#tenantId, userId, deviceId: parseDeviceId('phone'), admin: false };
  }

  async #history(caller: Caller, conversationId: ConversationId): Promise<readonly Shown[]> {
    const all: Shown[] = [];
    for (let hasMore = true; hasMore; ) {
      const position = { after: all.at(-1)?.record.conversationSeq ?? SEQ_ZERO };
      const page = await this.#session.readHistory(caller, { conversationId, position, limit: HISTORY_PAGE });
      all.push(...page.messages.map(shownOf));
      hasMore = page.hasMore;
    }
    return all;
  }

  /** What is refused is refused: no deed needs to be possible. */
  async #do(deed: Deed): Promise<void> {
    try {
      await this.#try(deed, this.#caller(deed.by));
    } catch (error) {
      if (!isQimError(error)) throw error;
    }
  }

  async #try({ act, by, at }: Deed, caller: Caller): Promise<unknown> {
    const group = this.#group;
    if (group === undefined) throw new Error('the group is made first');
    const other = this.#caller(at).userId;
    switch (act) {
      case 'send':
        return this.#send(caller, { conversationId: group });
      case 'sendDirect':
        return this.#send(caller, { toUserId: this.#caller(by + 1).userId });
      case 'read': {
        const head = (await this.#history(caller, group)).at(-1)?.record.conversationSeq ?? SEQ_ZERO;
        return this.#session.markRead(caller, group, parseConversationSeq(Math.max(0, head - at)));
      }
      case 'edit':
      case 'recall':
      case 'delete':
        return this.#amend(act, caller, group, at);
      case 'react':
      case 'unreact':
        return this.#react(act === 'react', caller, group, at);
      case 'promote':
        return this.#writer.setRole(caller, group, other, ROLES[by % ROLES.length] ?? Role.Member);
      case 'rename':
        return this.#writer.updateConversation(caller, { conversationId: group, title: `room ${at}`, settings: UNCHANGED });
      case 'add':
        return this.#writer.addMembers(caller, group, [other]);
      case 'remove':
        return this.#writer.removeMember(caller, group, other);
      case 'leave':
        return this.#writer.leaveGroup(caller, group);
      case 'resync':
        return this.#lines[by]?.device.deliver({ kind: 'resyncNeeded' });
    }
  }

  #send(caller: Caller, target: Parameters<Writer['sendMessage']>[1]['target']): Promise<unknown> {
    return this.#writer.sendMessage(caller, {
      target,
      clientMessageId: parseClientMessageId(uuidv7()),
      type: MessageType.Text,
      content: { kind: 'text', text: 'said' },
      mentionUserIds: [],
      mentionAll: false,
      replyTo: undefined,
      readConversationSeq: SEQ_ZERO,
    });
  }

  async #react(on: boolean, caller: Caller, conversationId: ConversationId, back: number): Promise<unknown> {
    const said = (await this.#history(caller, conversationId)).filter(({ record }) => record.type !== MessageType.Control);
    const target = said.at(-1 - back)?.record;
    if (target === undefined) return undefined;
    const { conversationSeq, messageId } = target;
    const emoji = EMOJI[back % EMOJI.length] ?? '';
    return this.#writer.setReaction(caller, { conversationId, conversationSeq, messageId, emoji, on });
  }

  async #amend(act: 'edit' | 'recall' | 'delete', caller: Caller, conversationId: ConversationId, back: number): Promise<unknown> {
    const all = (await this.#history(caller, conversationId)).map(({ record }) => record);
    const own = all.filter((record) => record.sender.userId === caller.userId);
    const target = own.filter(({ type }) => type !== MessageType.Control).at(-1 - back);
    if (target === undefined) return undefined;
    const { conversationSeq, messageId } = target;
    const ref = { conversationId, conversationSeq, messageId };
    if (act === 'recall') return this.#writer.recallMessage(caller, ref);
    if (act === 'delete') return this.#writer.deleteMessage(caller, ref);
    return this.#writer.editMessage(caller, { ...ref, content: { kind: 'text', text: uuidv7() }, mentionUserIds: [], mentionAll: true });
  }
}

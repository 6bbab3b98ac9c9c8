/**
 * Who is online, told to those who share a direct conversation with them. Nothing is stored: it follows from the devices
 * that come and go here, and from what other processes say of theirs.
 *
 * A user who comes, with a further device too, is announced, and asks to be answered: whoever is online says so. One who stays is announced again every
 * PRESENCE_REFRESH_MS; a device that hears nothing for PRESENCE_EXPIRY_MS takes the user as offline, as when a process
 * dies. One whose last device here is gone for PRESENCE_GRACE_MS asks the other processes for devices of theirs, and is
 * announced as offline when none answers. docs/decisions/0016 has the reasons.
 */
import {
  isDirectConversationId,
  LIST_PAGE_SIZE_MAX,
  PRESENCE_ANSWER_MS,
  PRESENCE_GRACE_MS,
  PRESENCE_REFRESH_MS,
  type TenantId,
  type UserId,
} from '@qim/proto';
import type { EventSink, PushEvent } from './contract.js';
import type { EventBus, PushDeps } from './ports.js';

type PresenceDeps = Pick<PushDeps, 'messages' | 'directory' | 'users' | 'sleep' | 'log'> & { readonly bus: EventBus };
type PresenceEvent = Extract<PushEvent, { kind: 'presence' }>;

/** A user with a device here, or whose last one went a moment ago. */
interface Here {
  readonly tenantId: TenantId;
  readonly userId: UserId;
  devices: number;
  /** Who is told; at most LIST_PAGE_SIZE_MAX. */
  audience: readonly UserId[];
  /** Another process said that the user has a device there. */
  elsewhere: boolean;
  /** Ends the announcements. */
  readonly life: AbortController;
  /** Ends the wait after the last device went. */
  leaving: AbortController | undefined;
  /** Settles when what other processes say of the user is heard; undefined: not asked for, or it failed. */
  listening: Promise<void> | undefined;
  /** Ends it. */
  unlisten: () => void;
}

export class Presence {
  readonly #deps: PresenceDeps;
  readonly #here = new Map<string, Here>();

  constructor(deps: PresenceDeps) {
    this.#deps = deps;
  }

  /** Subscribes a device to the bus, and tells that its user is there for as long. @throws StoreUnavailable */
  async subscribe(sink: EventSink): Promise<() => void> {
    const { tenantId, userId, deviceId } = sink;
    // What is said of oneself is between processes.
    const deliver: EventSink['deliver'] = (event) => {
      if (event.kind !== 'presence' || event.userId !== userId) sink.deliver(event);
    };
    const end = await this.#deps.bus.subscribe({ tenantId, userId, deviceId, deliver });
    const gone = this.#came(tenantId, userId);
    return () => {
      end();
      gone();
    };
  }

  /** The function is called when the device has gone; again it does nothing. */
  #came(tenantId: TenantId, userId: UserId): () => void {
    const key = `${tenantId} ${userId}`;
    const held = this.#here.get(key);
    const here = held ?? this.#begin(key, tenantId, userId);
    // A further device, or a page loaded anew within the grace, knows of nobody yet.
    if (held !== undefined) void this.#tell(held, true);
    here.devices += 1;
    here.leaving?.abort();
    let gone = false;
    return () => {
      if (gone) return;
      gone = true;
      here.devices -= 1;
      if (here.devices === 0 && !here.life.signal.aborted) void this.#leave(key, here);
    };
  }

  /** With a device in this process. */
  isHere(tenantId: TenantId, userId: UserId): boolean {
    return (this.#here.get(`${tenantId} ${userId}`)?.devices ?? 0) > 0;
  }

  /** Tells of those whose devices have gone, and will not come back here. */
  stop(): void {
    for (const here of this.#here.values()) this.#end(here);
    this.#here.clear();
  }

  #begin(key: string, tenantId: TenantId, userId: UserId): Here {
    const life = new AbortController();
    const here: Here = {
      tenantId,
      userId,
      devices: 0,
      audience: [],
      elsewhere: false,
      life,
      leaving: undefined,
      listening: undefined,
      unlisten: () => {},
    };
    this.#here.set(key, here);
    void this.#live(here);
    return here;
  }

  async #live(here: Here): Promise<void> {
    const { signal } = here.life;
    let ask = true;
    while (!signal.aborted) {
      if (await this.#tell(here, ask)) ask = false;
      await this.#deps.sleep(PRESENCE_REFRESH_MS, signal);
    }
  }

  /** To those who share a direct conversation now. `ask`: who of them is there answers. False: it failed. */
  async #tell(here: Here, ask: boolean): Promise<boolean> {
    const { tenantId, userId, life } = here;
    const { bus, log } = this.#deps;
    try {
      here.listening ??= this.#listen(here).catch((error: unknown) => {
        here.listening = undefined;
        throw error;
      });
      await here.listening;
      here.audience = await this.#audienceOf(tenantId, userId);
      if (!life.signal.aborted) bus.announce(telling(here, here.audience, { online: true, ask }));
      return true;
    } catch (error) {
      log.warn({ err: error }, 'a presence was not told');
      return false;
    }
  }

  async #listen(here: Here): Promise<void> {
    const { tenantId, userId } = here;
    const deliver = (event: PushEvent) => {
      if (event.kind === 'presence') this.#heard(here, event);
    };
    const unlisten = await this.#deps.bus.subscribe({ tenantId, userId, deviceId: undefined, deliver });
    if (here.life.signal.aborted) unlisten();
    else here.unlisten = unlisten;
  }

  #heard(here: Here, { userId, online, ask }: PresenceEvent): void {
    const { bus } = this.#deps;
    const own = userId === here.userId;
    if (own && online) here.elsewhere = true;
    if (here.devices === 0) return;
    // Another process lost its last device of this user, who still has one here: only that process asks.
    if (own && !online) bus.announce(telling(here, ask ? [userId] : [...here.audience, userId], { online: true, ask: false }));
    if (!own && online && ask && here.audience.includes(userId)) bus.announce(telling(here, [userId], { online: true, ask: false }));
  }

  async #leave(key: string, here: Here): Promise<void> {
    const { sleep, bus } = this.#deps;
    here.leaving = new AbortController();
    const { signal } = here.leaving;
    await sleep(PRESENCE_GRACE_MS, signal);
    if (signal.aborted || here.life.signal.aborted) return;
    here.elsewhere = false;
    bus.announce(telling(here, [here.userId], { online: false, ask: true }));
    await sleep(PRESENCE_ANSWER_MS, signal);
    if (signal.aborted || here.life.signal.aborted) return;
    this.#here.delete(key);
    if (here.elsewhere) here.audience = [];
    this.#end(here);
  }

  #end(here: Here): void {
    here.leaving?.abort();
    here.life.abort();
    here.unlisten();
    if (here.audience.length === 0) return;
    // One after the other: whoever corrects it, because the user has a device there, is then heard last.
    for (const userIds of [here.audience, [here.userId]]) this.#deps.bus.announce(telling(here, userIds, { online: false, ask: false }));
  }

  /** The others of the direct conversations at the top of the list, without those whom the user has blocked. Cost: 2. */
  async #audienceOf(tenantId: TenantId, userId: UserId): Promise<readonly UserId[]> {
    const { directory, messages, users } = this.#deps;
    const [{ views }, blocked] = await Promise.all([
      directory.page(tenantId, userId, LIST_PAGE_SIZE_MAX, undefined),
      users.blocked(tenantId, userId),
    ]);
    const read = await Promise.all(
      views.map(async ({ conversationId }) => {
        if (!isDirectConversationId(conversationId)) return [];
        const { facts, member } = await messages.readConversation(tenantId, conversationId, userId);
        return facts === undefined || member === undefined ? [] : facts.pair;
      }),
    );
    const others = new Set(read.flat());
    others.delete(userId);
    for (const one of blocked) others.delete(one);
    return [...others];
  }
}

function telling({ tenantId, userId }: Here, userIds: readonly UserId[], { online, ask }: Pick<PresenceEvent, 'online' | 'ask'>) {
  return { tenantId, userIds, event: { kind: 'presence', userId, online, ask }, except: undefined } as const;
}

/**
 * Which users have no device connected anywhere. Nothing is stored of that: other processes are asked over the bus, as
 * presence does (docs/decisions/0016), and who does not answer in time is away. A user who was found away is not asked for
 * again for a moment: one who came meanwhile gets a notification that was not needed, and misses none that was.
 */
import { AWAY_REMEMBERED_MAX, AWAY_REMEMBERED_MS, PRESENCE_ANSWER_MS, type TenantId, type UserId } from '@qim/proto';
import type { EventSink } from '../contract.js';
import type { EventBus, PushDeps } from '../ports.js';

type AwayDeps = Pick<PushDeps, 'sleep' | 'monotonicNow'> & {
  readonly bus: EventBus;
  /** The user has a device in this process. */
  readonly isHere: (tenantId: TenantId, userId: UserId) => boolean;
};

export class Away {
  readonly #deps: AwayDeps;
  /** By our clock: until when a user counts as away without being asked for. */
  readonly #untilMs = new Map<string, number>();

  constructor(deps: AwayDeps) {
    this.#deps = deps;
  }

  /** Cost: none for one process alone; else the subscriptions at once, and PRESENCE_ANSWER_MS. @throws StoreUnavailable */
  async among(tenantId: TenantId, userIds: readonly UserId[], signal: AbortSignal): Promise<readonly UserId[]> {
    const { bus, isHere, monotonicNow } = this.#deps;
    const absent = userIds.filter((userId) => !isHere(tenantId, userId));
    const elsewhere = new Set(bus.connected(tenantId, absent));
    const asked = absent.filter((id) => elsewhere.has(id) && (this.#untilMs.get(`${tenantId} ${id}`) ?? 0) <= monotonicNow());
    if (asked.length === 0) return absent;
    const heard = await this.#ask(tenantId, asked, signal);
    if (this.#untilMs.size + asked.length > AWAY_REMEMBERED_MAX) this.#untilMs.clear();
    for (const id of asked) if (!heard.has(id)) this.#untilMs.set(`${tenantId} ${id}`, monotonicNow() + AWAY_REMEMBERED_MS);
    return absent.filter((userId) => !heard.has(userId));
  }

  /** Those of whom a process says that they are there. */
  async #ask(tenantId: TenantId, userIds: readonly UserId[], signal: AbortSignal): Promise<ReadonlySet<UserId>> {
    const { bus, sleep } = this.#deps;
    const heard = new Set<UserId>();
    const ends: (() => void)[] = [];
    const ask = async (userId: UserId): Promise<void> => {
      const deliver: EventSink['deliver'] = (event) => {
        if (event.kind === 'presence' && event.userId === userId && event.online) heard.add(userId);
      };
      ends.push(await bus.subscribe({ tenantId, userId, deviceId: undefined, deliver }));
      bus.announce({ tenantId, userIds: [userId], event: { kind: 'presence', userId, online: false, ask: true }, except: undefined });
    };
    try {
      // Each is waited for, so that none of them stays behind when one fails.
      for (const asked of await Promise.allSettled(userIds.map(ask))) if (asked.status === 'rejected') throw asked.reason;
      await sleep(PRESENCE_ANSWER_MS, signal);
    } finally {
      for (const end of ends) end();
    }
    return heard;
  }
}

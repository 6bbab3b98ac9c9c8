/**
 * Tabs of one browser that share a storage, told apart by Web Locks: each holds one of its own for as long as it lives, and one
 * of them the lock of the one that leads. Words go over a BroadcastChannel.
 */
import type { TabMessage, Tabs } from './storage.js';

export interface TabsOptions {
  readonly name: string;
  readonly tabId: string;
  readonly locks: Pick<LockManager, 'request' | 'query'>;
  readonly channel: BroadcastChannel;
}

export interface OpenTabs extends Tabs {
  close(): void;
}

/** Resolves once it is known whether this one leads. */
export async function openTabs({ name, tabId, locks, channel }: TabsOptions): Promise<OpenTabs> {
  const ends: (() => void)[] = [];
  const listeners = new Set<(message: TabMessage) => void>();
  const leading: (() => void)[] = [];
  let leads = false;
  let closed = false;
  const held = (): Promise<void> => (closed ? Promise.resolve() : new Promise((resolve) => ends.push(resolve)));
  const lead = (): Promise<void> => {
    if (closed) return Promise.resolve();
    leads = true;
    for (const run of leading.splice(0)) run();
    return held();
  };
  channel.onmessage = (event: MessageEvent<TabMessage>) => {
    for (const listener of [...listeners]) listener(event.data);
  };
  await new Promise<void>((resolve) => {
    void locks.request(lockOf(name, tabId), () => {
      resolve();
      return held();
    });
  });
  await new Promise<void>((resolve) => {
    void locks.request(`${name}/leads`, { ifAvailable: true }, (lock) => {
      const holding = lock === null ? undefined : lead();
      // Later, when whoever leads has ended.
      if (lock === null) void locks.request(`${name}/leads`, lead);
      resolve();
      return holding;
    });
  });
  return {
    tabId,
    leads: () => leads,
    onLead: (run) => {
      if (leads) run();
      else leading.push(run);
    },
    alive: async (tabIds) => {
      const names = new Set(((await locks.query()).held ?? []).map((lock) => lock.name));
      return new Set(tabIds.filter((id) => names.has(lockOf(name, id))));
    },
    post: (message) => channel.postMessage(message),
    onMessage: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => {
      closed = true;
      leads = false;
      leading.length = 0;
      for (const end of ends.splice(0)) end();
      channel.close();
    },
  };
}

function lockOf(name: string, tabId: string): string {
  return `${name}/tab/${tabId}`;
}

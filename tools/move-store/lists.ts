/** What every user's list says, so that two stores can be compared; and the built command, with what it took. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LEGACY_TENANT_ID, LIST_PAGE_SIZE_MAX, parseUserId, type UserId } from '@qim/proto';
import type { DirectoryCursor, Store } from '@qim/store';
import type { StoreLocation } from '@qim/store/testing';

const QIM = fileURLToPath(new URL('../../packages/cli/bin/qim.js', import.meta.url));
const SAMPLE_MS = 20;

export interface Lists {
  /** That have something in their list. */
  readonly users: number;
  readonly unread: number;
  /** By user and place in the list: all that a list shows of the conversation but its epoch. */
  readonly summaries: ReadonlyMap<string, string>;
}

/** Of user-0 and on. */
export async function listsOf(store: Store, users: number): Promise<Lists> {
  const summaries = new Map<string, string>();
  let [found, unread] = [0, 0];
  for (let i = 0; i < users; i += 1) {
    const entries = await listOf(store, parseUserId(`user-${i}`));
    if (entries.length > 0) found += 1;
    for (const [place, entry] of entries.entries()) {
      unread += entry.unread;
      summaries.set(`user-${i} ${place}`, entry.shown);
    }
  }
  return { users: found, unread, summaries };
}

async function listOf(store: Store, userId: UserId): Promise<readonly { readonly unread: number; readonly shown: string }[]> {
  const entries: { unread: number; shown: string }[] = [];
  let cursor: DirectoryCursor | undefined;
  do {
    const { views, next } = await store.directory.page(LEGACY_TENANT_ID, userId, LIST_PAGE_SIZE_MAX, cursor);
    const states = views.map(({ conversationId, readSeq }) => ({ conversationId, watermark: readSeq }));
    const summaries = await store.messages.conversationSummaries(LEGACY_TENANT_ID, userId, states);
    const readings = await store.messages.readConversations(LEGACY_TENANT_ID, userId, states);
    for (const [i, view] of views.entries()) {
      const [summary, reading] = [summaries[i], readings[i]];
      entries.push({ unread: summary?.unreadCount ?? 0, shown: JSON.stringify([view, summary, reading], withoutEpoch) });
    }
    cursor = next;
  } while (cursor !== undefined);
  return entries;
}

/** An import begins new ones. */
function withoutEpoch(name: string, value: unknown): unknown {
  return name === 'epoch' ? undefined : value;
}

/** What differs, in words. */
export function moved(before: Lists, after: Lists): readonly string[] {
  const names = new Set([...before.summaries.keys(), ...after.summaries.keys()]);
  return [...names].flatMap((name) => {
    const [was, is] = [before.summaries.get(name), after.summaries.get(name)];
    return was === is ? [] : [`${name}: was ${was}, is ${is}`];
  });
}

export interface Ran {
  readonly said: string;
  readonly seconds: number;
  /** The greatest resident memory that is the process's own. */
  readonly peakMb: number;
}

/** @throws when it ends with anything but 0 */
export async function qim(command: string, { store, data }: StoreLocation, ...more: readonly string[]): Promise<Ran> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [QIM, command, '--store', store, '--data', data, ...more], { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed: Promise<readonly unknown[]> = once(child, 'close');
  const done = new AbortController();
  const sampling = peakOf(child.pid, done.signal);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  done.abort();
  if (code !== 0) throw new Error(`qim ${command} ended with ${String(code)}: ${err}`);
  return { said: out.trim(), seconds: Math.round((performance.now() - startedAt) / 100) / 10, peakMb: Math.round(await sampling) };
}

async function peakOf(pid: number | undefined, signal: AbortSignal): Promise<number> {
  let peak = 0;
  while (!signal.aborted) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    peak = Math.max(peak, Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
    await wait(SAMPLE_MS, undefined, { signal }).catch(() => {});
  }
  return peak;
}

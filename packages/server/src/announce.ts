/** What a server prints at its start. Standard output carries these lines and no others; the ready line is the last. */
import type { AckDurability } from '@qim/proto';
import type { Store } from '@qim/store';

type StoreWorth = Pick<Store, 'description' | 'ackDurability' | 'ackReplicas'>;

const WORTH: Readonly<Record<AckDurability, string>> = {
  synced: 'an acknowledged message is on disk and survives a crash and a power loss',
  everysec: 'an acknowledged message survives a crash of this server; a crash of Redis or its machine may lose the last second',
  memory: 'an acknowledged message is in memory only: a restart of Redis loses it',
};

/** `synced: an acknowledged message …`. */
export function worthOf(ackDurability: AckDurability): string {
  return `${ackDurability}: ${WORTH[ackDurability]}`;
}

export function startLines({ description, ackDurability, ackReplicas }: StoreWorth): readonly string[] {
  const wanted = ackReplicas?.wanted ?? 0;
  const replicas = wanted === 0 ? [] : [`replicas: an acknowledged message is with ${wanted} of them as well, in memory at least`];
  return [`store: ${description}`, `acknowledgement: ${worthOf(ackDurability)}`, ...replicas];
}

/** For standard error, and loud: nothing will be acknowledged. Empty when there are enough. */
export function replicaWarning(ackReplicas: Store['ackReplicas']): readonly string[] {
  if (ackReplicas === undefined || ackReplicas.seen >= ackReplicas.wanted) return [];
  const { wanted, seen } = ackReplicas;
  return [
    `!!! WARNING: --ack-replicas ${wanted}, and a primary has ${seen} replicas.`,
    '!!! NOTHING is acknowledged there until it has enough of them: every send fails with STORE_UNAVAILABLE.',
  ];
}

export const DEV_BANNER: readonly string[] = [
  '*** --dev: for trying qim out on this machine, never for real people.',
  '*** Anyone who reaches this port may sign in under any name, without a password.',
];

/** For standard error, and loud. */
export const MEMORY_WARNING: readonly string[] = [
  '!!! WARNING: this Redis keeps nothing on disk.',
  '!!! Acknowledged messages are LOST when it restarts. Turn on appendonly (appendfsync always or everysec),',
  '!!! or start with --require-durable to refuse such a store.',
];

export function readyLine(url: string): string {
  return `qim ready at ${url}`;
}

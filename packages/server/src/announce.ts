/** What a server prints at its start. Standard output carries these lines and no others; the ready line is the last. */
import type { AckDurability } from '@qim/proto';

const WORTH: Readonly<Record<AckDurability, string>> = {
  synced: 'an acknowledged message is on disk and survives a crash and a power loss',
  everysec: 'an acknowledged message survives a crash of this server; a crash of Redis or its machine may lose the last second',
  memory: 'an acknowledged message is in memory only: a restart of Redis loses it',
};

/** `synced: an acknowledged message …`. */
export function worthOf(ackDurability: AckDurability): string {
  return `${ackDurability}: ${WORTH[ackDurability]}`;
}

export function startLines(description: string, ackDurability: AckDurability): readonly string[] {
  return [`store: ${description}`, `acknowledgement: ${worthOf(ackDurability)}`];
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

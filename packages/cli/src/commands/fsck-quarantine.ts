/** `qim fsck --quarantine`: what repairs have put aside. */
import type { Quarantined, StoreScanner, VerifyOptions } from '@qim/store/verify';
import { EXIT_DONE } from '../command.js';

/** Bytes are printed in JSON alone: they may be content of messages. */
export async function listQuarantine(
  scanner: StoreScanner,
  { tenantId, conversationId }: Pick<VerifyOptions, 'tenantId' | 'conversationId'>,
  json: boolean,
  out: (line: string) => void,
): Promise<number> {
  let count = 0;
  for await (const { found } of scanner.quarantine({ tenantId, id: conversationId })) {
    for (const item of found) {
      count += 1;
      out(json ? JSON.stringify(jsonOf(item)) : textOf(item));
    }
  }
  if (!json) out(`${count} put aside`);
  return EXIT_DONE;
}

function jsonOf({ bytes, conversationSeq, userId, ...item }: Quarantined): Readonly<Record<string, unknown>> {
  return { ...item, conversationSeq: conversationSeq ?? null, userId: userId ?? null, bytes: bytes?.toString('base64') ?? null };
}

function textOf({ atMs, tenantId, conversationId, conversationSeq, userId, was, code, bytes }: Quarantined): string {
  const at = conversationSeq === undefined ? '' : `, sequence ${conversationSeq}`;
  const whose = userId === undefined ? '' : `, user ${userId}`;
  const size = bytes === undefined ? 'unreadable' : `${bytes.length} bytes`;
  return `${new Date(atMs).toISOString()} tenant ${tenantId}, ${conversationId}${at}${whose}: ${was} (${code}), ${size}`;
}

/**
 * A new epoch for everything, after a restore: the store looks like the one that the backup was taken from, so only who
 * restored it knows that what was acknowledged since is lost.
 */
import { parseConversationSeq, SEQ_MAX, SEQUENCES_SKIPPED_AFTER_LOSS } from '@qim/proto';
import type { StoredFacts } from '../message/facts.js';
import type { StoreMender } from './mender.js';
import type { StoreScanner } from './scanner.js';

export interface NewEpochs {
  /** conversations: each has come into it; partitions: each of their conversations does with its next write. */
  readonly of: 'conversations' | 'partitions';
  readonly begun: number;
  /** Conversations whose facts cannot be read: they must be repaired first. */
  readonly left: number;
}

/** `now`: Unix milliseconds. The embedded store must not be served meanwhile. @throws StoreUnavailable */
export async function beginNewEpochs(scanner: StoreScanner, mender: StoreMender, now: () => number): Promise<NewEpochs> {
  if (mender.forgetServers !== undefined) return { of: 'partitions', begun: await mender.forgetServers(), left: 0 };
  let [begun, left] = [0, 0];
  for await (const { found } of scanner.conversations({ tenantId: undefined, id: undefined })) {
    for (const place of found) {
      const { facts, guard } = await scanner.conversation(place).facts();
      const changed =
        typeof facts === 'object' &&
        (await mender.mendConversation(place, { facts, guard, values: [] }, [{ kind: 'facts', facts: inNewEpoch(facts, now()) }]));
      if (changed) begun += 1;
      else left += 1;
    }
    await scanner.rest();
  }
  return { of: 'conversations', begun, left };
}

function inNewEpoch(facts: StoredFacts, nowMs: number): StoredFacts {
  const skipped = Math.min(SEQ_MAX, facts.lastSequence + SEQUENCES_SKIPPED_AFTER_LOSS);
  return {
    ...facts,
    epoch: Math.max(facts.epoch + 1, nowMs),
    reservedThrough: parseConversationSeq(Math.max(facts.reservedThrough, skipped)),
  };
}

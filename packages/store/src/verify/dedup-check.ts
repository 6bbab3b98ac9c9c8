/** De-duplication entries against the records that they name. */

import { utf8 } from '../message/bytes.js';
import { decodeHeader } from '../message/codec.js';
import { type DedupEntry, decodeDedupEntry } from '../message/dedup-entry.js';
import type { StoredFacts } from '../message/facts.js';
import { findingAt, nameOf } from './context.js';
import type { FindingCode } from './finding.js';
import type { Problem } from './mender.js';
import type { ConversationScan, StoredDedup } from './scanner.js';

interface Named {
  readonly stored: StoredDedup;
  readonly entry: DedupEntry | 'dedupUnreadable';
}

/**
 * A page of entries. `replaced`: records that get others in their place; their entries go when that is done. `factsNow` is asked after the records were read: what retention has removed since is no fault, and
 * an entry may outlive its record.
 */
export async function checkDedup(
  scan: ConversationScan,
  page: readonly StoredDedup[],
  replaced: ReadonlySet<number>,
  factsNow: () => Promise<StoredFacts | undefined>,
): Promise<Problem[]> {
  const named = page.map((stored): Named => ({ stored, entry: decodeDedupEntry(stored.bytes) }));
  const sequences = [...new Set(named.flatMap(({ entry }) => (typeof entry === 'string' ? [] : [entry.conversationSeq])))];
  const records = new Map((await scan.records(sequences)).map((record, i) => [sequences[i], record]));
  const suspects = named.flatMap((one) => {
    const code = faultOf(one, typeof one.entry === 'string' ? undefined : records.get(one.entry.conversationSeq));
    return code === undefined ? [] : [{ ...one, code }];
  });
  if (suspects.length === 0) return [];
  const facts = await factsNow();
  return suspects
    .filter(({ entry }) => typeof entry === 'string' || !replaced.has(entry.conversationSeq))
    .filter(({ entry }) => typeof entry === 'string' || facts === undefined || entry.conversationSeq >= facts.retainedFrom)
    .map(({ stored, entry, code }) => problemOf(scan, stored, entry, code));
}

function faultOf({ stored, entry }: Named, record: Uint8Array | undefined): FindingCode | undefined {
  if (entry === 'dedupUnreadable') return entry;
  if (stored.key === undefined || record === undefined) return 'dedupLeftOver';
  const header = decodeHeader(record);
  // A record that cannot be read is found on its own.
  if (typeof header === 'string') return undefined;
  return header.messageId === entry.messageId && header.senderIs(utf8.encode(stored.key.sender)) ? undefined : 'dedupLeftOver';
}

function problemOf(scan: ConversationScan, stored: StoredDedup, entry: Named['entry'], code: FindingCode): Problem {
  const of = stored.key === undefined ? nameOf(stored.slot) : stored.key.clientMessageId;
  const what = `${of}: ${code === 'dedupUnreadable' ? 'it has another form' : 'the record that it names is not there, or is another'}`;
  const at = { conversationSeq: typeof entry === 'string' ? undefined : entry.conversationSeq, userId: stored.key?.sender };
  const changes = [{ kind: 'remove', slot: stored.slot } as const];
  const did = 'the entry was removed: a retry is committed as a new message';
  const seen = [{ kind: 'slot', slot: stored.slot, value: stored.bytes } as const];
  return { finding: findingAt(scan.place, code, what, at), mend: { on: 'conversation', did, changes, seen } };
}

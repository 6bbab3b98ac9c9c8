/** Reactions against the records beside which they stand. */
import type { ConversationSeq } from '@qim/proto';
import { decodeHeader } from '../message/codec.js';
import { readReactions } from '../message/reactions.js';
import { isErased } from '../message/record.js';
import { withoutNumber } from './amendment-check.js';
import { aside, findingAt, nameOf, type VerifyContext } from './context.js';
import type { Problem } from './mender.js';
import type { ConversationScan, StoredReactions } from './scanner.js';

/** Where reactions may stand: records from `retainedFrom` on, but for `replaced` ones, which get others in their place. */
export interface Surroundings {
  readonly retainedFrom: number;
  readonly replaced: ReadonlySet<number>;
  readonly nextNumber: () => number;
}

/** One page of them. */
export async function checkReactions(
  context: VerifyContext,
  scan: ConversationScan,
  page: readonly StoredReactions[],
  { retainedFrom, replaced, nextNumber }: Surroundings,
): Promise<Problem[]> {
  const named = page.flatMap(({ sequence }) => sequence ?? []);
  const [records, numbers] = await Promise.all([scan.records(named), scan.amendmentsOf(named)]);
  const stored = new Map(named.map((sequence, i) => [sequence, { record: records[i], number: numbers[i] }]));
  return page.flatMap((entry): Problem[] => {
    const { sequence } = entry;
    if (sequence === undefined) return [leftOver(context, scan, entry, `their name ${nameOf(entry.slot)} is no sequence`)];
    if (replaced.has(sequence)) return [];
    const { record, number } = stored.get(sequence) ?? {};
    if (sequence < retainedFrom || record === undefined) return [leftOver(context, scan, entry, 'there is no record beside them')];
    const header = decodeHeader(record);
    // A record that cannot be read is found on its own.
    if (typeof header === 'string') return [];
    if (isErased(header.status)) return [leftOver(context, scan, entry, 'the content beside them was erased')];
    const read = readReactions(entry.raw);
    if (read === 'unsupportedVersion' && !context.newerIsDamage) return [newer(scan, sequence)];
    if (typeof read === 'string' || read.messageId !== header.messageId) return [unreadable(context, scan, entry)];
    return number === undefined ? [withoutNumber(scan, sequence, nextNumber())] : [];
  });
}

/** Nobody is told of them: they go without a trace, but for the quarantine. */
function leftOver(context: VerifyContext, { place }: ConversationScan, entry: StoredReactions, what: string): Problem {
  return removed(context, entry, findingAt(place, 'reactionsLeftOver', what, { conversationSeq: entry.sequence }), false);
}

/** Devices may show what is gone. */
function unreadable(context: VerifyContext, { place }: ConversationScan, entry: StoredReactions): Problem {
  const what = 'they are damaged, or of another message';
  return removed(context, entry, findingAt(place, 'reactionsUnreadable', what, { conversationSeq: entry.sequence }), true);
}

function removed(context: VerifyContext, { slot, raw }: StoredReactions, finding: Problem['finding'], resync: boolean): Problem {
  const changes = [...aside(context, finding, 'reactions', raw), { kind: 'remove', slot } as const];
  const seen = [{ kind: 'slot', slot, value: raw } as const];
  return { finding, mend: { on: 'conversation', did: 'they were put aside', changes, seen, resync } };
}

function newer({ place }: ConversationScan, sequence: ConversationSeq): Problem {
  const finding = findingAt(place, 'unsupportedVersion', 'its reactions were written by a newer qim', { conversationSeq: sequence });
  return { finding, mend: undefined, unmended: 'a newer qim can read it' };
}

/**
 * A whole store as lines, page by page. What has no place in an archive ends it with the place: an archive is never
 * quietly less than the store.
 */
import { FSCK_BODIES_AT_ONCE } from '@qim/proto';
import type { ConversationPlace, UserPlace } from '../verify/finding.js';
import type { ConversationScan, Slot, StoredRow, UserEntry, UserScan } from '../verify/scanner.js';
import { ArchiveError } from './errors.js';
import type { ArchiveLine, ConversationPart, UserPart } from './line.js';
import type { ArchiveSource } from './source.js';

/** Nothing when the conversation has gone since it was named. @throws ArchiveError NotArchivable */
export async function* conversationLines(scan: ConversationScan): AsyncGenerator<ArchiveLine> {
  const { place } = scan;
  const { facts } = await scan.facts();
  if (typeof facts !== 'object') throw cannot(place, 'its facts cannot be read');
  const [wrong] = await scan.wrongKeys();
  if (wrong !== undefined) throw cannot(place, `a key of another type stands for its ${wrong.slot.table}`);
  yield { kind: 'conversation', ...place, facts };
  for await (const page of partPages(scan)) yield* page;
}

async function* partPages(scan: ConversationScan): AsyncGenerator<readonly ConversationPart[]> {
  for await (const { rows, odd } of scan.pages()) {
    const [first] = odd;
    if (first !== undefined) throw cannot(scan.place, `what is no message stands among its ${first.slot.table} entries`);
    yield* recordPages(scan, rows);
  }
  for await (const found of scan.members()) yield found.map((member) => memberPart(scan.place, member));
  for await (const found of scan.amendments()) yield found.map((one) => amendmentPart(scan.place, one));
  for await (const found of scan.reactions()) {
    yield found.map(({ sequence, raw }): ConversationPart => {
      if (sequence === undefined) throw cannot(scan.place, 'reactions stand under what is no sequence');
      return { kind: 'reactions', sequence, bytes: raw };
    });
  }
  for await (const found of scan.dedup()) {
    yield found.map(({ key, week, bytes }): ConversationPart => {
      if (key === undefined) throw cannot(scan.place, 'a de-duplication entry stands under no sender and id');
      return { kind: 'dedup', ...key, week, bytes };
    });
  }
  yield (await scan.skipped()).map((range) => ({ kind: 'skipped', ...range }));
}

async function* recordPages(scan: ConversationScan, rows: readonly StoredRow[]): AsyncGenerator<readonly ConversationPart[]> {
  for (let from = 0; from < rows.length; from += FSCK_BODIES_AT_ONCE) {
    const some = rows.slice(from, from + FSCK_BODIES_AT_ONCE);
    const withBody = some.filter(({ hasBody }) => hasBody).map(({ sequence }) => sequence);
    const bodies = withBody.length === 0 ? [] : await scan.bodies(withBody);
    const bodyOf = new Map(withBody.map((sequence, i) => [sequence, bodies[i]]));
    yield some.map(({ sequence, indexed, score, record }) => {
      if (score !== 0) throw cannot(scan.place, `the index has a score at sequence ${sequence}`);
      return { kind: 'record', sequence, indexed, record, body: bodyOf.get(sequence) };
    });
  }
}

type Found<Page> = Page extends AsyncIterable<readonly (infer T)[]> ? T : never;

function memberPart(place: ConversationPlace, { userId, entry }: Found<ReturnType<ConversationScan['members']>>): ConversationPart {
  if (userId === undefined || typeof entry !== 'object') throw cannot(place, 'an entry of a member cannot be read');
  return { kind: 'member', userId, entry };
}

function amendmentPart(
  place: ConversationPlace,
  { sequence, number, agrees }: Found<ReturnType<ConversationScan['amendments']>>,
): ConversationPart {
  if (sequence === undefined || number === undefined || !agrees) throw cannot(place, 'an amendments entry cannot be read');
  return { kind: 'amendment', sequence, number };
}

/** @throws ArchiveError NotArchivable */
export async function* userLines(source: ArchiveSource, scan: UserScan): AsyncGenerator<ArchiveLine> {
  yield { kind: 'user', ...scan.place, continued: false };
  yield* await source.ofUser(scan.place);
  for await (const { entries, odd } of scan.pages()) {
    const [first] = odd;
    if (first !== undefined) throw cannotOfUser(scan.place, first.slot);
    yield* entries.map((entry) => entryPart(scan.place, entry));
  }
}

function entryPart(place: UserPlace, { conversationId, view, listed, readMark, pin, wrongKeys }: UserEntry): UserPart {
  const [wrong] = wrongKeys;
  if (wrong !== undefined) throw cannotOfUser(place, wrong);
  if (listed !== undefined && listed.at === undefined) throw cannotOfUser(place, { table: 'list' });
  if (pin !== undefined && pin.at === undefined) throw cannotOfUser(place, { table: 'pin' });
  return { kind: 'entry', conversationId, view, listedAtMs: listed?.at, readMark, pinnedAtMs: pin?.at };
}

function cannot({ tenantId, conversationId }: ConversationPlace, what: string): ArchiveError {
  return new ArchiveError('NotArchivable', `tenant ${tenantId}, ${conversationId}: ${what}; qim fsck --repair mends it`);
}

function cannotOfUser({ tenantId, userId }: UserPlace, { table }: Pick<Slot, 'table'>): ArchiveError {
  return new ArchiveError('NotArchivable', `tenant ${tenantId}, user ${userId}: the ${table} cannot be read; qim fsck --repair mends it`);
}

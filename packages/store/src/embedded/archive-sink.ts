/** Where an import writes on LMDB: a chunk and the note of it are one transaction. The folder is held meanwhile. */
import { EMBEDDED_MAP_BYTES_DEFAULT } from '@qim/proto';
import { ArchiveError } from '../archive/errors.js';
import type { ConversationPart, OtherLine, UserPart } from '../archive/line.js';
import { type ArchiveLine, isConversationPart, isUserPart } from '../archive/line.js';
import { type ArchiveSink, formatNote, type ImportNote, inImportedEpoch, parseNote } from '../archive/sink.js';
import { formatMember } from '../message/facts.js';
import type { ConversationPlace } from '../verify/finding.js';
import type { Environment, Plan, Snapshot, Write } from './environment.js';
import { enterFolder } from './folders.js';
import { checkFormat } from './format.js';
import { ConversationKeys, hookCounter, IMPORT_KEY, outboxCounter, outboxEntry, reportKey, Table, UserKeys } from './keys.js';
import { quarantineKey, wholeTable } from './maintenance-keys.js';
import { encodeOutboxValue } from './outbox-value.js';
import { counterFrom, counterValue, encodeFacts, textFrom, weekOf } from './values.js';

const NOTHING = new Uint8Array(0);
/** One process owns the folder, so there is one. */
const PARTITION = 0;

/** Makes the folder when it is not there. @throws StoreUnavailable when a server has it, or it holds another format */
export async function openEmbeddedArchiveSink(folder: string): Promise<ArchiveSink> {
  const { environment, leave } = await enterFolder(folder, true, EMBEDDED_MAP_BYTES_DEFAULT);
  try {
    await checkFormat(environment, true);
    return new EmbeddedArchiveSink(environment, leave);
  } catch (error) {
    await leave();
    throw error;
  }
}

class EmbeddedArchiveSink implements ArchiveSink {
  readonly close: () => Promise<void>;
  readonly #environment: Environment;

  constructor(environment: Environment, leave: () => Promise<void>) {
    this.#environment = environment;
    this.close = leave;
  }

  async isEmpty(): Promise<boolean> {
    const { start, end } = wholeTable(Table.Format);
    const [before, after] = [
      { start: Buffer.of(0), end: start },
      { start: end, end: Buffer.of(0xff) },
    ] as const;
    return this.#environment.read((snapshot) => [before, after].every((range) => snapshot.keys(range, 1).length === 0));
  }

  async note(): Promise<ImportNote | undefined> {
    const value = this.#environment.read((snapshot) => snapshot.get(IMPORT_KEY));
    if (value === undefined) return undefined;
    const note = parseNote(textFrom(value));
    if (note === undefined) throw new ArchiveError('StoreNotEmpty', 'how far an import has come cannot be read: empty the store');
    return note;
  }

  begin(note: ImportNote): Promise<void> {
    return this.#write(() => [noteWrite(note)]);
  }

  apply(lines: readonly ArchiveLine[], note: ImportNote): Promise<void> {
    return this.#write((snapshot) => [...new ChunkWrites(snapshot, note.startedAtMs).of(lines), noteWrite(note)]);
  }

  end(): Promise<void> {
    return this.#write(() => [{ key: IMPORT_KEY, value: undefined }]);
  }

  #write(writes: (snapshot: Snapshot) => Write[]): Promise<void> {
    return this.#environment.write('import', (snapshot): Plan<undefined> => ({ result: undefined, writes: writes(snapshot) }));
  }
}

function noteWrite(note: ImportNote): Write {
  return { key: IMPORT_KEY, value: Buffer.from(formatNote(note), 'utf8') };
}

/** The writes of one chunk, which may be there already: only what waits for delivery is then written once more. */
class ChunkWrites {
  readonly #startedAtMs: number;
  #outboxNumber: number;

  constructor(snapshot: Snapshot, startedAtMs: number) {
    this.#startedAtMs = startedAtMs;
    this.#outboxNumber = counterFrom(snapshot.get(outboxCounter(PARTITION)));
  }

  of(lines: readonly ArchiveLine[]): Write[] {
    const writes: Write[] = [];
    let place: ConversationPlace | undefined;
    let keys: ConversationKeys | undefined;
    let user: UserKeys | undefined;
    for (const line of lines) {
      if (line.kind === 'conversation') {
        place = line;
        keys = new ConversationKeys(line.tenantId, line.conversationId);
        if (line.facts !== undefined) writes.push({ key: keys.facts, value: encodeFacts(inImportedEpoch(line.facts, this.#startedAtMs)) });
      } else if (line.kind === 'user') user = new UserKeys(line.tenantId, line.userId);
      else if (isConversationPart(line)) {
        if (place !== undefined && keys !== undefined) writes.push(...partWrites(place, keys, line));
      } else if (isUserPart(line)) {
        if (user !== undefined) writes.push(...userWrites(user, line));
      } else writes.push(...this.#otherWrites(line));
    }
    return writes;
  }

  #otherWrites(line: OtherLine): Write[] {
    switch (line.kind) {
      case 'left':
        return [{ key: new UserKeys(line.tenantId, line.userId).tombstone(weekOf(line.atMs), line.conversationId), value: NOTHING }];
      case 'groupRequest': {
        const { tenantId, userId, week, clientRequestId, conversationId } = line;
        return [{ key: new UserKeys(tenantId, userId).groupRequest(week, clientRequestId), value: Buffer.from(conversationId) }];
      }
      case 'report':
        return [{ key: reportKey(line.tenantId, line.number + 1), value: Buffer.from(line.text) }];
      case 'untold': {
        const { of: kind, tenantId, conversationId, conversationSeq, committedAtMs } = line;
        // A number of the outbox that is never given again.
        this.#outboxNumber += 1;
        const value = encodeOutboxValue({ kind, tenantId, conversationId, conversationSeq, atMs: committedAtMs });
        return [
          { key: outboxEntry(Table.Hook, PARTITION, this.#outboxNumber), value },
          { key: hookCounter(PARTITION), value: counterValue(this.#outboxNumber) },
          { key: outboxCounter(PARTITION), value: counterValue(this.#outboxNumber) },
        ];
      }
      case 'undelivered': {
        const { of: kind, tenantId, conversationId, conversationSeq } = line;
        this.#outboxNumber += 1;
        const value = encodeOutboxValue({ kind, tenantId, conversationId, conversationSeq, atMs: this.#startedAtMs });
        return [
          { key: outboxEntry(Table.Outbox, PARTITION, this.#outboxNumber), value },
          { key: outboxCounter(PARTITION), value: counterValue(this.#outboxNumber) },
        ];
      }
    }
  }
}

function partWrites(place: ConversationPlace, keys: ConversationKeys, line: ConversationPart): Write[] {
  switch (line.kind) {
    case 'record': {
      const { sequence, indexed, record, body } = line;
      return [
        ...(indexed ? [{ key: keys.index(sequence), value: NOTHING }] : []),
        ...(record === undefined ? [] : [{ key: keys.record(sequence), value: record }]),
        ...(body === undefined ? [] : [{ key: keys.body(sequence), value: body }]),
      ];
    }
    case 'member':
      return [{ key: keys.member(line.userId), value: Buffer.from(formatMember(line.entry)) }];
    case 'amendment':
      return [
        { key: keys.amendment(line.number), value: counterValue(line.sequence) },
        { key: keys.amendmentOf(line.sequence), value: counterValue(line.number) },
      ];
    case 'reactions':
      return [{ key: keys.reactions(line.sequence), value: line.bytes }];
    case 'dedup':
      return [{ key: keys.dedup(line.week, line.sender, line.clientMessageId), value: line.bytes }];
    case 'skipped':
      // Of other servers that took the writes; there is none here.
      return [];
    case 'aside':
      return [{ key: quarantineKey(place, line.id), value: line.bytes }];
  }
}

function userWrites(keys: UserKeys, line: UserPart): Write[] {
  switch (line.kind) {
    case 'entry': {
      const { conversationId, view, listedAtMs, readMark, pinnedAtMs } = line;
      return [
        ...(view === undefined ? [] : [{ key: keys.view(conversationId), value: Buffer.from(view) }]),
        ...(readMark === undefined ? [] : [{ key: keys.readMark(conversationId), value: Buffer.from(readMark) }]),
        ...(pinnedAtMs === undefined ? [] : [{ key: keys.pin(conversationId), value: counterValue(pinnedAtMs) }]),
        ...(listedAtMs === undefined
          ? []
          : [
              { key: keys.list(listedAtMs, conversationId), value: NOTHING },
              { key: keys.listedAt(conversationId), value: counterValue(listedAtMs) },
            ]),
      ];
    }
    case 'profile':
      return [{ key: keys.profile, value: Buffer.from(line.text) }];
    case 'blocked':
      return [{ key: keys.block(line.userId), value: NOTHING }];
    case 'suspended':
      return [{ key: keys.suspended(line.device), value: NOTHING }];
  }
}

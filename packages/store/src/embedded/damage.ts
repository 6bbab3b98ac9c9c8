/**
 * Damage and holes for tests, in a folder that a server may have open: this process, or another one, does what a fault
 * of the disk or of a program would have done. Never for production data.
 */
import { existsSync } from 'node:fs';
import { assert, type ConversationSeq, EMBEDDED_MAP_BYTES_DEFAULT, parseConversationSeq, SEQ_ZERO } from '@qim/proto';
import { sequenceToBytes } from '../message/bytes.js';
import type { StoredFacts } from '../message/facts.js';
import { CONVERSATION_DAMAGE_KINDS, type ConversationTarget, type DamageKind, type DamageTarget } from '../testing/damage-kinds.js';
import { damagedBody, damagedRecord } from '../testing/damaged-bytes.js';
import { ConversationReads } from './conversation-reads.js';
import type { Snapshot, Write } from './environment.js';
import { enterFolder } from './folders.js';
import { everythingUnder } from './keys.js';
import { encodeFacts } from './values.js';

/** The next `count` sequences will not be given. */
export async function skipSequencesEmbedded(folder: string, target: ConversationTarget, count: number): Promise<void> {
  await change(folder, target, (reads) => {
    const facts = soundFacts(reads);
    const reservedThrough = parseConversationSeq(Math.max(facts.lastSequence, facts.reservedThrough) + count);
    return [factsWrite(reads, { ...facts, reservedThrough })];
  });
}

export async function damageEmbedded(folder: string, target: DamageTarget, kind: DamageKind): Promise<void> {
  await change(folder, target, (reads, snapshot) => writesOf(reads, snapshot, target, kind));
}

async function change(
  folder: string,
  { tenantId, conversationId }: ConversationTarget,
  writes: (reads: ConversationReads, snapshot: Snapshot) => Write[],
): Promise<void> {
  assert(existsSync(folder), 'the data folder exists');
  const { environment, leave } = await enterFolder(folder, false, EMBEDDED_MAP_BYTES_DEFAULT);
  try {
    await environment.write('damage', (snapshot) => {
      const reads = new ConversationReads(snapshot, tenantId, conversationId);
      return { result: undefined, writes: writes(reads, snapshot) };
    });
  } finally {
    await leave();
  }
}

const GARBAGE = Buffer.from('no such form');
/** Far past any head. */
const NOWHERE = parseConversationSeq(2 ** 52);

function writesOf(reads: ConversationReads, snapshot: Snapshot, target: DamageTarget, kind: DamageKind): Write[] {
  const ofConversation: readonly DamageKind[] = CONVERSATION_DAMAGE_KINDS;
  if (!ofConversation.includes(kind)) {
    assert(target.conversationSeq !== undefined, 'a damaged record is named by its sequence');
    return recordWrites(reads, target.conversationSeq, kind);
  }
  const { keys } = reads;
  switch (kind) {
    case 'indexKeyMissing':
      return snapshot.keys(everythingUnder(keys.indexPrefix), Number.MAX_SAFE_INTEGER).map((key) => ({ key, value: undefined }));
    case 'indexMemberExtra':
      return [{ key: keys.index(parseConversationSeq(newest(reads) + 1)), value: new Uint8Array(0) }];
    case 'indexMemberShort': {
      const seq = newest(reads);
      return [
        { key: keys.index(seq), value: undefined },
        { key: keys.indexMember(sequenceToBytes(seq).subarray(0, 7)), value: new Uint8Array(0) },
      ];
    }
    case 'factsMissing':
      return [{ key: keys.facts, value: undefined }];
    case 'factsUnreadable':
      return [{ key: keys.facts, value: GARBAGE }];
    case 'factsAhead':
    case 'factsBehind': {
      const facts = soundFacts(reads);
      const lastSequence = parseConversationSeq(facts.lastSequence + (kind === 'factsAhead' ? 1 : -1));
      return [factsWrite(reads, { ...facts, lastSequence })];
    }
    case 'previewPointerWrong':
      return [factsWrite(reads, { ...soundFacts(reads), previewSequence: NOWHERE })];
    case 'memberUnreadable':
      assert(target.userId !== undefined, 'a damaged member entry is named by its user');
      return [{ key: keys.member(target.userId), value: GARBAGE }];
    default:
      throw new Error(`${kind} does not apply to the embedded store`);
  }
}

function recordWrites(reads: ConversationReads, seq: ConversationSeq, kind: DamageKind): Write[] {
  const { keys } = reads;
  const record = reads.recordBytes(seq);
  assert(record !== undefined, 'the record to damage exists');
  switch (kind) {
    case 'recordMissing':
      return [{ key: keys.record(seq), value: undefined }];
    case 'recordOfAnother':
      return [{ key: keys.record(seq), value: neighbour(reads, seq) }];
    case 'bodyMissing':
      return [{ key: keys.body(seq), value: undefined }];
    case 'bodyBitFlipped': {
      const body = reads.bodyBytes(seq);
      assert(body !== undefined, 'the body to damage is apart');
      return [{ key: keys.body(seq), value: damagedBody(body) }];
    }
    case 'indexMemberMissing':
      return [{ key: keys.index(seq), value: undefined }];
    case 'recordTruncated':
    case 'recordBitFlipped':
    case 'recordOtherTenant':
    case 'recordOtherConversation':
    case 'recordOtherSequence':
    case 'recordUnknownStatus':
    case 'recordUnknownVersion':
      return [{ key: keys.record(seq), value: damagedRecord(record, kind) }];
    default:
      throw new Error(`${kind} is not of a record`);
  }
}

/** The bytes of the record before this one, or of the one after it. */
function neighbour(reads: ConversationReads, seq: ConversationSeq): Uint8Array {
  const [before] = reads.membersBefore(reads.keys.index(seq), SEQ_ZERO, 1);
  const [after] = reads.membersAfter(seq, 1);
  const member = before ?? after;
  const bytes = member && reads.recordBytes(reads.sequenceOf(member));
  assert(bytes !== undefined, 'the record has a neighbour');
  return bytes;
}

function newest(reads: ConversationReads): ConversationSeq {
  const member = reads.newestMember();
  assert(member !== undefined, 'the conversation has a record');
  return reads.sequenceOf(member);
}

function soundFacts(reads: ConversationReads): StoredFacts {
  const facts = reads.facts();
  assert(facts !== undefined, 'the conversation exists');
  return facts;
}

function factsWrite(reads: ConversationReads, facts: StoredFacts): Write {
  return { key: reads.keys.facts, value: encodeFacts(facts) };
}

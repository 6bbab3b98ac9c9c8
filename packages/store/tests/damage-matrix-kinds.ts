/** The kinds of damage, what is done for each, and what each call must answer. */
import { SEQ_MAX } from '@qim/proto';
import { viewOf } from '../src/message/bytes.js';
import { Offset, Size } from '../src/message/record-layout.js';
import { xxh32 } from '../src/message/xxh32.js';
import { seq } from '../src/testing/conformance/fixture.js';
import type { DamageKind } from '../src/testing/damage-kinds.js';
import { type Answer, type Answers, type Kind, type MatrixStage, memberBytes, type Scene } from './damage-matrix.js';
import type { OwnDamage } from './tamper.js';

/** Catching up answers as history does, unless `catchUp` says otherwise. */
function as(list: Answer, history: Answer, amend: Answer, send: Answer, retry: Answer, catchUp: Answer = history): Answers {
  return { list, history, catchUp, amend, send, retry };
}

/** An old record: whoever needs it is told, and nobody is kept from sending. */
const OLD_RECORD = as('told', 'told', 'told', 'right', 'right');
const OLD_BODY = as('right', 'told', 'told', 'right', 'right');
const ALL_TOLD = as('told', 'told', 'told', 'told', 'told');
const UNTOUCHED = as('right', 'right', 'right', 'right', 'right');
/** What a commit itself reads. */
const READ_BY_COMMIT = as('told', 'told', 'right', 'told', 'right');

const NAMED: Readonly<Record<DamageKind, readonly [at: number, Answers]>> = {
  recordMissing: [3, OLD_RECORD],
  recordTruncated: [3, OLD_RECORD],
  recordBitFlipped: [3, OLD_RECORD],
  recordOfAnother: [3, OLD_RECORD],
  recordOtherTenant: [3, OLD_RECORD],
  recordOtherConversation: [3, OLD_RECORD],
  recordOtherSequence: [3, OLD_RECORD],
  recordUnknownStatus: [3, OLD_RECORD],
  recordUnknownVersion: [3, OLD_RECORD],
  bodyMissing: [4, OLD_BODY],
  bodyBitFlipped: [4, OLD_BODY],
  indexMemberMissing: [3, OLD_RECORD],
  indexKeyMissing: [3, ALL_TOLD],
  indexMemberExtra: [3, READ_BY_COMMIT],
  indexMemberShort: [3, READ_BY_COMMIT],
  indexScoreNonZero: [3, READ_BY_COMMIT],
  indexWrongType: [3, ALL_TOLD],
  factsMissing: [3, ALL_TOLD],
  factsUnreadable: [3, ALL_TOLD],
  factsAhead: [3, READ_BY_COMMIT],
  factsBehind: [3, as('right', 'right', 'right', 'told', 'right')],
  previewPointerWrong: [3, as('aside', 'right', 'right', 'right', 'right')],
  memberUnreadable: [3, as('told', 'told', 'right', 'told', 'right')],
};

/** Each of `src/testing/damage-kinds.ts` that the backend has. */
export function namedKinds(kinds: readonly DamageKind[]): Kind[] {
  return kinds.map((what) => {
    const [at, expected] = NAMED[what];
    const apply = async ({ backend, bob }: MatrixStage, { chat }: Scene): Promise<void> => {
      const { tenantId, conversationId } = chat;
      await backend.damage?.({ tenantId, conversationId, conversationSeq: seq(at), userId: bob }, what);
    };
    return { what, at, apply, expected };
  });
}

function sealed(bytes: Uint8Array): Uint8Array {
  const view = viewOf(bytes);
  view.setUint32(Offset.Checksum, xxh32(view, Offset.Checked, bytes.length - Size.Stamp, view.getUint16(0)));
  return bytes;
}

function kind(what: string, at: number, expected: Answers, apply: Kind['apply'], unnoticed?: string): Kind {
  return { what, at, expected, apply, ...(unnoticed !== undefined && { unnoticed }) };
}

/** What only one backend has. Of the facts, all is read by every call. */
const OWN: Readonly<Record<string, Answers>> = {
  'facts, pair unreadable': as('told', 'told', 'told', 'right', 'told'),
  'index, a score of 1 in the middle': READ_BY_COMMIT,
  'index, a score of -1 in the middle': as('told', 'told', 'right', 'right', 'right'),
  'index, a score of 0.5 on the first': READ_BY_COMMIT,
  'bodies of a wrong type': as('right', 'told', 'told', 'right', 'told'),
  'reactions of a wrong type': as('right', 'told', 'told', 'right', 'told'),
};

export function ownKinds(own: readonly OwnDamage[]): Kind[] {
  return own.map(({ what, apply }) => kind(what, 3, OWN[what] ?? ALL_TOLD, (_, { chat }) => apply(chat)));
}

export const RECORD_KINDS: readonly Kind[] = [
  kind('record, the head missing', 8, OLD_RECORD, ({ tamper }, { chat }) => tamper.setRecord(chat, seq(8), undefined)),
  kind('record, the first missing', 1, as('told', 'told', 'told', 'right', 'told'), ({ tamper }, { chat }) =>
    tamper.setRecord(chat, seq(1), undefined),
  ),
  kind('record empty', 3, OLD_RECORD, ({ tamper }, { chat }) => tamper.setRecord(chat, seq(3), new Uint8Array(0))),
  kind('record, a byte too many', 3, OLD_RECORD, async ({ tamper }, { chat }) =>
    tamper.setRecord(chat, seq(3), Buffer.concat([await tamper.record(chat, seq(3)), Buffer.alloc(1)])),
  ),
  kind('record of the same sequence in another conversation', 3, OLD_RECORD, async (stage, { chat }) =>
    stage.tamper.setRecord(chat, seq(3), await stage.tamper.record(await stage.neighbour(), seq(3))),
  ),
  kind('record of status 0', 3, OLD_RECORD, async ({ tamper }, { chat }) => {
    const bytes = await tamper.record(chat, seq(3));
    bytes[Offset.Status] = 0;
    await tamper.setRecord(chat, seq(3), sealed(bytes));
  }),
  kind('record of type 0', 3, OLD_RECORD, async ({ tamper }, { chat }) => {
    const bytes = await tamper.record(chat, seq(3));
    viewOf(bytes).setUint32(Offset.Type, 0);
    await tamper.setRecord(chat, seq(3), sealed(bytes));
  }),
  kind('record linked to another one before it', 3, as('told', 'told', 'right', 'right', 'right'), async ({ tamper }, { chat }) => {
    const bytes = await tamper.record(chat, seq(3));
    for (const at of [Offset.Stamp, bytes.length - Size.Stamp]) bytes[at + 15] = 1;
    await tamper.setRecord(chat, seq(3), bytes);
  }),
  kind('body empty', 4, OLD_BODY, ({ tamper }, { chat }) => tamper.setBody(chat, seq(4), new Uint8Array(0))),
  kind('body of another conversation', 4, OLD_BODY, async (stage, { chat }) =>
    stage.tamper.setBody(chat, seq(4), await stage.tamper.body(await stage.neighbour(), seq(4))),
  ),
  kind(
    'body left over beside a record that holds its own',
    3,
    UNTOUCHED,
    async ({ tamper }, { chat }) => tamper.setBody(chat, seq(3), await tamper.body(chat, seq(4))),
    'nobody reads a body that the record does not ask for',
  ),
  kind('record left over where the next one goes', 3, as('right', 'right', 'right', 'told', 'right'), async ({ tamper }, { chat }) =>
    tamper.setRecord(chat, seq(9), await tamper.record(chat, seq(8))),
  ),
];

const BELOW_ALL = 'it sorts before sequence 1, where no call ever looks, and stands for no record';

const index = (what: string, expected: Answers, member: Uint8Array, unnoticed?: string): Kind =>
  kind(what, 3, expected, ({ tamper }, { chat }) => tamper.addIndexMember(chat, member), unnoticed);

export const INDEX_KINDS: readonly Kind[] = [
  kind('index, the first missing', 1, as('told', 'told', 'told', 'right', 'told'), ({ tamper }, { chat }) =>
    tamper.removeIndexMember(chat, memberBytes(1)),
  ),
  kind('index, the last missing', 8, as('told', 'told', 'told', 'told', 'right'), ({ tamper }, { chat }) =>
    tamper.removeIndexMember(chat, memberBytes(8)),
  ),
  index('index, one more in a hole', as('told', 'told', 'right', 'right', 'right'), memberBytes(6)),
  index('index, one more at the greatest sequence', READ_BY_COMMIT, memberBytes(SEQ_MAX)),
  index('index, sequence 0', UNTOUCHED, memberBytes(0), BELOW_ALL),
  index('index, a sequence past 2^53-1', READ_BY_COMMIT, Buffer.from('0020000000000000', 'hex')),
  index('index, all bits set', READ_BY_COMMIT, Buffer.from('ffffffffffffffff', 'hex')),
  index('index, a member of no bytes', UNTOUCHED, new Uint8Array(0), BELOW_ALL),
  index('index, a member of 7 bytes', UNTOUCHED, memberBytes(3).subarray(0, 7), BELOW_ALL),
  index(
    'index, a member of 9 bytes in the middle',
    as('told', 'told', 'right', 'right', 'right'),
    Buffer.concat([memberBytes(3), Buffer.alloc(1)]),
  ),
  index('index, a member of 9 bytes at the end', READ_BY_COMMIT, Buffer.concat([memberBytes(8), Buffer.alloc(1)])),
];

async function react({ bob }: MatrixStage, { chat }: Scene, at: number): Promise<void> {
  await chat.messages.react({ actor: bob, target: await chat.record(at), emoji: '\u{1F44D}', on: true });
}

/** A list reads none. */
const OLD_REACTIONS = as('right', 'told', 'told', 'right', 'right');

export const REACTION_KINDS: readonly Kind[] = [
  kind('reactions, a bit flipped', 3, OLD_REACTIONS, async (stage, scene) => {
    await react(stage, scene, 3);
    const bytes = await stage.tamper.reactions(scene.chat, seq(3));
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
    await stage.tamper.setReactions(scene.chat, seq(3), bytes);
  }),
  kind('reactions empty', 3, OLD_REACTIONS, async (stage, scene) => {
    await react(stage, scene, 3);
    await stage.tamper.setReactions(scene.chat, seq(3), new Uint8Array(0));
  }),
  kind('reactions of another message', 3, OLD_REACTIONS, async (stage, scene) => {
    await react(stage, scene, 4);
    await stage.tamper.setReactions(scene.chat, seq(3), await stage.tamper.reactions(scene.chat, seq(4)));
  }),
  kind(
    'reactions left over where no record is',
    3,
    UNTOUCHED,
    async (stage, scene) => {
      await react(stage, scene, 8);
      await stage.tamper.setReactions(scene.chat, seq(6), await stage.tamper.reactions(scene.chat, seq(8)));
    },
    'nobody reads what stands beside no record; the verifier does',
  ),
];

const STALE = as('right', 'right', 'right', 'right', 'right', 'stale');
/** The newest one. */
const CAUGHT = as('right', 'right', 'right', 'right', 'right', 'told');

export const OTHER_KINDS: readonly Kind[] = [
  kind('member entry missing', 3, as('not there', 'not there', 'right', 'not there', 'right'), ({ tamper, bob }, { chat }) =>
    tamper.setMemberEntry(chat, bob, undefined),
  ),
  kind('member entry of an unknown role', 3, as('told', 'told', 'right', 'told', 'right'), ({ tamper, bob }, { chat }) =>
    tamper.setMemberEntry(chat, bob, '9 1 1'),
  ),
  kind(
    'member entry left over',
    3,
    UNTOUCHED,
    ({ tamper, fixture }, { chat }) => tamper.setMemberEntry(chat, fixture.user('carol'), '1 1 1'),
    'it is what a member looks like',
  ),
  kind('de-dup entry cut', 3, as('right', 'right', 'right', 'right', 'told'), async ({ tamper }, { first }) =>
    tamper.setDedup(first, (await tamper.dedup(first)).subarray(0, 63)),
  ),
  kind('de-dup entry that names another record', 3, as('right', 'right', 'right', 'right', 'told'), async ({ tamper }, { first }) => {
    const bytes = await tamper.dedup(first);
    bytes[7] = 3;
    await tamper.setDedup(first, bytes);
  }),
  kind('de-dup entry that names no record', 3, as('right', 'right', 'right', 'right', 'told'), async ({ tamper }, { first }) => {
    const bytes = await tamper.dedup(first);
    bytes[7] = 6;
    await tamper.setDedup(first, bytes);
  }),
  kind('amendment entry missing', 2, CAUGHT, ({ tamper }, { chat }) => tamper.setAmendment(chat, seq(2), undefined)),
  kind(
    'amendment entry of a record that is not there',
    2,
    STALE,
    ({ tamper }, { chat }) => tamper.setAmendment(chat, seq(2), memberBytes(6)),
    'the number is there; the verifier compares each record with its entry',
  ),
  kind('amendment entry of 7 bytes', 2, as('right', 'right', 'right', 'right', 'right', 'told'), ({ tamper }, { chat }) =>
    tamper.setAmendment(chat, seq(2), memberBytes(2).subarray(1)),
  ),
];

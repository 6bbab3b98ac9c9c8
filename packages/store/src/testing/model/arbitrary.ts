/** Random command sequences. Small numbers first: fast-check shrinks towards them. */
import { DEDUP_WEEK_MS, EXACT_UNREAD_SCAN_LIMIT, MESSAGE_TYPE_MAX, MessageStatus, MessageType, RECORD_BUCKET_SIZE, Role } from '@qim/proto';
import fc from 'fast-check';
import { CHATS, type Command, MEMBERS, type Saying, USERS } from './command.js';

type Of<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;
type Shape<T> = { [Key in keyof T]: fc.Arbitrary<T[Key]> };

const user = fc.nat(USERS.length - 1);
const chat = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(CHATS - 1) });
/** Mostly a member; often the one with the highest role. */
const actor = fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.nat(MEMBERS + USERS.length - 1) });
const someUsers = fc.uniqueArray(user, { maxLength: 3 });
const flag = (oneIn: number) => fc.nat(oneIn - 1).map((value) => value === oneIn - 1);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
/** Around the bounds of snippet, record and body. */
const bytes = fc.constantFrom(0, 3, 255, 256, 257, 800, 1_000, 1_100, 3_000);

function of<Kind extends Command['kind']>(kind: Kind, shape: Shape<Omit<Of<Kind>, 'kind'>>): fc.Arbitrary<Command> {
  return fc.record({ kind: fc.constant(kind), ...shape }) as unknown as fc.Arbitrary<Command>;
}

const sayingShape: Shape<Saying> = {
  chat,
  by: actor,
  type: fc.constantFrom(MessageType.Text, MessageType.Image, MessageType.Custom, 4_711, MESSAGE_TYPE_MAX),
  what: fc.constantFrom('text', 'text', 'text', 'data', 'app', 'title'),
  bytes,
  mentions: fc.oneof({ weight: 2, arbitrary: fc.constant<number[]>([]) }, { weight: 1, arbitrary: someUsers }),
  mentionsAll: flag(6),
  replyBack: maybe(fc.nat(3)),
};
const saying: fc.Arbitrary<Saying> = fc.record(sayingShape);

/** Weeks decide about de-duplication; back, because a clock that was wrong is set right. */
const clockSteps = fc.constantFrom(1, 1_000, 60_000, -1, -5_000, -3_600_000, DEDUP_WEEK_MS, 2 * DEDUP_WEEK_MS, -DEDUP_WEEK_MS);
const holes = fc.constantFrom(1, 2, 17, EXACT_UNREAD_SCAN_LIMIT - 1, EXACT_UNREAD_SCAN_LIMIT, RECORD_BUCKET_SIZE, 2 ** 33);

const making = (which: fc.Arbitrary<number>) =>
  of('create', { chat: which, by: user, others: someUsers, direct: flag(5), showsPast: flag(2), onlyAdminsPost: flag(5) });

/** With the weight of each. */
const COMMANDS: readonly (readonly [number, fc.Arbitrary<Command>])[] = [
  [3, making(chat)],
  [16, of('say', sayingShape)],
  [2, of('burst', { chat, by: actor, count: fc.integer({ min: 2, max: 12 }) })],
  [4, of('retry', { which: fc.nat(20), otherContent: flag(3) })],
  [
    9,
    of('amend', {
      chat,
      by: actor,
      asAdmin: flag(4),
      back: fc.nat(8),
      status: fc.constantFrom(MessageStatus.Edited, MessageStatus.Edited, MessageStatus.Recalled, MessageStatus.Deleted),
      bytes,
      mentions: someUsers,
      stale: flag(5),
    }),
  ],
  [
    7,
    of('react', {
      chat,
      by: actor,
      back: fc.nat(8),
      emoji: fc.constantFrom('+', '\u{1F44D}', '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}'),
      on: flag(3).map((off) => !off),
      stale: flag(6),
    }),
  ],
  [3, of('role', { chat, by: actor, user, role: fc.constantFrom(Role.Member, Role.Admin, Role.Owner) })],
  [
    2,
    of('configure', {
      chat,
      by: actor,
      title: maybe(fc.constantFrom('', 'renamed', '\u6F22')),
      onlyAdminsPost: flag(3),
      showsPast: flag(2),
      readReceipts: flag(2),
      stale: flag(5),
    }),
  ],
  [4, of('join', { chat, by: actor, users: fc.uniqueArray(user, { minLength: 1, maxLength: 3 }) })],
  [4, of('leave', { chat, by: actor, users: fc.uniqueArray(user, { minLength: 1, maxLength: 2 }) })],
  [6, of('read', { chat, user, back: fc.nat(10) })],
  [3, of('deliver', { reversed: flag(3), twice: flag(3) })],
  [3, of('skip', { chat, count: holes })],
  [3, of('clock', { ms: clockSteps })],
  [1, of('restart', { during: maybe(saying) })],
  [2, of('clear', { chat, user, back: fc.nat(10) })],
  [5, of('flag', { chat, user, flag: fc.constantFrom('pinned', 'muted', 'hidden', 'markedUnread'), on: flag(3).map((off) => !off) })],
  [3, of('retain', { chat, keepNewest: maybe(fc.nat(6)), olderThanBack: maybe(fc.nat(6)) })],
  [
    5,
    of('catchUp', {
      chat,
      user,
      epochOff: fc.constantFrom(0, 0, 0, 1),
      back: fc.integer({ min: -1, max: 12 }),
      cursorBack: fc.integer({ min: -1, max: 8 }),
      limit: fc.constantFrom(1, 2, 5, 200),
    }),
  ],
  [1, of('enumerate', { limit: fc.constantFrom(1, 7, 1_000) })],
];

/** `most`: commands of one sequence. The first makes chat 0, where most happens: nothing else does much before there is one. */
export function commandSequences(most: number): fc.Arbitrary<readonly Command[]> {
  const command = fc.oneof(...COMMANDS.map(([weight, arbitrary]) => ({ weight, arbitrary })));
  return fc.tuple(making(fc.constant(0)), fc.array(command, { maxLength: most - 1, size: 'max' })).map(([first, rest]) => [first, ...rest]);
}

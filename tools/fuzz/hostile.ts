/** Values that have broken other programs, and ways to break values that are right. */
import fc from 'fast-check';

/** Names of what JavaScript objects have, ends of what texts are put into, and texts that take regular expressions long. */
const NASTY = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__', 'then'],
  ...[
    '',
    '\0',
    '\r\nSet-Cookie: a=b',
    '"},{"',
    '{}',
    ':',
    '%00',
    '%2e%2e%2f',
    '../../etc/passwd',
    '$' + '{jndi:ldap://h}',
    '\u2028',
    '\u{1f600}',
  ],
  ...[
    'a'.repeat(65),
    'a'.repeat(10_000),
    `${'a'.repeat(5_000)}!`,
    '('.repeat(3_000),
    ' '.repeat(5_000),
    `${'9'.repeat(400)}`,
    '-0',
    'NaN',
    '1e999',
  ],
  ...['\ud800', '\udc00x', '\ufeff', 'İ', 'ﷺ'.repeat(50), '0', '-1', '9007199254740992', '9223372036854775808', '18446744073709551616'],
];

export const nastyText: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: fc.constantFrom(...NASTY), weight: 3 },
  { arbitrary: fc.string({ maxLength: 80 }), weight: 2 },
  { arbitrary: fc.string({ unit: 'binary', maxLength: 40 }), weight: 2 },
);

export const nastyNumber: fc.Arbitrary<number> = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(-1, 0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, -(2 ** 63), 1e308, 0.5),
);

/** As JSON has it; the names of objects are nasty too. */
export const nastyJson: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.oneof(nastyText, nastyNumber, fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(nastyText, tie('value')), { maxLength: 4 }).map((entries) => objectOf(entries)),
  ),
})).value;

/** `__proto__` becomes a member as any other name does, as JSON.parse makes it one. */
export function objectOf(entries: readonly (readonly [string, unknown])[]): object {
  return JSON.parse(
    `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value) ?? 'null'}`).join(',')}}`,
  ) as object;
}

type Change = (bytes: Uint8Array) => Uint8Array;

const at = fc.nat({ max: 4_096 });

/** Of bytes: one is changed, some go, come, or come twice. */
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(at, fc.nat(255)).map(
    ([where, value]): Change =>
      (bytes) => {
        const copy = Uint8Array.from(bytes);
        if (copy.length > 0) copy[where % copy.length] = value;
        return copy;
      },
  ),
  fc.tuple(at, fc.nat(7)).map(
    ([where, bit]): Change =>
      (bytes) => {
        const copy = Uint8Array.from(bytes);
        if (copy.length > 0) copy[where % copy.length] = (copy[where % copy.length] ?? 0) ^ (1 << bit);
        return copy;
      },
  ),
  at.map(
    (where): Change =>
      (bytes) =>
        bytes.slice(0, where % (bytes.length + 1)),
  ),
  fc.tuple(at, fc.uint8Array({ maxLength: 8 })).map(
    ([where, more]): Change =>
      (bytes) =>
        spliced(bytes, where, 0, more),
  ),
  fc.tuple(at, fc.integer({ min: 1, max: 16 })).map(
    ([where, count]): Change =>
      (bytes) =>
        spliced(bytes, where, count, new Uint8Array(0)),
  ),
  fc.tuple(at, fc.integer({ min: 1, max: 64 })).map(
    ([where, count]): Change =>
      (bytes) => {
        const from = where % (bytes.length + 1);
        return spliced(bytes, from, 0, bytes.slice(from, from + count));
      },
  ),
);

function spliced(bytes: Uint8Array, where: number, gone: number, more: Uint8Array): Uint8Array {
  const from = where % (bytes.length + 1);
  return Uint8Array.from([...bytes.slice(0, from), ...more, ...bytes.slice(from + gone)]);
}

/** As it was, or changed in up to four places. */
export function broken(bytes: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  return fc.tuple(bytes, fc.array(change, { maxLength: 4 })).map(([value, changes]) => changes.reduce((sofar, each) => each(sofar), value));
}

export function brokenText(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return broken(text.map((value) => Buffer.from(value))).map((bytes) => Buffer.from(bytes).toString('latin1'));
}

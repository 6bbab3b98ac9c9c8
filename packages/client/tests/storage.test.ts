/** Every storage keeps the same promises; the one of browsers is held to them in a real one too (tabs.e2e.test.ts). */
import { type ClientStorage, memoryStorage } from '@qim/client';
import 'fake-indexeddb/auto';
import { describe, expect, test } from 'vitest';
import { indexedDbStorage } from '../src/storage/indexeddb-storage.js';

const storages: [string, () => ClientStorage][] = [
  ['memory', memoryStorage],
  ['IndexedDB', () => indexedDbStorage({ locks: undefined })],
];

describe.each(storages)('%s', (kind, make) => {
  const name = (part: string): string => `${kind} ${part}`;

  test('gives back what was written, also to who opens it later', async () => {
    const storage = make();
    const first = await storage.open(name('back'));
    await first.write(
      new Map<string, unknown>([
        ['a', { n: 1, bytes: new Uint8Array([1, 2]), none: undefined }],
        ['b', [1]],
      ]),
    );
    first.close();
    const later = await storage.open(name('back'));
    expect([await later.get('a'), await later.get('b'), await later.get('c')]).toEqual([
      { n: 1, bytes: new Uint8Array([1, 2]) },
      [1],
      undefined,
    ]);
  });

  test('lists what begins with a prefix, by key', async () => {
    const opened = await make().open(name('list'));
    await opened.write(
      new Map([
        ['x/2', 2],
        ['x/10', 10],
        ['x0', 0],
        ['y/1', 1],
      ]),
    );
    expect(await opened.list('x/')).toEqual([
      ['x/10', 10],
      ['x/2', 2],
    ]);
  });

  test('removes by an undefined value, in the same step in which it writes', async () => {
    const opened = await make().open(name('step'));
    await opened.write(
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
    );
    await opened.write(
      new Map<string, unknown>([
        ['a', undefined],
        ['c', 3],
      ]),
    );
    expect(await opened.list('')).toEqual([
      ['b', 2],
      ['c', 3],
    ]);
  });

  test('does not see a change of a value after it was written', async () => {
    const opened = await make().open(name('copy'));
    const value = { list: [1] };
    await opened.write(new Map([['a', value]]));
    value.list.push(2);
    expect(await opened.get('a')).toEqual({ list: [1] });
  });

  test('keeps what is under another name apart, and a destroyed one is empty', async () => {
    const storage = make();
    const [alice, bob] = await Promise.all([storage.open(name('alice')), storage.open(name('bob'))]);
    await alice.write(new Map([['a', 'of alice']]));
    await bob.write(new Map([['a', 'of bob']]));
    await alice.destroy();
    bob.close();
    expect(await (await storage.open(name('alice'))).list('')).toEqual([]);
    expect(await (await storage.open(name('bob'))).get('a')).toBe('of bob');
  });
});

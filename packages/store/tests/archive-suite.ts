/** What holds of every move of a store, whatever it moves from and to. */
import { ARCHIVE_CHUNK_BYTES_MIN } from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import { afterEach, describe, expect, test } from 'vitest';
import { exportStore, readExportedPart } from '../src/archive/index.js';
import type { ArchiveSink } from '../src/archive/sink.js';
import { Bytes, epochsIn, exported, fill, fillAtRandom, imported, linesIn, never, type Place } from './archive-harness.js';

export interface Move {
  readonly name: string;
  from(): Promise<Place>;
  to(): Promise<Place>;
}

export function moveSuite({ name, from, to }: Move): void {
  describe(name, () => {
    const places: Place[] = [];
    afterEach(async () => {
      for (const place of places.splice(0)) await place.close();
    });
    const opened = async (open: () => Promise<Place>): Promise<Place> => {
      const place = await open();
      places.push(place);
      return place;
    };

    test('everything that the store holds is in the other one afterwards, and devices begin anew', async () => {
      const [source, target] = [await opened(from), await opened(to)];
      await fillAtRandom(source, 8);
      await fill(source);
      const before = await exported(source);
      const startedAt = Date.now();
      const state = await imported(target, before);
      expect(state?.counts.record).toBeGreaterThan(70);
      const after = await exported(target);
      expect(await linesIn(after)).toEqual(await linesIn(before));
      expect(Math.min(...(await epochsIn(after)))).toBeGreaterThanOrEqual(startedAt);
    });

    test('an export that was ended goes on where it was, and comes to the same', async () => {
      const source = await opened(from);
      await fill(source, 4);
      const whole = await linesIn(await exported(source));
      const bytes = new Bytes();
      const stop = new AbortController();
      const first = await source.source();
      const write = async (piece: Buffer): Promise<void> => {
        await bytes.write(piece);
        if (bytes.all.length > 2 * ARCHIVE_CHUNK_BYTES_MIN) stop.abort();
      };
      const options = { source: first, write, id: uuidv7(), now: Date.now, progress: () => {} };
      expect(await exportStore({ ...options, after: undefined, signal: stop.signal })).toBeUndefined();
      await first.close();
      const after = await readExportedPart(bytes.read());
      bytes.keep(after.endsAt);
      const second = await source.source();
      const state = await exportStore({ ...options, source: second, write: bytes.write, after, signal: never() });
      await second.close();
      expect(state?.chunks).toBeGreaterThan(1);
      expect([...new Set(await linesIn(bytes))]).toEqual(whole);
    });

    test('an import that broke off keeps servers out, goes on with the same archive alone, and comes to the same', async () => {
      const [source, target] = [await opened(from), await opened(to)];
      await fill(source, 4);
      const bytes = await exported(source);
      const other = await exported(source);
      let applied = 0;
      const breaking = (sink: ArchiveSink): Partial<ArchiveSink> => ({
        async apply(lines, note) {
          // Of the second chunk only the note is missing.
          applied += 1;
          await sink.apply(lines, applied === 2 ? { ...note, chunks: 1 } : note);
          if (applied === 2) throw new Error('the power went');
        },
      });
      await expect(imported(target, bytes, breaking)).rejects.toThrow('the power went');
      await expect(target.store()).rejects.toThrow('an import has not come to its end');
      await expect(imported(target, other)).rejects.toMatchObject({ code: 'StoreNotEmpty' });
      await imported(target, bytes);
      // What waits for delivery may wait twice: delivery is at least once.
      expect([...new Set(await linesIn(await exported(target)))]).toEqual([...new Set(await linesIn(bytes))]);
    });

    test('an archive goes only into an empty store', async () => {
      const [source, target] = [await opened(from), await opened(to)];
      await fill(source);
      const bytes = await exported(source);
      await fill(target);
      await expect(imported(target, bytes)).rejects.toMatchObject({ code: 'StoreNotEmpty' });
      await (await target.store()).close();
    });
  });
}

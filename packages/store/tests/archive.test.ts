/** Archives: the move of an embedded store, and what is refused. */
import { ARCHIVE_LINE_BYTES_MAX } from '@qim/proto';
import { afterEach, expect, test } from 'vitest';
import { ARCHIVE_VERSION, ArchiveError } from '../src/archive/index.js';
import { readArchive } from '../src/archive/reader.js';
import { damageEmbedded } from '../src/embedded/damage.js';
import { Fixture, seq, TENANT } from '../src/testing/conformance/fixture.js';
import type { DamageKind } from '../src/testing/damage-kinds.js';
import { Bytes, type EmbeddedPlace, embeddedPlace, exported, fill, imported, linesIn, type Place } from './archive-harness.js';
import { moveSuite } from './archive-suite.js';
import { EMBEDDED_DAMAGE_KINDS } from './embedded-backend.js';

moveSuite({ name: 'embedded to embedded', from: async () => embeddedPlace(), to: async () => embeddedPlace() });

const places: Place[] = [];
afterEach(async () => {
  for (const place of places.splice(0)) await place.close();
});

async function filled(): Promise<EmbeddedPlace> {
  const place = embeddedPlace();
  places.push(place);
  await fill(place);
  return place;
}

async function failureOf(text: Buffer): Promise<ArchiveError | undefined> {
  const bytes = new Bytes();
  await bytes.write(text);
  try {
    for await (const part of readArchive(bytes.read())) void part;
    return undefined;
  } catch (error) {
    if (error instanceof ArchiveError) return error;
    throw error;
  }
}

/** The number of the line that a byte is in. */
function lineAt(all: Buffer, at: number): number {
  return all.subarray(0, at).toString('latin1').split('\n').length;
}

/** The number of the line that closes the chunk, or the archive, that a byte is in; a changed line end joins two lines. */
function sealAfter(all: Buffer, at: number): number {
  const from = lineAt(all, at);
  const lines = all.toString('latin1').split('\n');
  const seal = lines.findIndex((line, i) => i >= from - 1 && /^\{"kind":"(?:chunk|end)"/.test(line));
  return all[at] === 0x0a ? lines.length : seal + 1;
}

test('any byte that was changed is noticed, and its line or the end of its chunk is named', async () => {
  const { all } = await exported(await filled());
  expect(await failureOf(all)).toBeUndefined();
  for (let at = 0; at < all.length; at += Math.ceil(all.length / 150)) {
    const changed = Buffer.from(all);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const failure = await failureOf(changed);
    expect(failure, `byte ${at}`).toBeDefined();
    expect(failure?.line, `byte ${at}`).toBeGreaterThanOrEqual(lineAt(all, at));
    expect(failure?.line, `byte ${at}`).toBeLessThanOrEqual(sealAfter(all, at));
  }
});

test('an archive that was cut short anywhere is damaged', async () => {
  const { all } = await exported(await filled());
  for (let end = all.length - 1; end > 0; end -= Math.ceil(all.length / 60)) {
    expect((await failureOf(all.subarray(0, end)))?.code, `${end} bytes`).toMatch(/^Archive(Damaged|Unsupported)$/);
  }
});

test('lines that were left out, doubled, swapped or added are noticed', async () => {
  const lines = (await exported(await filled())).all.toString('utf8').split('\n').slice(0, -1);
  const joined = (changed: readonly string[]): Buffer => Buffer.from(changed.map((line) => `${line}\n`).join(''));
  const [first = '', second = ''] = lines.slice(3, 5);
  for (const changed of [lines.toSpliced(3, 1), lines.toSpliced(3, 0, first), lines.toSpliced(3, 2, second, first), [...lines, first]]) {
    expect((await failureOf(joined(changed)))?.code).toBe('ArchiveDamaged');
  }
});

test('an archive of another version is refused, and so is what is none', async () => {
  const { all } = await exported(await filled());
  const newer = all.toString('utf8').replace(`"version":${ARCHIVE_VERSION}`, `"version":${ARCHIVE_VERSION + 1}`);
  expect(await failureOf(Buffer.from(newer))).toMatchObject({
    code: 'ArchiveUnsupported',
    message: expect.stringContaining('this one has 2'),
  });
  for (const text of ['', 'PNG\n', '{"kind":"else"}\n', '[]\n']) {
    expect((await failureOf(Buffer.from(text)))?.code, JSON.stringify(text)).toBe('ArchiveUnsupported');
  }
});

test('a line of ARCHIVE_LINE_BYTES_MAX is read, and a longer one is damage', async () => {
  const header = (await exported(await filled())).all.toString('utf8').split('\n')[0] ?? '';
  const padded = (length: number): Buffer => {
    const line = '{"kind":"profile","text":""}';
    const text = line.replace('""', `"${'x'.repeat(length - line.length - 1)}"`);
    return Buffer.from(`${header}\n{"kind":"user","tenant":7,"user":"a"}\n${text}\n`);
  };
  expect((await failureOf(padded(ARCHIVE_LINE_BYTES_MAX)))?.message).toContain('ends before its end');
  expect((await failureOf(padded(ARCHIVE_LINE_BYTES_MAX + 1)))?.message).toContain('longer than');
});

test('nothing of a damaged archive is written', async () => {
  const bytes = await exported(await filled());
  const damaged = new Bytes();
  await damaged.write(bytes.all.subarray(0, bytes.all.length - 10));
  const target = embeddedPlace();
  places.push(target);
  await expect(imported(target, damaged)).rejects.toMatchObject({ code: 'ArchiveDamaged' });
  await imported(target, bytes);
});

test('damage is never lost on the way: it is carried on as it stands, or it ends the export with its place', async () => {
  const refused: DamageKind[] = [];
  for (const kind of EMBEDDED_DAMAGE_KINDS) {
    const place = await filled();
    const sound = await linesIn(await exported(place));
    const [conversationId, userId] = await firstOf(place);
    await damageEmbedded(place.folder, { tenantId: TENANT, conversationId, conversationSeq: seq(4), userId }, kind);
    try {
      const bytes = await exported(place);
      expect(await linesIn(bytes), kind).not.toEqual(sound);
    } catch (error) {
      expect(error, kind).toMatchObject({ code: 'NotArchivable', message: expect.stringContaining(conversationId) });
      refused.push(kind);
    }
  }
  expect(refused).toEqual(['indexMemberShort', 'factsMissing', 'factsUnreadable', 'memberUnreadable']);
});

async function firstOf(place: Place) {
  const store = await place.store();
  const [found] = (await store.messages.conversations(undefined, 10)).conversations;
  if (found === undefined) throw new Error('there is one');
  const [userId] = (await store.messages.readMembers(found.tenantId, found.conversationId)).keys();
  await store.close();
  if (userId === undefined) throw new Error('it has members');
  return [found.conversationId, userId] as const;
}

test('a server keeps an export out, and an export a server', async () => {
  const place = await filled();
  const store = await place.store();
  await expect(place.source()).rejects.toMatchObject({ code: 'StoreUnavailable' });
  await store.close();
  const source = await place.source();
  await expect(place.store()).rejects.toMatchObject({ code: 'StoreUnavailable' });
  await source.close();
});

test('after an import sequences go on, and counts are exact', async () => {
  const [source, target] = [await filled(), embeddedPlace()];
  places.push(target);
  await imported(target, await exported(source));
  const [conversationId, userId] = await firstOf(target);
  const store = await target.store();
  const { views } = await store.directory.page(TENANT, userId, 10, undefined);
  const states = views.map((view) => ({ conversationId, watermark: view.readSeq }));
  const [before] = await store.messages.conversationSummaries(TENANT, userId, states);
  const fixture = new Fixture({ store, advance: () => {}, skipSequences: async () => {}, close: async () => {} });
  const request = { ...fixture.direct(userId, userId).request(userId), tenantId: TENANT, conversationId, create: undefined };
  const committed = await store.messages.commit(request);
  expect(committed).toMatchObject({ conversationSeq: (before?.latestConversationSeq ?? 0) + 1 });
  expect(before).toMatchObject({ unreadExact: true });
  await store.close();
});

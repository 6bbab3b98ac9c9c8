/** The stores that released versions wrote, as they are kept with the tests: packed, with what they said when they were written. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';

const FOLDER = fileURLToPath(new URL('./stores/', import.meta.url));

export type Kind = 'embedded' | 'redis';

/** What the files of each kind are called where they are used. */
const FILES: Readonly<Record<Kind, string>> = { embedded: 'messages.mdb', redis: 'dump.rdb' };

/** Those that have left a store of that kind, ascending by name. */
export async function versions(kind: Kind): Promise<readonly string[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith(`-${kind}.gz`));
  return names.map((name) => name.slice(0, -`-${kind}.gz`.length)).sort();
}

/** What `reading.ts` read of it then. */
export async function goldenOf(version: string, kind: Kind): Promise<unknown> {
  return JSON.parse(gunzipSync(await readFile(join(FOLDER, `${version}-${kind}.json.gz`))).toString('utf8'));
}

/** Into `folder`, for a store to be opened there. */
export async function unpack(version: string, kind: Kind, folder: string): Promise<void> {
  const packed = await readFile(join(FOLDER, `${version}-${kind}.gz`));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, FILES[kind]), gunzipSync(packed));
}

/** Bytes of what is kept. */
export async function pack(version: string, kind: Kind, folder: string, reading: unknown): Promise<number> {
  await mkdir(FOLDER, { recursive: true });
  const packed = gzipSync(await readFile(join(folder, FILES[kind])), { level: 9 });
  const golden = gzipSync(`${JSON.stringify(reading, null, 1)}\n`, { level: 9 });
  await writeFile(join(FOLDER, `${version}-${kind}.gz`), packed);
  await writeFile(join(FOLDER, `${version}-${kind}.json.gz`), golden);
  return packed.length + golden.length;
}

/** Every length and every single bit of records and bodies, one read each, on the store itself. The codec's own sweeps: codec.test.ts. */
import { isDamage } from '../src/errors.js';
import { seq } from '../src/testing/conformance/fixture.js';
import type { MatrixStage, Scene } from './damage-matrix.js';

/** So many conversations are broken at a time: a write waits for its flush. */
const LANES = 32;

export interface Sweep {
  readonly what: string;
  readonly part: 'record' | 'body';
  readonly at: number;
  /** For each byte. */
  readonly ways: 1 | 8;
  /** Of bytes, all ways to break them so, by number; undefined past the last. */
  damaged(bytes: Uint8Array, index: number): Uint8Array | undefined;
}

const cut: Sweep['damaged'] = (bytes, index) => (index < bytes.length ? bytes.subarray(0, index) : undefined);

const flip: Sweep['damaged'] = (bytes, index) => {
  if (index >= bytes.length * 8) return undefined;
  const copy = new Uint8Array(bytes);
  copy[index >> 3] = (copy[index >> 3] ?? 0) ^ (1 << (index & 7));
  return copy;
};

export const SWEEPS: readonly Sweep[] = [
  { what: 'record cut at each length', part: 'record', at: 3, ways: 1, damaged: cut },
  { what: 'record with its body apart, cut at each length', part: 'record', at: 4, ways: 1, damaged: cut },
  { what: 'body cut at each length', part: 'body', at: 4, ways: 1, damaged: cut },
  { what: 'record, each bit flipped', part: 'record', at: 3, ways: 8, damaged: flip },
  { what: 'record with its body apart, each bit flipped', part: 'record', at: 4, ways: 8, damaged: flip },
  { what: 'body, each bit flipped', part: 'body', at: 4, ways: 8, damaged: flip },
];

export interface Swept {
  /** Length of what was broken. */
  readonly bytes: number;
  readonly tried: number;
  readonly noticed: number;
}

/** A list reads each broken record, history each broken body. All lanes break bytes of one length, so that none is left out. */
export async function sweep(stage: MatrixStage, { part, at, damaged }: Sweep): Promise<Swept> {
  const { tamper } = stage;
  const made: { readonly scene: Scene; readonly whole: Uint8Array }[] = [];
  for (let i = 0; i < LANES; i += 1) {
    const scene = await stage.scene();
    const whole = part === 'record' ? await tamper.record(scene.chat, seq(at)) : await tamper.body(scene.chat, seq(at));
    made.push({ scene, whole });
  }
  const lanes = made.filter(({ whole }) => whole.length === made.at(-1)?.whole.length);
  const swept = { bytes: made.at(-1)?.whole.length ?? 0, tried: 0, noticed: 0 };
  await Promise.all(
    lanes.map(async ({ scene, whole }, lane) => {
      for (let index = lane; ; index += lanes.length) {
        const bytes = damaged(whole, index);
        if (bytes === undefined) return;
        await (part === 'record' ? tamper.setRecord(scene.chat, seq(at), bytes) : tamper.setBody(scene.chat, seq(at), bytes));
        swept.tried += 1;
        if (await isTold(stage, scene, part)) swept.noticed += 1;
      }
    }),
  );
  return swept;
}

async function isTold({ bob }: MatrixStage, { chat }: Scene, part: Sweep['part']): Promise<boolean> {
  if (part === 'record') return (await chat.reading(bob)).kind === 'damaged';
  try {
    await chat.history(bob, { position: { after: seq(3) }, limit: 1 });
    return false;
  } catch (error) {
    if (isDamage(error)) return true;
    throw error;
  }
}

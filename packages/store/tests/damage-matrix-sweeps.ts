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
  { what: 'record cut at each length', part: 'record', at: 3, damaged: cut },
  { what: 'record with its body apart, cut at each length', part: 'record', at: 4, damaged: cut },
  { what: 'body cut at each length', part: 'body', at: 4, damaged: cut },
  { what: 'record, each bit flipped', part: 'record', at: 3, damaged: flip },
  { what: 'record with its body apart, each bit flipped', part: 'record', at: 4, damaged: flip },
  { what: 'body, each bit flipped', part: 'body', at: 4, damaged: flip },
];

export interface Swept {
  readonly tried: number;
  readonly noticed: number;
}

/** A list reads each broken record, history each broken body. */
export async function sweep(stage: MatrixStage, { part, at, damaged }: Sweep): Promise<Swept> {
  const scenes: Scene[] = [];
  for (let lane = 0; lane < LANES; lane += 1) scenes.push(await stage.scene());
  const { tamper } = stage;
  const swept = { tried: 0, noticed: 0 };
  await Promise.all(
    scenes.map(async (scene, lane) => {
      const whole = part === 'record' ? await tamper.record(scene.chat, seq(at)) : await tamper.body(scene.chat, seq(at));
      for (let index = lane; ; index += LANES) {
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

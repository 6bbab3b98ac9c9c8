/** What both stores answered, made comparable, and where two answers first differ. */
import { isQimError } from '@qim/proto';

/** What came of a call: a value, or the code and detail with which it was refused. */
export async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return plain(await call);
  } catch (error) {
    if (isQimError(error)) return { refused: error.code, detail: plain(error.detail) };
    throw error;
  }
}

/** Values of JSON alone: bytes as hexadecimal, maps as lists of pairs, errors by their code, nothing undefined. */
export function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (value instanceof Map) return [...value].map(plain);
  if (value instanceof Error) return isQimError(value) ? { code: value.code, detail: plain(value.detail) } : String(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(kept.map(([key, item]) => [key, plain(item)]));
}

/** `path: what one has, what the other has`; undefined: they are equal. Both are of `plain`. */
export function firstDifference(expected: unknown, actual: unknown, path = ''): string | undefined {
  if (isTree(expected) && isTree(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    const [left, right] = [new Map(Object.entries(expected)), new Map(Object.entries(actual))];
    for (const key of new Set([...left.keys(), ...right.keys()])) {
      const found = firstDifference(left.get(key), right.get(key), `${path}.${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (Object.is(expected, actual)) return undefined;
  return `${path === '' ? 'the answer' : path.slice(1)}: model ${shown(expected)}, store ${shown(actual)}`;
}

function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

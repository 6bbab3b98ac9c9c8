/** Values that only the LMDB store forms. What it shares with Redis is made in ../message and ../directory. */
import { type CorruptReason, DEDUP_WEEK_MS } from '@qim/proto';
import { getSafeU64, getText, Malformed, setU64, viewOf } from '../message/bytes.js';
import { FACT_FIELDS, type FactField, formatFacts, parseFacts, type StoredFacts } from '../message/facts.js';
import { xxh32 } from '../message/xxh32.js';

/** Whole weeks since the Unix epoch; `now` in Unix milliseconds. */
export function weekOf(now: number): number {
  return Math.floor(now / DEDUP_WEEK_MS);
}

/** A number of 8 bytes big-endian; 0 for what is absent or no such number. */
export function counterFrom(value: Uint8Array | undefined): number {
  if (value === undefined || value.length !== 8) return 0;
  return Math.max(0, getSafeU64(viewOf(value), 0));
}

export function counterValue(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  setU64(viewOf(bytes), 0, value);
  return bytes;
}

const FACTS_VERSION = 1;
/** version u8, 255 - version, XXH32 of the rest (seed: the first two bytes) u32; then the fields as a JSON object of texts. */
const FACTS_HEAD_BYTES = 6;

export function encodeFacts(facts: StoredFacts): Uint8Array {
  const json = Buffer.from(JSON.stringify(formatFacts(facts)));
  const bytes = Buffer.allocUnsafe(FACTS_HEAD_BYTES + json.length);
  bytes[0] = FACTS_VERSION;
  bytes[1] = 0xff - FACTS_VERSION;
  bytes.set(json, FACTS_HEAD_BYTES);
  viewOf(bytes).setUint32(2, factsChecksum(bytes));
  return bytes;
}

/** Undefined: there are none, no such conversation. */
export function decodeFacts(bytes: Uint8Array | undefined): StoredFacts | CorruptReason | undefined {
  if (bytes === undefined) return undefined;
  const [version, complement] = [bytes[0] ?? 0, bytes[1] ?? 0];
  if (bytes.length < FACTS_HEAD_BYTES || version + complement !== 0xff) return 'factsUnreadable';
  if (version !== FACTS_VERSION) return 'unsupportedVersion';
  if (viewOf(bytes).getUint32(2) !== factsChecksum(bytes)) return 'factsUnreadable';
  const fields = factFields(bytes);
  return fields === undefined ? 'factsUnreadable' : (parseFacts(fields) ?? 'factsUnreadable');
}

function factsChecksum(bytes: Uint8Array): number {
  const view = viewOf(bytes);
  return xxh32(view, FACTS_HEAD_BYTES, bytes.length, view.getUint16(0));
}

/** In the order of FACT_FIELDS. */
function factFields(bytes: Uint8Array): (string | undefined)[] | undefined {
  try {
    const value: unknown = JSON.parse(getText(bytes, FACTS_HEAD_BYTES, bytes.length - FACTS_HEAD_BYTES));
    if (typeof value !== 'object' || value === null) return undefined;
    const fields = value as Partial<Record<FactField, unknown>>;
    // None of these names is one of every object's.
    return FACT_FIELDS.map((name) => textOr(fields[name]));
  } catch (error) {
    if (error instanceof Malformed || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function textOr(field: unknown): string | undefined {
  return typeof field === 'string' ? field : undefined;
}

/** Text as it is stored; damage may leave bytes that are no UTF-8, and then the text fits no form. */
export function textFrom(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

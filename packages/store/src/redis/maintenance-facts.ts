/** Facts as they stand, and the guard by which a repair knows that they still stand so. */
import { FACT_FIELDS, formatFacts, type StoredFacts } from '../message/facts.js';
import type { FactsRead } from '../verify/scanner.js';
import { isWrongType, type Reply } from './connection.js';
import { factsFrom } from './reads.js';
import { asArray, asOptionalBuffer } from './replies.js';

/** Of a key of another type. */
export const WRONG_TYPE_GUARD = 'wrongType';

/** From the reply of `factsCommand`. */
export function readFactsFrom(reply: Reply | undefined): FactsRead {
  if (isWrongType(reply)) return { facts: 'wrongType', texts: undefined, raw: undefined, guard: WRONG_TYPE_GUARD };
  const values = asArray(reply).map(asOptionalBuffer);
  const texts = values.map((value) => value?.toString('utf8'));
  const raw = values.some((value) => value !== undefined) ? Buffer.from(JSON.stringify(texts), 'utf8') : undefined;
  return { facts: factsFrom(reply), texts, raw, guard: guardOfValues(values) };
}

/** The values in the order of FACT_FIELDS, as Latin-1 so that any byte passes. */
function guardOfValues(values: readonly (Buffer | undefined)[]): string {
  return JSON.stringify(values.map((value) => value?.toString('latin1') ?? null));
}

export function guardOfFacts(facts: StoredFacts): string {
  const formatted = formatFacts(facts);
  return guardOfValues(FACT_FIELDS.map((name) => Buffer.from(formatted[name], 'utf8')));
}

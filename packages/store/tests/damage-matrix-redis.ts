/** Damage that only a Redis can have. */
import { FACT_FIELDS } from '../src/message/facts.js';

export const REDIS_OWN: readonly string[] = [
  ...FACT_FIELDS.flatMap((name) => [`facts without ${name}`, ...(name === 'title' ? [] : [`facts, ${name} unreadable`])]),
  'index, a score of 1 in the middle',
  'index, a score of -1 in the middle',
  'index, a score of 0.5 on the first',
  'facts of a wrong type',
  'members of a wrong type',
  'records of a wrong type',
  'bodies of a wrong type',
  'reactions of a wrong type',
];

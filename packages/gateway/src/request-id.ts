/** The id under which a request is found in the log. */
import { randomUUID } from 'node:crypto';
import { REQUEST_ID_CHARS_MAX } from '@qim/proto';

export const REQUEST_ID = 'qim-request-id';

const SAFE = new RegExp(`^[A-Za-z0-9._-]{1,${REQUEST_ID_CHARS_MAX}}$`);

/** The caller's own where it can do no harm in a log or a header; otherwise a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && SAFE.test(header) ? header : randomUUID();
}

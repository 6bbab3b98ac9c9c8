/**
 * One URL of the operator's, and a signed POST to it. No redirect is followed, nothing that a user wrote has a part in where
 * a call goes, and no more of an answer is read than a yes or a no takes.
 */
import { HOOK_ANSWER_BYTES_MAX } from '@qim/proto';
import type { Secrets } from '../secrets.js';
import { signatureOf } from './signature.js';

export interface EndpointOptions {
  readonly url: URL;
  readonly secrets: Secrets;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly fetch: typeof fetch;
}

export interface Call {
  /** The same for each try of one thing. */
  readonly id: string;
  readonly body: object;
  readonly timeoutMs: number;
  /** Ends it at once. */
  readonly signal?: AbortSignal;
}

/** `text`: the first HOOK_ANSWER_BYTES_MAX bytes. */
export type EndpointAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly text: string }
  | { readonly kind: 'timeout' }
  /** `why`: the system's word for it. */
  | { readonly kind: 'unreachable'; readonly why: string };

export class Endpoint {
  readonly #options: EndpointOptions;

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async post({ id, body, timeoutMs, signal }: Call): Promise<EndpointAnswer> {
    const { url, now, fetch } = this.#options;
    const text = JSON.stringify(body);
    const late = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: this.#headers(id, String(Math.floor(now() / 1_000)), text),
        body: text,
        redirect: 'manual',
        signal: signal === undefined ? late : AbortSignal.any([late, signal]),
      });
      return { kind: 'answered', status: response.status, text: await beginningOf(response) };
    } catch (error) {
      return late.aborted ? { kind: 'timeout' } : { kind: 'unreachable', why: causeOf(error) };
    }
  }

  #headers(id: string, timestamp: string, text: string): Record<string, string> {
    return {
      'content-type': 'application/json',
      'user-agent': 'qim-webhook/1',
      'qim-webhook-id': id,
      'qim-webhook-timestamp': timestamp,
      'qim-webhook-signature': signatureOf(this.#options.secrets, timestamp, text),
    };
  }
}

async function beginningOf(response: Response): Promise<string> {
  const body: ReadableStream<Uint8Array> | null = response.body;
  const reader = body?.getReader();
  if (reader === undefined) return '';
  const parts: Uint8Array[] = [];
  let length = 0;
  while (length < HOOK_ANSWER_BYTES_MAX) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(parts).toString('utf8');
    parts.push(value);
    length += value.length;
  }
  await reader.cancel();
  return Buffer.concat(parts).subarray(0, HOOK_ANSWER_BYTES_MAX).toString('utf8');
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return error instanceof Error ? error.name : 'unknown';
}

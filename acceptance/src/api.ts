/** The public API over plain HTTP: what any language's client would send. */
import assert from 'node:assert/strict';

/** protobuf's JSON: 64-bit integers are strings. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

/** What an error answer must say. */
export interface ExpectedError {
  readonly code: string;
  readonly reason: string;
  readonly field?: string;
}

export class Api {
  readonly #url: () => string;

  /** `url` is asked at each call: a restarted server may answer elsewhere. */
  constructor(url: () => string) {
    this.#url = url;
  }

  async answer(method: string, token: string | undefined, body: JsonObject, headers: Record<string, string> = {}): Promise<Answer> {
    const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(new URL(`/qim.v1.${method}`, this.#url()), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization, ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as JsonObject };
  }

  async ok(method: string, token: string, body: JsonObject, headers: Record<string, string> = {}): Promise<JsonObject> {
    const answer = await this.answer(method, token, body, headers);
    assert.equal(answer.status, 200, `${method}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async fails(method: string, token: string | undefined, body: JsonObject, expected: ExpectedError): Promise<JsonObject> {
    const answer = await this.answer(method, token, body);
    assert.notEqual(answer.status, 200, `${method} should have failed with ${expected.reason}`);
    assert.equal(answer.body.code, expected.code, JSON.stringify(answer.body));
    const detail = detailOf(answer.body);
    assert.equal(detail.reason, expected.reason, JSON.stringify(answer.body));
    if (expected.field !== undefined) assert.equal(detail.field, expected.field);
    return answer.body;
  }
}

function detailOf(body: JsonObject): JsonObject {
  const details = array(body.details);
  const detail = details.map(object).find((d) => d.type === 'qim.v1.ErrorDetail');
  assert.ok(detail, `an error without its detail: ${JSON.stringify(body)}`);
  return object(detail.debug);
}

export function object(value: Json | undefined): JsonObject {
  assert.ok(value !== undefined && typeof value === 'object' && value !== null && !Array.isArray(value), 'an object was expected');
  return value as JsonObject;
}

export function array(value: Json | undefined): readonly Json[] {
  assert.ok(Array.isArray(value), 'an array was expected');
  return value as readonly Json[];
}

export function text(value: Json | undefined): string {
  assert.equal(typeof value, 'string', 'a string was expected');
  return value as string;
}

/** A 64-bit integer of the wire. */
export function integer(value: Json | undefined): number {
  const number = Number(text(value));
  assert.ok(Number.isSafeInteger(number), `no safe integer: ${JSON.stringify(value)}`);
  return number;
}

/** The API as curl sees it: JSON by fetch. */
import type { MethodName } from '@qim/proto';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers by name
export type JsonObject = { readonly [key: string]: any }; // oxlint-disable-line typescript/no-explicit-any

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Headers;
}

type Short<Name> = Name extends `qim.v1.${infer Rest}` ? Rest : never;

export async function call(
  url: string,
  method: Short<MethodName>,
  token: string | undefined,
  body: Json,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return post(url, `/qim.v1.${method}`, JSON.stringify(body), { ...bearer(token), ...headers });
}

export async function post(url: string, path: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(new URL(path, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body as string,
  });
  return { status: response.status, body: (await response.json()) as JsonObject, headers: response.headers };
}

export function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** What an error answer says, in one line. */
export function refusal({ status, body }: Answer): { status: number; code: string; reason: string; field: string } {
  const detail = body.details?.[0]?.debug ?? {};
  return { status, code: body.code, reason: detail.reason ?? '', field: detail.field ?? '' };
}

/** Calls over plain HTTP under one token. */
export class Caller {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  async call(method: string, body: object): Promise<Record<string, unknown>> {
    const response = await fetch(new URL(`/qim.v1.${method}`, this.#url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#token}` },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`${method}: ${JSON.stringify(answer)}`);
    return answer;
  }
}

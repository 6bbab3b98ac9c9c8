/** The bounds of a call to a webhook, and of questions that are open at the same time. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BEFORE_SEND_IN_FLIGHT_MAX, HOOK_ANSWER_BYTES_MAX, MessageType, parseTenantId, parseUserId } from '@qim/proto';
import type { Draft } from '@qim/writer';
import { expect, onTestFinished, test } from 'vitest';
import { beforeSendBy } from '../src/webhooks/before-send.js';
import { Endpoint, type EndpointAnswer } from '../src/webhooks/endpoint.js';
import { signatureOf } from '../src/webhooks/signature.js';

const ALICE = parseUserId('alice');
const DRAFT: Draft = {
  caller: { tenantId: parseTenantId(0), userId: ALICE, deviceId: undefined, admin: false },
  action: 'send',
  place: { toUserId: ALICE },
  type: MessageType.Text,
  content: { kind: 'text', text: 'hello' },
  mentionUserIds: [],
  mentionAll: false,
};

test('a signature is that of the documented example', () => {
  const secrets = ['0123456789abcdef0123456789abcdef'] as const;
  // By openssl: printf '1700000000.{}' | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
  expect(signatureOf(secrets, '1700000000', '{}')).toBe('v1=417adf36b901772f658597a76d329694e335e65fc0849d7715c3ca33406309b5');
});

test('as many questions as the bound are asked at the same time, and one more counts as not answered', async () => {
  const open: ((answer: EndpointAnswer) => void)[] = [];
  const post = () => new Promise<EndpointAnswer>((resolve) => open.push(resolve));
  const outcomes: string[] = [];
  const ask = beforeSendBy({
    endpoint: { post },
    timeoutMs: 1,
    onFailure: 'closed',
    newId: () => 'id',
    asked: (one) => outcomes.push(one),
  });
  const first = Array.from({ length: BEFORE_SEND_IN_FLIGHT_MAX }, () => ask(DRAFT));
  expect(await ask(DRAFT)).toBe('unanswered');
  expect(open).toHaveLength(BEFORE_SEND_IN_FLIGHT_MAX);
  for (const answer of open) answer({ kind: 'answered', status: 200, text: '{"allow":true}' });
  expect(new Set(await Promise.all(first))).toEqual(new Set(['allowed']));
  expect(outcomes.filter((one) => one === 'failed')).toHaveLength(1);
});

test.each([
  [HOOK_ANSWER_BYTES_MAX, HOOK_ANSWER_BYTES_MAX],
  [HOOK_ANSWER_BYTES_MAX + 1, HOOK_ANSWER_BYTES_MAX],
  [50 * HOOK_ANSWER_BYTES_MAX, HOOK_ANSWER_BYTES_MAX],
])('of an answer of %i bytes %i are read', async (sent, read) => {
  const server = createServer((_, response) => response.end('x'.repeat(sent)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const endpoint = new Endpoint({ url, secrets: ['s'], now: Date.now, fetch });
  const answer = await endpoint.post({ id: 'id', body: {}, timeoutMs: 10_000 });
  expect(answer.kind === 'answered' && answer.text.length).toBe(read);
});

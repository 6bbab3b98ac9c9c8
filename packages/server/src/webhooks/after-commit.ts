/** What the webhook is told of messages: bodies, and what its answers mean. docs/webhooks.md */
import { messageJson } from '@qim/gateway';
import { HOOK_CALL_TIMEOUT_MS } from '@qim/proto';
import type { HookAnswer, HookEvent, Hooks } from '@qim/push';
import type { Endpoint, EndpointAnswer } from './endpoint.js';

/** Answers that are about the body: the same one again would be answered the same. */
const REFUSED: ReadonlySet<number> = new Set([400, 410, 413, 415, 422]);

export function tellBy(endpoint: Endpoint): Hooks['tell'] {
  return async (event, signal) =>
    answerOf(await endpoint.post({ id: event.id, body: bodyOf(event), timeoutMs: HOOK_CALL_TIMEOUT_MS, signal }));
}

export function bodyOf(event: HookEvent): object {
  const { kind: type, id, message } = event;
  const place = { type, id, tenantId: message.record.tenantId };
  if (event.kind === 'afterSend') return { ...place, change: event.amended ? 'amended' : 'sent', message: messageJson(message) };
  return { ...place, message: messageJson(message), recipients: event.recipients };
}

function answerOf(answer: EndpointAnswer): HookAnswer {
  if (answer.kind === 'timeout') return { outcome: 'failed', why: 'timeout' };
  if (answer.kind === 'unreachable') return { outcome: 'unreachable', why: answer.why };
  const { status } = answer;
  if (status >= 200 && status < 300) return { outcome: 'taken' };
  return { outcome: REFUSED.has(status) ? 'refused' : 'failed', why: String(status) };
}

/**
 * Asks the operator's service whether a message may be sent. What is no clear yes or no within the time is decided by the
 * setting: closed refuses, so that the sender tries again; open lets it pass.
 */
import { BEFORE_SEND_IN_FLIGHT_MAX, type MessageContent } from '@qim/proto';
import type { BeforeSend, Draft } from '@qim/writer';
import type { Endpoint } from './endpoint.js';

export interface BeforeSendOptions {
  readonly endpoint: Pick<Endpoint, 'post'>;
  readonly timeoutMs: number;
  readonly onFailure: 'open' | 'closed';
  readonly newId: () => string;
  /** Told of each answer. */
  readonly asked: (outcome: 'allowed' | 'denied' | 'failed') => void;
}

export function beforeSendBy({ endpoint, timeoutMs, onFailure, newId, asked }: BeforeSendOptions): BeforeSend {
  let inFlight = 0;
  const ask = async (draft: Draft): Promise<boolean | undefined> => {
    if (inFlight >= BEFORE_SEND_IN_FLIGHT_MAX) return undefined;
    inFlight += 1;
    try {
      const id = newId();
      const answer = await endpoint.post({ id, body: { type: 'beforeSend', id, ...draftJson(draft) }, timeoutMs });
      return answer.kind === 'answered' && answer.status === 200 ? verdictIn(answer.text) : undefined;
    } finally {
      inFlight -= 1;
    }
  };
  return async (draft) => {
    const allow = await ask(draft);
    asked(allow === undefined ? 'failed' : allow ? 'allowed' : 'denied');
    if (allow !== undefined) return allow ? 'allowed' : 'denied';
    return onFailure === 'open' ? 'allowed' : 'unanswered';
  };
}

/** Undefined: neither a yes nor a no. */
function verdictIn(text: string): boolean | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    const allow = typeof parsed === 'object' && parsed !== null && 'allow' in parsed ? parsed.allow : undefined;
    return typeof allow === 'boolean' ? allow : undefined;
  } catch {
    return undefined;
  }
}

/** Names as in the API's SendMessage and EditMessage. */
function draftJson({ caller, action, place, type, content, mentionUserIds, mentionAll }: Draft): object {
  const { tenantId, userId, deviceId } = caller;
  const sender = { senderUserId: userId, senderDeviceId: deviceId ?? '' };
  return { tenantId, action, message: { ...place, ...sender, type, ...contentJson(content), mentionUserIds, mentionAll } };
}

function contentJson(content: MessageContent): object {
  if (content.kind === 'text') return { text: content.text };
  if (content.kind !== 'data') return {};
  return { content: { contentType: content.contentType, data: Buffer.from(content.data).toString('base64') } };
}

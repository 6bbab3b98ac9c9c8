/**
 * Notifications to browsers: encrypted for the one browser (RFC 8291), signed as this deployment's (RFC 8292), and posted to
 * the push service that the browser named (RFC 8030). No redirect is followed, and nothing of an answer is read but its status.
 */
import { request as requestHttp } from 'node:http';
import { Agent, request as requestHttps } from 'node:https';
import { HOOK_ANSWER_BYTES_MAX, WEB_PUSH_CALL_TIMEOUT_MS, WEB_PUSH_TTL_SECONDS } from '@qim/proto';
import type { Hooks, WebPushNotification, WebPushOutcome } from '@qim/push';
import { systemCode } from '../errors.js';
import type { Log } from '../log.js';
import type { Config } from '../settings.js';
import { acceptsEndpoint, guardedLookup, NOT_PUBLIC } from './endpoint-rule.js';
import { payloadOf, topicOf } from './payload.js';
import { readVapidKeys } from './vapid.js';

export interface WebPush {
  /** In base64url. */
  readonly publicKey: string;
  readonly accepts: (endpoint: string) => boolean;
  readonly send: NonNullable<Hooks['webPush']>;
}

export interface WebPushOptions extends Pick<Config, 'dev' | 'vapidKeyFile' | 'vapidSubject' | 'webPushContent'> {
  readonly log: Pick<Log, 'warn'>;
  /** In place of the system's authorities; for tests. */
  readonly ca?: string;
  /** Of one call; default WEB_PUSH_CALL_TIMEOUT_MS. */
  readonly timeoutMs?: number;
}

/** How a call is made. */
interface Way {
  readonly agent: Agent;
  readonly dev: boolean;
  readonly timeoutMs: number;
}

interface Post {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Buffer;
}

/** Undefined: none is sent. @throws StartError BadSecret */
export async function webPushOf(given: WebPushOptions): Promise<WebPush | undefined> {
  const { dev, vapidKeyFile, vapidSubject, webPushContent, log, ca, timeoutMs = WEB_PUSH_CALL_TIMEOUT_MS } = given;
  if (vapidKeyFile === undefined || vapidSubject === undefined) return undefined;
  const keys = await readVapidKeys(vapidKeyFile);
  // Only a server that sends any loads it.
  const { default: library } = await import('web-push');
  const way = { agent: new Agent({ keepAlive: true, ...(ca === undefined ? {} : { ca }) }), dev, timeoutMs };
  const accepts = (endpoint: string) => acceptsEndpoint(endpoint, dev);
  const options = { vapidDetails: { subject: vapidSubject, ...keys }, TTL: WEB_PUSH_TTL_SECONDS, urgency: 'high' } as const;
  const contentEncoding = library.supportedContentEncodings.AES_128_GCM;
  /** Undefined: what is stored of the browser is no key. */
  const seal = (notification: WebPushNotification): Omit<Post, 'endpoint'> | undefined => {
    const { endpoint, p256dh, auth } = notification.subscription;
    const payload = JSON.stringify(payloadOf(notification, webPushContent));
    try {
      const sealed = { ...options, contentEncoding, topic: topicOf(notification) };
      const { headers, body } = library.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, payload, sealed);
      return body === null ? undefined : { headers: headersFrom(headers), body };
    } catch {
      return undefined;
    }
  };
  return {
    publicKey: keys.publicKey,
    accepts,
    async send(notification, signal) {
      const { endpoint } = notification.subscription;
      // The rule may have been another one when it was registered.
      if (!accepts(endpoint)) return 'refused';
      const sealed = seal(notification);
      if (sealed === undefined) return 'refused';
      const status = await post({ endpoint, ...sealed }, way, signal);
      const outcome = outcomeOf(status);
      if (outcome === 'refused') log.warn({ answer: status }, 'a push service refused a notification');
      return outcome;
    },
  };
}

/** The status, or the system's word for what happened instead. Never rejects. */
function post({ endpoint, headers, body }: Post, { agent, dev, timeoutMs }: Way, signal: AbortSignal): Promise<number | string> {
  const url = new URL(endpoint);
  const late = AbortSignal.timeout(timeoutMs);
  const common = { method: 'POST', headers, lookup: guardedLookup(dev), signal: AbortSignal.any([late, signal]) };
  return new Promise((resolve) => {
    const call = url.protocol === 'http:' ? requestHttp(url, common) : requestHttps(url, { ...common, agent });
    call.on('error', (error) => resolve(late.aborted ? 'timeout' : (systemCode(error) ?? 'unknown')));
    call.on('response', (response) => {
      resolve(response.statusCode ?? 0);
      // The connection is kept for the next one, unless the answer is long.
      if (Number(response.headers['content-length'] ?? Infinity) <= HOOK_ANSWER_BYTES_MAX) response.resume();
      else response.destroy();
    });
    call.end(body);
  });
}

function outcomeOf(answer: number | string): WebPushOutcome {
  if (typeof answer === 'string') return answer === NOT_PUBLIC ? 'refused' : 'failed';
  if (answer >= 200 && answer < 300) return 'taken';
  if (answer === 404 || answer === 410) return 'gone';
  return answer === 429 || answer >= 500 ? 'failed' : 'refused';
}

function headersFrom(headers: Record<string, unknown>): Readonly<Record<string, string | number>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, typeof value === 'number' ? value : String(value)]));
}

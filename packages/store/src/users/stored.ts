/** Profiles, reports and subscriptions as they are stored: JSON, because nothing is ever looked up by what is inside. */
import { createHash } from 'node:crypto';
import {
  isQimError,
  parseConversationId,
  parseConversationSeq,
  parseDeviceId,
  parseMessageId,
  parseUserId,
  resourceLimit,
  SUSPENDED_DEVICES_MAX,
  WEB_PUSH_PER_USER_MAX,
} from '@qim/proto';
import type { Report, StoredProfile, WebPushSubscription } from './users.js';

/** Stands for the whole user among the names of suspended devices, which are never empty. */
export const WHOLE_USER = '';

export function formatProfile({ displayName, avatarUrl }: StoredProfile): string {
  return JSON.stringify({ displayName, avatarUrl });
}

/** Undefined: no such text. */
export function parseProfile(text: string): StoredProfile | undefined {
  const value = fieldsOf(text);
  const { displayName, avatarUrl } = value;
  return typeof displayName === 'string' && typeof avatarUrl === 'string' ? { displayName, avatarUrl } : undefined;
}

export function formatReport(report: Report): string {
  return JSON.stringify(report);
}

/** Undefined: no such text. */
export function parseReport(text: string): Report | undefined {
  const { reportId, reportedAtMs, reporterId, conversationId, conversationSeq, messageId, senderId, comment } = fieldsOf(text);
  if (typeof reportId !== 'string' || typeof comment !== 'string') return undefined;
  try {
    return {
      reportId,
      reportedAtMs: Number(reportedAtMs),
      reporterId: parseUserId(String(reporterId)),
      conversationId: parseConversationId(String(conversationId)),
      conversationSeq: parseConversationSeq(Number(conversationSeq)),
      messageId: parseMessageId(String(messageId)),
      senderId: parseUserId(String(senderId)),
      comment,
    };
  } catch (error) {
    if (isQimError(error)) return undefined;
    throw error;
  }
}

/** Names of one device's subscriptions begin so, where it has a name; no id holds a line feed. */
export function webPushPrefix({ deviceId }: Pick<WebPushSubscription, 'deviceId'>): string {
  return `${deviceId ?? ''}\n`;
}

/** Names of one endpoint's subscriptions end so. 128 bits: nobody finds two that end alike. */
export function webPushSuffix(endpoint: string): string {
  return `\n${createHash('sha256').update(endpoint).digest('base64url').slice(0, 22)}`;
}

export function webPushName(subscription: WebPushSubscription): string {
  return `${webPushPrefix(subscription)}${webPushSuffix(subscription.endpoint).slice(1)}`;
}

/** Whether the new one takes the place of the one with that name. */
export function isReplaced(name: string, by: WebPushSubscription): boolean {
  return name.endsWith(webPushSuffix(by.endpoint)) || (by.deviceId !== undefined && name.startsWith(webPushPrefix(by)));
}

export function formatWebPush(subscription: WebPushSubscription): string {
  return JSON.stringify(subscription);
}

/** Undefined: no such text. */
export function parseWebPush(text: string): WebPushSubscription | undefined {
  const { endpoint, p256dh, auth, deviceId } = fieldsOf(text);
  if (typeof endpoint !== 'string' || typeof p256dh !== 'string' || typeof auth !== 'string') return undefined;
  if (deviceId !== undefined && typeof deviceId !== 'string') return undefined;
  try {
    return { endpoint, p256dh, auth, deviceId: deviceId === undefined ? undefined : parseDeviceId(deviceId) };
  } catch (error) {
    if (isQimError(error)) return undefined;
    throw error;
  }
}

export function tooManySubscriptions(): Error {
  return resourceLimit('Web Push subscriptions of one user', WEB_PUSH_PER_USER_MAX);
}

function fieldsOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

export function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

export function tooManyDevices(): Error {
  return resourceLimit('suspended devices of one user', SUSPENDED_DEVICES_MAX);
}

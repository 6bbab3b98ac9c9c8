/** Profiles and reports as they are stored: JSON, because nothing is ever looked up by what is inside. */
import {
  isQimError,
  parseConversationId,
  parseConversationSeq,
  parseMessageId,
  parseUserId,
  resourceLimit,
  SUSPENDED_DEVICES_MAX,
} from '@qim/proto';
import type { Report, StoredProfile } from './users.js';

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

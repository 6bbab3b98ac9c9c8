/** The setting directMessages: one word for all tenants, and others for some of them, as `anyone,7=serverOnly`. */
import type { TenantId } from '@qim/proto';
import type { DirectMessages } from '@qim/writer';
import { tenantFrom } from './setting.js';

const WORDS: readonly DirectMessages[] = ['anyone', 'sharedConversation', 'serverOnly'];

/** By tenant; undefined: all others. */
export type DirectMessagesRule = ReadonlyMap<TenantId | undefined, DirectMessages>;

/** Undefined: no such text. */
export function parseDirectMessages(text: string): DirectMessagesRule | undefined {
  const rule = new Map<TenantId | undefined, DirectMessages>();
  for (const part of text.split(',')) {
    const [, digits, name] = /^(?:(\d{1,10})=)?([A-Za-z]+)$/.exec(part) ?? [];
    const word = WORDS.find((one) => one === name);
    const tenant = digits === undefined ? undefined : tenantFrom(digits);
    if (word === undefined || tenant === 'none' || rule.has(tenant)) return undefined;
    rule.set(tenant, word);
  }
  return rule.has(undefined) ? rule : undefined;
}

export function directMessagesOf(rule: DirectMessagesRule): (tenantId: TenantId) => DirectMessages {
  return (tenantId) => rule.get(tenantId) ?? rule.get(undefined) ?? 'anyone';
}

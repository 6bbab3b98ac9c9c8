/** The operator's webhooks as the settings say: what is asked before a message is sent, and what is told after. */
import type { Badge, Hooks } from '@qim/push';
import type { Session } from '@qim/session';
import type { HookQueue } from '@qim/store';
import type { BeforeSend } from '@qim/writer';
import { uuidv7 } from 'uuidv7';
import type { Secrets } from '../secrets.js';
import type { Config } from '../settings.js';
import { tellBy } from './after-commit.js';
import { beforeSendBy } from './before-send.js';
import { Endpoint } from './endpoint.js';

export interface WebhookParts {
  readonly config: Config;
  /** There are some wherever there is a URL. */
  readonly secrets: Secrets | undefined;
  readonly now: () => number;
}

/** Undefined: nobody is told anything. */
export function hooksOf(
  { config, secrets, now, webPush }: WebhookParts & { readonly webPush: Hooks['webPush'] },
  queue: HookQueue,
  getTotals: Session['getTotals'],
): Hooks | undefined {
  const told = config.webhookUrl !== undefined && secrets !== undefined;
  if (!told && webPush === undefined) return undefined;
  return {
    queue,
    ...(told ? toldBy(new Endpoint({ url: config.webhookUrl, secrets, now, fetch }), config) : NOBODY),
    webPush,
    badge: async (tenantId, userId): Promise<Badge> => getTotals({ tenantId, userId, deviceId: undefined, admin: false }),
    giveUpMs: config.webhookGiveUp,
  };
}

function toldBy(endpoint: Endpoint, { webhookEvents }: Config): Pick<Hooks, 'kinds' | 'tell'> {
  return { kinds: new Set(webhookEvents), tell: tellBy(endpoint) };
}

const NOBODY: Pick<Hooks, 'kinds' | 'tell'> = { kinds: new Set(), tell: async () => ({ outcome: 'taken' }) };

/** Undefined: nobody is asked. */
export function beforeSendOf(
  { config, secrets, now }: WebhookParts,
  asked: (outcome: 'allowed' | 'denied' | 'failed') => void,
): BeforeSend | undefined {
  if (config.beforeSendUrl === undefined || secrets === undefined) return undefined;
  return beforeSendBy({
    endpoint: new Endpoint({ url: config.beforeSendUrl, secrets, now, fetch }),
    timeoutMs: config.beforeSendTimeout,
    onFailure: config.beforeSendFailure,
    newId: uuidv7,
    asked,
  });
}

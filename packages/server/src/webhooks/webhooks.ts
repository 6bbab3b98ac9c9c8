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

/** Undefined: nothing is told. */
export function hooksOf({ config, secrets, now }: WebhookParts, queue: HookQueue, getTotals: Session['getTotals']): Hooks | undefined {
  if (config.webhookUrl === undefined || secrets === undefined) return undefined;
  const endpoint = new Endpoint({ url: config.webhookUrl, secrets, now, fetch });
  return {
    queue,
    kinds: new Set(config.webhookEvents),
    tell: tellBy(endpoint),
    badge: async (tenantId, userId): Promise<Badge> => getTotals({ tenantId, userId, deviceId: undefined, admin: false }),
    giveUpMs: config.webhookGiveUp,
  };
}

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

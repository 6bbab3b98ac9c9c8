/** PushService: where browsers take notifications. */
import { PushService } from '@qim/proto/schema';
import type { Session } from '@qim/session';
import { type Method, method } from '../method.js';

export function pushMethods(session: Session): readonly Method[] {
  const { getWebPushKey, registerWebPush, unregisterWebPush } = PushService.method;
  return [
    method(getWebPushKey, async () => ({ publicKey: session.webPushKey() ?? '' })),
    method(registerWebPush, async ({ caller }, { endpoint, p256dh, auth }) => {
      await session.registerWebPush(caller, { endpoint, p256dh, auth });
      return {};
    }),
    method(unregisterWebPush, async ({ caller }, { endpoint }) => {
      await session.unregisterWebPush(caller, endpoint);
      return {};
    }),
  ];
}

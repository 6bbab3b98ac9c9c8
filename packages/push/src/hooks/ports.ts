/** What the delivery side needs to tell the operator's webhook: the queue, a way to say one thing, and the count of a badge. */
import type { Message, TenantId, UserId } from '@qim/proto';
import type { HookQueue, WebPushSubscription } from '@qim/store';

/** What the app of a user shows on its icon, by the rule of GetTotals. */
export interface Badge {
  readonly unreadConversations: number;
  readonly unreadCount: number;
  readonly mentionCount: number;
  /** False: there may be more, or a conversation is damaged. */
  readonly exact: boolean;
}

/** `id` is the same whenever the same thing is told again. */
export type HookEvent =
  | { readonly kind: 'afterSend'; readonly id: string; readonly amended: boolean; readonly message: Message }
  | {
      readonly kind: 'offlinePush';
      readonly id: string;
      readonly message: Message;
      readonly recipients: readonly { readonly userId: UserId; readonly badge: Badge }[];
    };

export type HookKind = HookEvent['kind'];

/**
 * taken: done with. refused: the webhook understood and does not want it. failed: it did not do it now. unreachable:
 * nobody answers there. `why` is a stable word for an operator, such as a status; never content.
 */
export type HookAnswer = { readonly outcome: 'taken' } | { readonly outcome: 'refused' | 'failed' | 'unreachable'; readonly why: string };

/**
 * gone: nobody takes notifications there any more. refused: not this one. failed: not now. Not what became of a message,
 * but of one try with one browser.
 */
export type WebPushOutcome = 'taken' | 'gone' | 'refused' | 'failed';

export interface WebPushNotification {
  readonly userId: UserId;
  readonly subscription: WebPushSubscription;
  readonly message: Message;
  readonly badge: Badge;
}

export interface Hooks {
  readonly queue: HookQueue;
  /** Which of them the operator wants; none: the queue is for Web Push alone. */
  readonly kinds: ReadonlySet<HookKind>;
  /** One try, which ends by itself; an abort ends it at once. Never rejects. */
  tell(event: HookEvent, signal: AbortSignal): Promise<HookAnswer>;
  /** One try, which ends by itself; an abort ends it at once. Never rejects. Absent: no Web Push is sent. */
  readonly webPush?: ((notification: WebPushNotification, signal: AbortSignal) => Promise<WebPushOutcome>) | undefined;
  /** @throws StoreUnavailable */
  badge(tenantId: TenantId, userId: UserId): Promise<Badge>;
  /** From the commit until what was not taken is a dead letter, in milliseconds. */
  readonly giveUpMs: number;
}

/** Told of what metrics count. Must not throw. */
export interface HookObserver {
  hookTold?(kind: HookKind, outcome: HookAnswer['outcome']): void;
  hookDead?(): void;
  /** givenUp: once for each message that some browsers did not get. */
  webPushSent?(outcome: WebPushOutcome | 'givenUp'): void;
}

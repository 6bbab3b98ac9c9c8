/** What the server tells by itself. A push is a hint that may be lost, doubled or late; a window or the list makes it whole. */
import type * as wire from '@qim/proto/schema';
import { integer, messageFrom } from './from-wire.js';
import type { Message } from './types.js';

export type QimEvent =
  | { readonly kind: 'messageCommitted'; readonly message: Message }
  /** An edit, a recall or a delete: the message as it is now, under its old sequence. */
  | { readonly kind: 'messageAmended'; readonly message: Message }
  | {
      readonly kind: 'readAdvanced';
      readonly conversationId: string;
      readonly userId: string;
      readonly readConversationSeq: number;
    }
  | { readonly kind: 'conversationChanged'; readonly conversationId: string }
  /** The caller is no longer a member. */
  | { readonly kind: 'removed'; readonly conversationId: string }
  /** Somebody began or stopped writing. */
  | { readonly kind: 'typing'; readonly conversationId: string; readonly userId: string; readonly on: boolean }
  | { readonly kind: 'presence'; readonly userId: string; readonly online: boolean }
  /** Events may have been lost. */
  | { readonly kind: 'resyncNeeded' };

/** Undefined: a kind that this version does not know, or has no use for. */
export function eventFrom({ kind }: wire.Event): QimEvent | undefined {
  switch (kind.case) {
    case 'messageCommitted':
    case 'messageAmended':
      return { kind: kind.case, message: messageFrom(kind.value.message) };
    case 'readAdvanced': {
      const { conversationId, userId, readConversationSeq } = kind.value;
      return { kind: 'readAdvanced', conversationId, userId, readConversationSeq: integer(readConversationSeq) };
    }
    case 'conversationChanged':
    case 'removed':
      return { kind: kind.case, conversationId: kind.value.conversationId };
    case 'resyncNeeded':
      return { kind: 'resyncNeeded' };
    case 'typing': {
      const { conversationId, userId, on } = kind.value;
      return { kind: 'typing', conversationId, userId, on };
    }
    case 'presence':
      return { kind: 'presence', userId: kind.value.userId, online: kind.value.online };
    case 'subscribed':
    case undefined:
      return undefined;
  }
}

import type { Message } from '@qim/client';

/** What one writes about. */
export interface ComposeAct {
  readonly kind: 'reply' | 'edit';
  readonly message: Message;
}

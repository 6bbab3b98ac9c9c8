/** Many messages in a conversation that there is, committed to the folder of a server that is stopped: in seconds, not minutes. */
import { randomUUID } from 'node:crypto';
import {
  LEGACY_TENANT_ID,
  MessageType,
  parseActivityId,
  parseClientMessageId,
  parseConversationId,
  parseMessageId,
  parseUserId,
} from '@qim/proto';
import { openEmbeddedStore } from '@qim/store/embedded';
import type { RealServer } from './real-server.js';

/** Commits that wait at the same time. */
const AT_ONCE = 512;

export interface Filling {
  readonly conversationId: string;
  readonly userId: string;
  readonly count: number;
}

/** Stops the server, and starts it again: 'line 1' to 'line <count>', in this order. */
export async function fillConversation(server: RealServer, { conversationId, userId, count }: Filling): Promise<void> {
  await server.stop();
  const store = await openEmbeddedStore(server.data);
  for (let from = 1; from <= count; from += AT_ONCE) {
    const texts = Array.from({ length: Math.min(AT_ONCE, count - from + 1) }, (_, i) => `line ${from + i}`);
    await Promise.all(
      texts.map((text) =>
        store.messages.commit({
          tenantId: LEGACY_TENANT_ID,
          conversationId: parseConversationId(conversationId),
          sender: { userId: parseUserId(userId), deviceId: undefined },
          clientMessageId: parseClientMessageId(randomUUID()),
          messageId: parseMessageId(randomUUID()),
          activityId: parseActivityId(randomUUID()),
          type: MessageType.Text,
          content: { kind: 'text', text },
          mentions: { userIds: [], all: false },
          replyTo: undefined,
          needs: 'post',
          create: undefined,
        }),
      ),
    );
  }
  await store.close();
  await server.start();
}

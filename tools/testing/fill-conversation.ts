/** Many messages in a conversation that there is, committed to the folder of a server that is stopped: in seconds, not minutes. */
import { parseConversationId, parseUserId } from '@qim/proto';
import { openEmbeddedStore } from '@qim/store/embedded';
import { commitRequest } from '@qim/store/testing';
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
    const requests = texts.map((text) =>
      commitRequest(parseUserId(userId), parseConversationId(conversationId), { content: { kind: 'text', text } }),
    );
    await Promise.all(requests.map((each) => store.messages.commit(each)));
  }
  await store.close();
  await server.start();
}

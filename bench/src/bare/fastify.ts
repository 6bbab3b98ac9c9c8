/** A bare Fastify route over the same read of the same store: no schema, no token, no header, no limit. */
import { parseConversationId, parseUserId } from '@qim/proto';
import { openStore } from '@qim/server';
import { fastify } from 'fastify';
import { sessionOver } from '../session.js';

const [store = '', user = ''] = process.argv.slice(2);
const opened = await openStore({ store: new URL(store), data: '' }, { as: 'beside' });
const session = sessionOver(opened);
const caller = {
  tenantId: 0 as Parameters<typeof session.getConversation>[0]['tenantId'],
  userId: parseUserId(user),
  deviceId: undefined,
  admin: false,
};

const app = fastify();
app.post<{ Body: { conversationId: string } }>('/conversation', async ({ body }) => {
  return { conversation: await session.getConversation(caller, parseConversationId(body.conversationId), false) };
});
console.log(`bare ready at ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
process.once('SIGTERM', () => void app.close().then(() => opened.close()));

/** What people do with groups, messages and each other, through the SDK against the real server. */
import type { Client, Conversation, SoundConversation } from '@qim/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { devToken, type RealServer, startRealServer } from '../../../tools/testing/real-server.js';
import { online as connect, until } from './support/setup.js';

let server: RealServer;

beforeAll(async () => {
  server = await startRealServer();
});
afterAll(async () => {
  await server.end();
});

const online = (user: string, device = 'phone'): Promise<Client> =>
  connect(server, user, { token: () => devToken(server.url, user, device) });

function entryOf(client: Client, conversationId: string): SoundConversation | undefined {
  const entry: Conversation | undefined = client.conversations
    .snapshot()
    .conversations.find((one) => one.conversationId === conversationId);
  return entry?.damaged === undefined ? entry : undefined;
}

test('reactions show on the other side, and go with a recall', async () => {
  const [amy, ben] = await Promise.all([online('amy'), online('ben')]);
  const { message } = await amy.sendMessage({ target: { toUserId: 'ben' }, content: 'cake?' });
  const [hers, his] = [amy, ben].map((client) => client.openConversation(message.conversationId));
  await until(() => his?.snapshot().messages.length === 1);
  await ben.setReaction(message, '🎂', true);
  await until(() => hers?.snapshot().messages[0]?.reactions[0]?.userIds[0] === 'ben');
  expect(his?.snapshot().messages[0]?.reactions).toEqual([{ emoji: '🎂', userIds: ['ben'] }]);
  await ben.setReaction(message, '🎂', false);
  await until(() => hers?.snapshot().messages[0]?.reactions.length === 0);
  await ben.setReaction(message, '🍰', true);
  await amy.recallMessage(message);
  await until(() => his?.snapshot().messages[0]?.status === 'recalled');
  expect(his?.snapshot().messages[0]?.reactions).toEqual([]);
});

test('a title, a setting and a role change for everybody who looks', async () => {
  const [cat, dan] = await Promise.all([online('cat'), online('dan')]);
  const { conversationId } = await cat.createGroup({ title: 'before', memberIds: ['dan'] });
  const open = dan.openConversation(conversationId);
  open.members.subscribe(() => {});
  await until(() => open.members.snapshot().members.length === 2);
  await cat.updateConversation(conversationId, { title: 'after', onlyAdminsPost: true, readReceipts: true });
  await until(() => entryOf(dan, conversationId)?.title === 'after');
  // A record of its own: the title may be there first.
  await until(() => entryOf(dan, conversationId)?.settings.onlyAdminsPost === true);
  expect(entryOf(dan, conversationId)?.settings).toMatchObject({ onlyAdminsPost: true, readReceipts: true });
  await expect(dan.sendMessage({ target: { conversationId }, content: 'no' })).rejects.toMatchObject({ reason: 'FORBIDDEN' });
  await cat.setRole(conversationId, 'dan', 'admin');
  await until(() => open.members.snapshot().members.some(({ userId, role }) => userId === 'dan' && role === 'admin'));
  await dan.outbox.retry(dan.outbox.snapshot()[0]?.clientMessageId ?? '');
  await until(() => open.snapshot().messages.at(-1)?.content.kind === 'text');
});

test('flags hold on every device: pinned comes first, hidden comes back, marked unread shows until it is read', async () => {
  const [eli, eliPad, fay] = await Promise.all([online('eli'), online('eli', 'pad'), online('fay')]);
  const ids: string[] = [];
  for (const toUserId of ['g1', 'g2', 'fay'])
    ids.push((await eli.sendMessage({ target: { toUserId }, content: 'x' })).message.conversationId);
  const [first, , last] = ids as [string, string, string];
  await eli.setConversationFlags(first, { pinned: true });
  const order = (client: Client): (string | undefined)[] =>
    client.conversations.snapshot().conversations.map(({ conversationId }) => conversationId);
  await until(() => order(eli)[0] === first);
  eliPad.conversations.refresh();
  await until(() => order(eliPad)[0] === first);
  await eli.setConversationFlags(last, { hidden: true });
  await until(() => !order(eli).includes(last));
  await fay.sendMessage({ target: { conversationId: last }, content: 'back' });
  await until(() => order(eli).includes(last));
  await eli.setConversationFlags(last, { markedUnread: true });
  await until(() => entryOf(eli, last)?.flags.markedUnread === true);
  await eli.markRead(last, 2);
  await until(() => entryOf(eli, last)?.flags.markedUnread === false);
});

test('the totals are those of the server; marking all read clears what was shown, and not what comes meanwhile', async () => {
  const [gus, hal] = await Promise.all([online('gus'), online('hal')]);
  gus.totals.subscribe(() => {});
  const ids = ['one', 'two', 'three'].map((title) => hal.createGroup({ title, memberIds: ['gus'] }));
  for (const { conversationId } of await Promise.all(ids)) {
    await hal.sendMessage({ target: { conversationId }, content: 'hello', mentionUserIds: ['gus'] });
  }
  await until(() => gus.totals.snapshot().totals?.unreadCount === 3);
  expect(gus.totals.snapshot().totals).toEqual({ unreadConversations: 3, unreadCount: 3, mentionCount: 3, exact: true });
  await until(() => gus.conversations.snapshot().conversations.every((entry) => entry.damaged === undefined && entry.unreadCount === 1));
  await gus.markAllRead();
  await until(() => gus.totals.snapshot().totals?.unreadCount === 0);
});

test('of one’s own messages none are ever unread, however many', async () => {
  const ida = await online('ida');
  const { conversationId } = await ida.createGroup({ title: 'mine', memberIds: ['jo'] });
  const open = ida.openConversation(conversationId);
  await until(() => open.snapshot().status === 'ready');
  open.markRead(open.snapshot().messages.at(-1)?.conversationSeq ?? 0);
  for (let n = 0; n < 205; n += 1) await ida.sendMessage({ target: { conversationId }, content: `n${n}` });
  await until(() => entryOf(ida, conversationId)?.readConversationSeq === entryOf(ida, conversationId)?.latestConversationSeq);
  expect(entryOf(ida, conversationId)).toMatchObject({ unreadCount: 0, unreadExact: true });
});

test('a profile shows by its name once it is watched', async () => {
  const [kim, lou] = await Promise.all([online('kim'), online('lou')]);
  await kim.setProfile({ displayName: 'Kim K.', avatarUrl: 'https://example.test/kim.png' });
  const profile = lou.profiles.of('kim');
  profile.subscribe(() => {});
  await until(() => profile.snapshot()?.displayName === 'Kim K.');
  expect(await lou.getProfiles(['kim'])).toEqual([{ userId: 'kim', displayName: 'Kim K.', avatarUrl: 'https://example.test/kim.png' }]);
});

test('who writes is shown until the message comes, and who has read is told', async () => {
  const [max, nia] = await Promise.all([online('max'), online('nia')]);
  const { message } = await max.sendMessage({ target: { toUserId: 'nia' }, content: 'x' });
  const open = nia.openConversation(message.conversationId);
  await until(() => open.snapshot().status === 'ready');
  const box = max.openConversation(message.conversationId);
  // As with keystrokes: the event of the message before, which ends the writing, may come after the first word of it.
  await until(() => {
    box.setTyping(true);
    return open.typing.snapshot().join() === 'max';
  });
  await max.sendMessage({ target: { conversationId: message.conversationId }, content: 'y' });
  await until(() => open.typing.snapshot().length === 0);
  const maxs = max.openConversation(message.conversationId);
  open.markRead(2);
  await until(() => maxs.readMarks.snapshot().get('nia') === 2);
  // Nothing of it was told to a device that came later.
  const later = (await online('max', 'pad')).openConversation(message.conversationId);
  later.readMarks.subscribe(() => {});
  await until(() => later.readMarks.snapshot().get('nia') === 2);
});

test('a blocked sender is refused, a message can be reported, and history can be cleared for oneself', async () => {
  const [oli, pat] = await Promise.all([online('oli'), online('pat')]);
  const { message } = await oli.sendMessage({ target: { toUserId: 'pat' }, content: 'spam' });
  const open = pat.openConversation(message.conversationId);
  await until(() => open.snapshot().messages.length === 1);
  await pat.reportMessage({ ...message, comment: 'spam' });
  await pat.blockUser('oli');
  expect((await pat.listBlocked()).userIds).toEqual(['oli']);
  await expect(oli.sendMessage({ target: { conversationId: message.conversationId }, content: 'more' })).rejects.toMatchObject({
    reason: 'FORBIDDEN',
  });
  await pat.unblockUser('oli');
  await oli.outbox.retry(oli.outbox.snapshot()[0]?.clientMessageId ?? '');
  await until(() => open.snapshot().messages.length === 2);
  await pat.clearHistory(message.conversationId, 1);
  await until(() => open.snapshot().messages.length === 1 && open.snapshot().status === 'ready');
  expect(open.snapshot().messages[0]?.content).toEqual({ kind: 'text', text: 'more' });
});

test('who is online shows to the other of a direct conversation, who came first and who came later', async () => {
  // By HTTP: the server looks who is to be told when somebody comes.
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${await devToken(server.url, 'rob')}` };
  const body = JSON.stringify({ toUserId: 'sue', clientMessageId: 'first', type: 'MESSAGE_TYPE_TEXT', text: 'x' });
  await fetch(new URL('/qim.v1.MessageService/SendMessage', server.url), { method: 'POST', headers, body });
  const rob = await online('rob');
  const sue = await online('sue');
  await until(() => sue.presence.snapshot().has('rob') && rob.presence.snapshot().has('sue'));
});

test('history that was cleared on one device is gone on the other', async () => {
  const [uma, umaPad] = await Promise.all([online('uma'), online('uma', 'pad')]);
  const { message } = await uma.sendMessage({ target: { toUserId: 'vic' }, content: 'old' });
  await uma.sendMessage({ target: { conversationId: message.conversationId }, content: 'new' });
  const open = umaPad.openConversation(message.conversationId);
  await until(() => open.snapshot().messages.length === 2);
  await uma.clearHistory(message.conversationId, 1);
  await until(() => open.snapshot().messages.length === 1);
  expect(open.snapshot().messages[0]?.content).toEqual({ kind: 'text', text: 'new' });
});

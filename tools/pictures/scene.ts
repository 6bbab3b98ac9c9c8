/** People who talk, so that there is something to take pictures of. */
import { type Client, createClient, memoryStorage } from '@qim/client';
import { EXACT_UNREAD_SCAN_LIMIT } from '@qim/proto';
import { WebSocket } from 'ws';
import { devToken } from '../testing/real-server.js';

export interface Scene {
  readonly names: Readonly<Record<string, string>>;
  readonly groupTitle: string;
  readonly busyTitle: string;
  readonly busyLine: string;
  /** [who, text]; who is a key of `names`. */
  readonly group: readonly (readonly [who: string, text: string])[];
  readonly direct: readonly (readonly [from: string, to: string, text: string])[];
  readonly mention: readonly [who: string, text: string];
}

export const ENGLISH: Scene = {
  names: { alice: 'Alice Berg', maya: 'Maya Lindqvist', tomas: 'Tomás Rivera', jun: 'Jun Arai', nadia: 'Nadia Osei' },
  groupTitle: 'Sunday hike',
  busyTitle: 'Office kitchen',
  busyLine: 'Who left the cups in the sink?',
  group: [
    ['maya', 'Who is in for Sunday? The weather looks good 🌤️'],
    ['tomas', 'Me! Same meeting point as last time?'],
    ['maya', 'Yes, the small station, 9:30.\nBring something warm, it is windy up there.'],
    ['alice', 'Count me in. I will bring the map and two thermos flasks.'],
    ['alice', 'The route: https://example.org/routes/ridge-loop'],
    ['jun', 'I can take two more in my car.'],
  ],
  direct: [
    ['nadia', 'alice', 'Hi! I found that article about chain-linked histories.'],
    ['alice', 'nadia', 'Wonderful, send it over'],
    ['jun', 'alice', 'The slides are ready. Could you have a look before noon?'],
    ['jun', 'alice', 'No hurry, page 7 is the one I am unsure about.'],
    ['tomas', 'alice', 'Thanks for yesterday 🙏'],
    ['alice', 'tomas', 'Any time!'],
    ['alice', 'alice', 'Buy gas for the stove'],
  ],
  mention: ['nadia', 'Then I am coming as well. @alice, one seat for me?'],
};

export const CHINESE: Scene = {
  names: { alice: '艾丽', maya: '林晓', tomas: '周子安', jun: '陈予', nadia: '苏念' },
  groupTitle: '周日爬山',
  busyTitle: '办公室茶水间',
  busyLine: '谁把杯子留在水池里了？',
  group: [
    ['maya', '周日谁有空？天气看起来不错 🌤️'],
    ['tomas', '我！还是上次的集合点？'],
    ['maya', '对，小车站，九点半。\n带件厚衣服，山上风大。'],
    ['alice', '算我一个，我带地图和两个保温壶。'],
    ['alice', '路线：https://example.org/routes/ridge-loop'],
    ['jun', '我的车还能带两个人。'],
  ],
  direct: [
    ['nadia', 'alice', '你好！我找到那篇讲链式历史的文章了。'],
    ['alice', 'nadia', '太好了，发给我吧'],
    ['jun', 'alice', '幻灯片做好了，中午前能帮我看看吗？'],
    ['jun', 'alice', '不急，主要是第 7 页我拿不准。'],
    ['tomas', 'alice', '昨天谢谢你 🙏'],
    ['alice', 'tomas', '不客气！'],
    ['alice', 'alice', '买炉子用的气罐'],
  ],
  mention: ['nadia', '那我也去。@alice 给我留个座位？'],
};

/** A busy group past the bound of exact counting, chats with something unread, and the one that the pictures show. */
export async function play(url: string, scene: Scene): Promise<{ readonly groupId: string; readonly end: () => void }> {
  const people = new Map(Object.keys(scene.names).map((user) => [user, enter(url, user)]));
  const of = (user: string): Client => people.get(user) ?? enter(url, user);
  for (const [user, displayName] of Object.entries(scene.names)) await of(user).setProfile({ displayName });
  const others = Object.keys(scene.names).filter((user) => user !== 'maya');
  const busy = await of('jun').createGroup({ title: scene.busyTitle, memberIds: ['alice', 'maya'] });
  const busyTarget = { conversationId: busy.conversationId };
  const lines = Array.from({ length: EXACT_UNREAD_SCAN_LIMIT + 1 }, () => scene.busyLine);
  await Promise.all(lines.map((content) => of('jun').sendMessage({ target: busyTarget, content })));
  for (const [from, toUserId, content] of scene.direct) await of(from).sendMessage({ target: { toUserId }, content });
  const group = await of('maya').createGroup({ title: scene.groupTitle, memberIds: others, readReceipts: true });
  const target = { conversationId: group.conversationId };
  await talkInGroup(scene, target, of);
  await of('alice').setConversationFlags(group.conversationId, { pinned: true });
  await of('alice').setConversationFlags(busy.conversationId, { muted: true });
  const end = () => {
    for (const client of people.values()) client.close();
  };
  return { groupId: group.conversationId, end };
}

async function talkInGroup(scene: Scene, target: { readonly conversationId: string }, of: (user: string) => Client): Promise<void> {
  for (const [who, content] of scene.group) {
    const { message } = await of(who).sendMessage({ target, content });
    await of('alice').markRead(target.conversationId, message.conversationSeq);
    if (who === 'maya') for (const user of ['tomas', 'jun']) await of(user).setReaction(message, '👍', true);
    if (who === 'alice') await of('nadia').setReaction(message, '🎉', true);
  }
  const [who, content] = scene.mention;
  const { messages } = await of(who).readHistory({ conversationId: target.conversationId });
  const last = messages.at(-1);
  await of(who).sendMessage({ target, content, mentionUserIds: ['alice'], ...(last !== undefined && { replyTo: last }) });
}

function enter(url: string, user: string): Client {
  const client = createClient({ url, token: () => devToken(url, user, `picture-${user}`), WebSocket, storage: memoryStorage() });
  client.connect();
  return client;
}

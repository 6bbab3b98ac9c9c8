/** A few people who have written to the user: what the page can do, seen in ten seconds. For a development server. */
import { type Client, createClient, memoryStorage } from '@qim/client';
import { signIn } from '../account/account.js';
import { languageNow } from '../i18n/i18n.js';
import { SAMPLE_TALK, type SampleTalk } from './sample-talk.js';

/** Some two dozen calls. @throws QimClientError, SignInError; what was made by then stays */
export async function makeSamples(userId: string): Promise<void> {
  const talk = SAMPLE_TALK[languageNow()];
  const people = await Promise.all(talk.people.map(enter));
  try {
    const groupId = await talkInGroup(people, talk, userId);
    await talkDirectly(people, talk, userId);
    const [first] = people;
    if (first !== undefined)
      await first.client.sendMessage({ target: { conversationId: groupId }, content: talk.last, mentionUserIds: [userId] });
  } finally {
    for (const { client } of people) client.close();
  }
}

interface SamplePerson {
  readonly userId: string;
  readonly client: Client;
}

async function enter({ userId, name }: SampleTalk['people'][number]): Promise<SamplePerson> {
  const { token, device } = await signIn(userId);
  const client = createClient({ url: location.origin, token: () => Promise.resolve(token), device, storage: memoryStorage() });
  client.connect();
  await client.setProfile({ displayName: name });
  return { userId, client };
}

async function talkInGroup(people: readonly SamplePerson[], talk: SampleTalk, userId: string): Promise<string> {
  const [owner] = people;
  if (owner === undefined) throw new Error('sample talk has people');
  const memberIds = [userId, ...people.slice(1).map((person) => person.userId)];
  const { conversationId } = await owner.client.createGroup({
    title: talk.groupTitle,
    memberIds,
    historyVisibility: 'all',
    readReceipts: true,
  });
  for (const { by, text, react } of talk.group) {
    const { message } = await sendAs(people, by, { conversationId }, text);
    if (react !== undefined) for (const { client } of people.slice(1)) await client.setReaction(message, react, true);
  }
  return conversationId;
}

async function talkDirectly(people: readonly SamplePerson[], talk: SampleTalk, userId: string): Promise<void> {
  for (const { by, text } of talk.direct) await sendAs(people, by, { toUserId: userId }, text);
}

function sendAs(people: readonly SamplePerson[], by: number, target: { conversationId: string } | { toUserId: string }, content: string) {
  const person = people[by];
  if (person === undefined) throw new Error('a sample line is by one of the sample people');
  return person.client.sendMessage({ target, content });
}

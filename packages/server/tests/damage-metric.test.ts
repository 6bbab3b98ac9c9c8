/** What a list tells as damage is counted where an operator looks, each reason under its name. */
import { LEGACY_TENANT_ID, parseConversationId, parseConversationSeq, parseUserId } from '@qim/proto';
import { DAMAGE_KINDS, type DamageKind, damage, REDIS_ONLY_DAMAGE_KINDS } from '@qim/store/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openStore } from '../src/open-store.js';
import { startTestServer, type TestServer, temporaryFolder } from './running.js';

/** What a list does not meet, or tells of the preview alone. */
const NOT_OF_A_LIST: readonly DamageKind[] = [
  'bodyMissing',
  'bodyBitFlipped',
  'factsBehind',
  'previewPointerWrong',
  ...REDIS_ONLY_DAMAGE_KINDS,
];

interface Listed {
  readonly conversationId: string;
  readonly damaged?: { readonly what: string };
}

async function answer<T>(server: TestServer, method: string, token: string, body: object): Promise<T> {
  const response = await server.call(`qim.v1.${method}`, token, body);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as T;
}

async function counted(server: TestServer): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(new URL('/metrics', server.url))).text();
  return new Map(
    [...text.matchAll(/^qim_damage_total\{reason="(\w+)"\} (\d+)$/gm)].map(([, reason = '', count]) => [reason, Number(count)]),
  );
}

/** A delivery that is under way would meet the damage too. */
async function delivered(server: TestServer): Promise<void> {
  const waiting = async () => /^qim_outbox_entries (\d+)$/m.exec(await (await fetch(new URL('/metrics', server.url))).text())?.[1];
  await vi.waitFor(async () => expect(await waiting()).toBe('0'), { timeout: 60_000, interval: 10 });
}

test('each reason of damage is counted under its name when a list meets it', async () => {
  const { folder, remove } = await temporaryFolder();
  const server = await startTestServer({ data: folder }, { openStore });
  onTestFinished(async () => {
    await server.stop();
    await remove();
  });
  const alice = await server.token({ user: 'alice' });
  const kinds = DAMAGE_KINDS.filter((kind) => !NOT_OF_A_LIST.includes(kind));
  const told = new Map<string, number>();
  for (const kind of kinds) {
    const bob = await server.token({ user: kind });
    const said = { toUserId: kind, type: 'MESSAGE_TYPE_TEXT', text: 'hello' };
    const send = (clientMessageId: string) =>
      answer<{ message: { conversationId: string } }>(server, 'MessageService/SendMessage', alice, { ...said, clientMessageId });
    const { message } = await send('one');
    for (const id of ['two', 'three']) await send(id);
    await delivered(server);
    const place = { tenantId: LEGACY_TENANT_ID, conversationId: parseConversationId(message.conversationId) };
    await damage(
      { store: 'embedded', data: folder },
      { ...place, conversationSeq: parseConversationSeq(2), userId: parseUserId(kind) },
      kind,
    );

    const before = await counted(server);
    const { conversations } = await answer<{ conversations: readonly Listed[] }>(server, 'SessionService/ListConversations', bob, {});
    const what = conversations.find(({ conversationId }) => conversationId === message.conversationId)?.damaged?.what ?? 'not told';
    const after = await counted(server);
    expect(after.get(what), kind).toBe((before.get(what) ?? 0) + 1);
    told.set(what, (told.get(what) ?? 0) + 1);
  }
  expect(await counted(server)).toEqual(told);
  expect([...told.keys()].sort()).toEqual([
    'chainBroken',
    'factsMissing',
    'factsUnreadable',
    'indexBehindFacts',
    'indexMissing',
    'memberUnreadable',
    'recordMismatch',
    'recordMissing',
    'recordUnreadable',
    'unsupportedVersion',
  ]);
});

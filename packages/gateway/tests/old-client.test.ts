/** A client that was generated before `damaged` was in the schema: it must not take damage for 0. */
import { clone, create, createFileRegistry, type DescMessage, fromBinary, fromJson, isFieldSet, toBinary } from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { file_qim_v1_errors, file_qim_v1_session_service, file_qim_v1_types, ListConversationsRequestSchema } from '@qim/proto/schema';
import { afterEach, describe, expect, it } from 'vitest';
import { damaging } from './support/faults.js';
import { bearer, call, type JsonObject } from './support/http.js';
import { startServer, type TestServer } from './support/server.js';

const NEW_FIELDS = new Set(['damaged', 'preview_damaged', 'explanation']);

/** The schema as it was, with everything about damage cut out of the descriptors themselves. */
function oldSchema(): DescMessage {
  const file = [file_qim_v1_errors, file_qim_v1_types, file_qim_v1_session_service].map(({ proto }) =>
    clone(FileDescriptorProtoSchema, proto),
  );
  for (const message of file.flatMap(({ messageType }: FileDescriptorProto) => messageType)) {
    if (message.name === 'Conversation') message.field = message.field.filter(({ name }) => !NEW_FIELDS.has(name));
    if (message.name === 'ListConversationsResponse') message.field = message.field.filter(({ name }) => name !== 'damaged_count');
  }
  const desc = createFileRegistry(create(FileDescriptorSetSchema, { file })).getMessage('qim.v1.ListConversationsResponse');
  if (desc === undefined) throw new Error('the old schema has a list');
  return desc;
}

const OLD = oldSchema();
const CONVERSATION = OLD.field.conversations?.message as DescMessage;
const NUMBERS = [
  'latestConversationSeq',
  'lastActivityId',
  'lastMessageId',
  'readConversationSeq',
  'unreadCount',
  'unreadExact',
  'mentionCount',
];

let server: TestServer | undefined;
afterEach(() => server?.close());

async function listing(): Promise<{ readonly url: string; readonly token: string; readonly damaged: string }> {
  const broken = new Set<string>();
  const started = await startServer({ store: (store) => damaging(store, broken) });
  server = started;
  const { url } = started;
  const token = await started.token('alice');
  const send = async (toUserId: string): Promise<string> => {
    const body = { toUserId, clientMessageId: 'c1', type: 'MESSAGE_TYPE_TEXT', text: 'hi' };
    return (await call(url, 'MessageService/SendMessage', token, body)).body.message.conversationId;
  };
  await send('bob');
  const damaged = await send('carol');
  broken.add(damaged);
  return { url, token, damaged };
}

function check(answer: JsonObject, damaged: string): void {
  expect(answer.conversations).toHaveLength(2);
  for (const conversation of answer.conversations) {
    for (const name of NUMBERS) {
      const field = CONVERSATION.field[name];
      if (field === undefined) throw new Error(`the old schema has ${name}`);
      const sound = conversation.conversationId !== damaged;
      expect([name, isFieldSet(conversation, field), conversation[name] === undefined]).toEqual([name, sound, !sound]);
    }
  }
}

describe('a client without `damaged` in its schema', () => {
  it('has really never heard of it', () => {
    expect(Object.keys(CONVERSATION.field)).not.toContain('damaged');
    expect(Object.keys(CONVERSATION.field)).toEqual(expect.arrayContaining(NUMBERS));
  });

  it('lists a damaged conversation in binary, and finds no 0 in it', async () => {
    const { url, token, damaged } = await listing();
    const response = await fetch(new URL('/qim.v1.SessionService/ListConversations', url), {
      method: 'POST',
      headers: { ...bearer(token), 'content-type': 'application/proto' },
      body: toBinary(ListConversationsRequestSchema, create(ListConversationsRequestSchema)) as unknown as string,
    });
    expect(response.status).toBe(200);
    check(fromBinary(OLD, new Uint8Array(await response.arrayBuffer())), damaged);
  });

  it('lists it in JSON, and finds no 0 in it', async () => {
    const { url, token, damaged } = await listing();
    const { body } = await call(url, 'SessionService/ListConversations', token, {});
    check(fromJson(OLD, body, { ignoreUnknownFields: true }), damaged);
  });
});

/**
 * METHOD_ACCESS against the real server: every method, called by everybody whom the table tells apart. And what nobody may
 * learn: an outsider, a former member, another tenant and a conversation that is not there get the same bytes.
 */
import { randomUUID } from 'node:crypto';
import { METHOD_ACCESS, type MethodName, type Requirement, UNBUILT_METHODS } from '@qim/proto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeScene, RELATIONS, REQUESTS, type Relation, type Scene } from './authorisation-scene.js';
import { startTestServer, type TestServer } from './running.js';
import { vapidKeyFile } from './vapid-key.js';

const METHODS = Object.keys(METHOD_ACCESS) as MethodName[];

const everyone: readonly Relation[] = RELATIONS.filter((relation) => relation !== 'suspended');
const inside: readonly Relation[] = ['owner', 'admin', 'author', 'member', 'blocked', 'onBehalfOfMember'];
const outside: readonly Relation[] = ['former', 'outsider', 'otherTenant', 'nonexistent', 'adminToken', 'onBehalfOfOutsider'];

/** Written out, and not computed from anything that the server uses. */
const ALLOWED: Readonly<Record<Requirement, readonly Relation[]>> = {
  signedIn: everyone,
  member: inside,
  poster: inside,
  author: ['author'],
  authorOrAdmin: ['owner', 'admin', 'author'],
  admin: ['owner', 'admin'],
  owner: ['owner'],
  adminToken: ['adminToken', 'onBehalfOfMember', 'onBehalfOfOutsider'],
};

const DOC_HEAD = `# Who may call what

This file is written by \`npx vitest run packages/server/tests/authorisation.test.ts -u\`; do not edit it.

The rows are the methods, the columns what the caller is to the conversation (a group) that the request names; \`yes\`, or the reason of the
refusal. \`blocked\`: a member whom the others have blocked, which changes nothing in a group. \`suspended\`: a member whom the tenant's admins
keep out. \`nonexistent\`: the owner, about a conversation that is not there. \`adminToken\`: a token with \`admin: true\`, of nobody in the
conversation. \`onBehalfOf…\`: the same token with the header Qim-On-Behalf-Of. All outside get the same bytes.
`;

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly contentType: string | null;
}

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ vapidKeyFile: await vapidKeyFile(), vapidSubject: 'mailto:ops@chat.example' });
});
afterAll(() => server.stop());

const ACTS_FOR: Partial<Record<Relation, Record<string, string>>> = {
  onBehalfOfMember: { 'Qim-On-Behalf-Of': 'member' },
  onBehalfOfOutsider: { 'Qim-On-Behalf-Of': 'outsider' },
};

async function ask(method: MethodName, relation: Relation, scene: Scene): Promise<Answered> {
  const tokens: Partial<Record<Relation, Parameters<TestServer['token']>[0]>> = {
    nonexistent: { user: 'owner' },
    // Of the same name as the owner, elsewhere.
    otherTenant: { user: 'owner', tenant: 7 },
    adminToken: { user: 'backend', admin: true },
    onBehalfOfMember: { user: 'backend', admin: true },
    onBehalfOfOutsider: { user: 'backend', admin: true },
  };
  const token = await server.token(tokens[relation] ?? { user: relation });
  const headers: Record<string, string> = ACTS_FOR[relation] ?? {};
  const body = REQUESTS[method](relation === 'nonexistent' ? elsewhere(scene) : scene);
  if (method === 'qim.v1.EventService/Subscribe') return firstOfStream(method, token, headers);
  const response = await server.call(method, token, body, headers);
  return { status: response.status, text: await response.text(), contentType: response.headers.get('content-type') };
}

/** The same, in a conversation that there is not. */
function elsewhere(scene: Scene): Scene {
  return { ...scene, conversationId: `g_${randomUUID()}` as Scene['conversationId'] };
}

/** A stream is allowed when its first event comes; its envelope is cut off. */
async function firstOfStream(method: MethodName, token: string | undefined, more: Record<string, string>): Promise<Answered> {
  const stop = new AbortController();
  const empty = new Uint8Array([0, 0, 0, 0, 2, ...Buffer.from('{}')]);
  const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(new URL(`/${method}`, server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/connect+json', ...authorization, ...more },
    body: empty,
    signal: stop.signal,
  });
  const { value } = (await response.body?.getReader().read()) ?? {};
  stop.abort();
  const text = Buffer.from(value ?? [])
    .subarray(5)
    .toString();
  // An error arrives in the end-of-stream envelope (flag 2) of an answer 200.
  const failed = value?.[0] === 2;
  return { status: failed ? 401 : response.status, text, contentType: response.headers.get('content-type') };
}

function reasonOf({ text }: Answered): string {
  return /"reason":\s*"([A-Z_]+)"/.exec(text)?.[1] ?? `no reason in ${text}`;
}

describe('every method answers whom METHOD_ACCESS names, and nobody else', () => {
  for (const method of METHODS) {
    const needs = METHOD_ACCESS[method];
    for (const relation of RELATIONS) {
      const allowed = ALLOWED[needs].includes(relation);
      test(`${method} (${needs}) ${allowed ? 'serves' : 'refuses'} ${relation}`, async () => {
        const answer = await ask(method, relation, await makeScene(server.store));
        expect(verdict(answer), answer.text).toBe(expected(method, relation, allowed));
      });
    }
  }
});

function verdict(answer: Answered): string {
  return answer.status === 200 ? 'served' : reasonOf(answer);
}

/** What is not built yet says so to everybody with a token; the token of an admin is asked for before. */
function expected(method: MethodName, relation: Relation, allowed: boolean): string {
  if (relation === 'suspended') return 'UNAUTHENTICATED';
  const byToken = METHOD_ACCESS[method] === 'adminToken';
  if (byToken && !allowed) return 'FORBIDDEN';
  if (UNBUILT_METHODS.has(method)) return 'UNIMPLEMENTED';
  if (allowed) return 'served';
  return outside.includes(relation) ? 'NOT_MEMBER' : 'FORBIDDEN';
}

test('docs/authorisation.md is the table that was checked', async () => {
  const cell = (method: MethodName, relation: Relation) => {
    const verdict = expected(method, relation, ALLOWED[METHOD_ACCESS[method]].includes(relation));
    return verdict === 'served' ? 'yes' : verdict;
  };
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const lines = [
    ...[row(['method', 'needs', ...RELATIONS]), row(Array<string>(RELATIONS.length + 2).fill('---'))],
    ...METHODS.map((method) =>
      row([method.replace('qim.v1.', ''), METHOD_ACCESS[method], ...RELATIONS.map((relation) => cell(method, relation))]),
    ),
  ];
  const count = `${METHODS.length} methods x ${RELATIONS.length} relations: ${METHODS.length * RELATIONS.length} pairs, each asked of a real server.`;
  await expect(`${DOC_HEAD}\n${count}\n\n${lines.join('\n')}\n`).toMatchFileSnapshot('../../../docs/authorisation.md');
});

describe('nobody outside learns whether a conversation exists', () => {
  const ofConversation = METHODS.filter((method) => !['signedIn', 'adminToken'].includes(METHOD_ACCESS[method]));
  for (const method of ofConversation) {
    test(`${method} gives all of them the same bytes`, async () => {
      const scene = await makeScene(server.store);
      const answers = await Promise.all(outside.map((relation) => ask(method, relation, scene)));
      for (const answer of answers) expect(answer).toEqual(answers[0]);
    });
  }
});

describe('a token is needed', () => {
  for (const method of METHODS) {
    test(method, async () => {
      const scene = await makeScene(server.store);
      const answer =
        method === 'qim.v1.EventService/Subscribe'
          ? await firstOfStream(method, undefined, {})
          : await server.call(method, undefined, REQUESTS[method](scene)).then(async (r) => ({ status: r.status, text: await r.text() }));
      expect([answer.status, reasonOf({ ...answer, contentType: null })]).toEqual([401, 'UNAUTHENTICATED']);
    });
  }
});

test('acting on behalf of a user needs the token of an admin', async () => {
  const scene = await makeScene(server.store);
  const token = await server.token({ user: 'member' });
  const body = REQUESTS['qim.v1.SessionService/GetConversation'](scene);
  const response = await server.call('qim.v1.SessionService/GetConversation', token, body, { 'Qim-On-Behalf-Of': 'owner' });
  expect(response.status).toBe(403);
});

test('the token of an admin opens no other tenant, whomever it acts for', async () => {
  const scene = await makeScene(server.store);
  const token = await server.token({ user: 'backend', tenant: 7, admin: true });
  const body = REQUESTS['qim.v1.SessionService/GetConversation'](scene);
  const response = await server.call('qim.v1.SessionService/GetConversation', token, body, { 'Qim-On-Behalf-Of': 'owner' });
  expect([response.status, reasonOf({ status: 0, text: await response.text(), contentType: null })]).toEqual([404, 'NOT_MEMBER']);
});

test('where only admins post, a member is refused and the owner is not', async () => {
  const owner = await server.token({ user: 'owner' });
  const made = await server.call('qim.v1.ConversationService/CreateGroup', owner, {
    title: 't',
    memberIds: ['member'],
    onlyAdminsPost: true,
  });
  const { conversation } = (await made.json()) as { conversation: { conversationId: string } };
  const send = async (user: string) => {
    const body = { conversationId: conversation.conversationId, clientMessageId: randomUUID(), type: 'MESSAGE_TYPE_TEXT', text: 'x' };
    return (await server.call('qim.v1.MessageService/SendMessage', await server.token({ user }), body)).status;
  };
  expect(await send('member')).toBe(403);
  expect(await send('owner')).toBe(200);
});

describe('in a direct conversation, whom the other has blocked', () => {
  const DIRECT: readonly MethodName[] = METHODS.filter((method) => !['signedIn', 'adminToken'].includes(METHOD_ACCESS[method]));
  const SILENCED: readonly string[] = [
    'qim.v1.MessageService/SendMessage',
    'qim.v1.MessageService/EditMessage',
    'qim.v1.MessageService/SetReaction',
  ];

  /** What the sender of a message to another is answered, before and after that one blocks the sender. */
  async function verdicts(method: MethodName): Promise<readonly [string, string]> {
    const answers: string[] = [];
    for (const blocks of [false, true]) {
      const [sender, other] = [`sender-${randomUUID()}`, `other-${randomUUID()}`];
      const token = await server.token({ user: sender });
      const first = { toUserId: other, clientMessageId: randomUUID(), type: 'MESSAGE_TYPE_TEXT', text: 'x' };
      const sent = (await (await server.call('qim.v1.MessageService/SendMessage', token, first)).json()) as { message: Scene['message'] };
      const block = { userId: sender };
      if (blocks) await server.call('qim.v1.ModerationService/BlockUser', await server.token({ user: other }), block);
      const scene = { conversationId: sent.message.conversationId, message: sent.message };
      const response = await server.call(method, token, REQUESTS[method](scene));
      answers.push(verdict({ status: response.status, text: await response.text(), contentType: null }));
    }
    return [answers[0] ?? '', answers[1] ?? ''];
  }

  for (const method of DIRECT) {
    test(`${method} ${SILENCED.includes(method) ? 'is refused' : 'is answered as before'}`, async () => {
      const [before, after] = await verdicts(method);
      expect(after).toBe(SILENCED.includes(method) ? 'FORBIDDEN' : before);
      if (SILENCED.includes(method)) expect(before).toBe('served');
    });
  }
});

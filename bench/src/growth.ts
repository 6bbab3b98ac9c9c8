/** Area growth: how long a page takes as history, bodies, lists and groups grow. Flat is the aim for the first two. */
import {
  type Caller,
  type ConversationId,
  MessageType,
  parseConversationId,
  parseConversationSeq,
  parseUserId,
  Role,
  type UserId,
} from '@qim/proto';
import type { ConversationState, Store } from '@qim/store';
import { READER, request, TENANT, TEXT, text } from './data.js';
import { interleaved, ratioOf, spreadOf, timesOf } from './measure.js';
import type { Results } from './result.js';
import type { Scale } from './scale.js';
import { sessionOver } from './session.js';
import { redisServer, redisStore, withCleanup } from './stores.js';

const PAGE = 100;
const UNREAD = 20;
const WRITER = parseUserId('writer-0');
const IN_FLIGHT = 512;
const MEMBERS_PER_CALL = 200;
const CALLER: Caller = { tenantId: TENANT, userId: READER, deviceId: undefined, admin: false };

interface Grown {
  readonly size: number;
  readonly page: () => Promise<unknown>;
}

export async function growthArea(results: Results, scale: Scale): Promise<void> {
  await grow(results, scale, 'history', 'messages in each conversation', scale.historyLengths, historyPage);
  await grow(results, scale, 'body', 'bytes of each body', scale.bodyBytes, bodyPage);
  await grow(results, scale, 'list', 'conversations of the user', scale.listLengths, listPage);
  await grow(results, scale, 'members', 'members of each group', scale.memberCounts, membersPage);
}

type Make = (store: Store, size: number) => Promise<() => Promise<unknown>>;

/** All sizes lie in one store and take turns. */
function grow(results: Results, scale: Scale, name: string, xLabel: string, sizes: readonly number[], make: Make): Promise<void> {
  return withCleanup(async (cleanup) => {
    const store = await redisStore(cleanup, (await redisServer(cleanup)).url);
    const grown: Grown[] = [];
    for (const size of sizes) grown.push({ size, page: await make(store, size) });
    const contenders = grown.map(({ size, page }) => ({ name: String(size), turn: timesOf(page, scale.turnMs) }));
    const samples = await interleaved(contenders, scale.rounds);
    const points: [number, number][] = [];
    for (const [size, values] of samples) {
      results.row('growth', `page, ${xLabel}`, size, 'ms', spreadOf(values));
      points.push([Number(size), spreadOf(values).median]);
    }
    const title = `A page as ${xLabel} grow`;
    results.curves.push({ name, title, xLabel, yLabel: 'ms for a page of 100', series: [{ name: 'qim on Redis', points }] });
    const [first, last] = [String(sizes[0]), String(sizes.at(-1))];
    if (name === 'history') results.ratios.growth_history_1e6_vs_1e3 = ratioOf(samples, last, first);
    if (name === 'body') results.ratios.growth_body_64k_vs_100B = ratioOf(samples, last, first);
  });
}

/** One conversation a hundred times, each with another watermark: as deep an index, without a hundred times the memory. */
async function historyPage(store: Store, size: number): Promise<() => Promise<unknown>> {
  const id = parseConversationId(`g_history_${size}`);
  await writeMany(store, size, () => request(id, [WRITER, READER], text(TEXT)));
  const states = Array.from({ length: PAGE }, (_, i) => ({ conversationId: id, watermark: parseConversationSeq(size - UNREAD - (i % 5)) }));
  return checkedPage(store, states);
}

const BODY_CONVERSATIONS = 10;

async function bodyPage(store: Store, size: number): Promise<() => Promise<unknown>> {
  const ids = Array.from({ length: BODY_CONVERSATIONS }, (_, i) => parseConversationId(`g_body_${size}_${i}`));
  const content = { kind: 'data', contentType: 'application/octet-stream', data: new Uint8Array(size).fill(7) } as const;
  for (const id of ids) {
    await writeMany(store, 2 * UNREAD, () => ({ ...request(id, [WRITER, READER], content), type: MessageType.File }));
  }
  const watermark = parseConversationSeq(UNREAD);
  const states = Array.from({ length: PAGE }, (_, i) => ({ conversationId: ids[i % ids.length] ?? fail(), watermark }));
  return checkedPage(store, states);
}

/** The whole of what a user waits for: the list's own page, then its conversations. */
async function listPage(store: Store, size: number): Promise<() => Promise<unknown>> {
  const user = parseUserId(`lister-${size}`);
  for (let from = 0; from < size; from += IN_FLIGHT) {
    const ids = Array.from({ length: Math.min(IN_FLIGHT, size - from) }, (_, i) => parseConversationId(`g_list_${size}_${from + i}`));
    const outcomes = await Promise.all(ids.map((id) => store.messages.commit(request(id, [WRITER, user], text(TEXT)))));
    const joined = [{ userId: user, joinedSeq: parseConversationSeq(1), visibleFrom: parseConversationSeq(1) }];
    await Promise.all(
      ids.map((id, i) =>
        store.directory.join(TENANT, id, joined, {
          conversationSeq: parseConversationSeq(1),
          activityAtMs: outcomes[i]?.committedAtMs ?? 0,
        }),
      ),
    );
  }
  const session = sessionOver(store);
  const pageSize = Math.min(PAGE, size);
  const page = async () => {
    const { conversations, damagedCount } = await session.listConversations(
      { ...CALLER, userId: user },
      { pageSize, pageToken: '', explain: false },
    );
    if (conversations.length !== pageSize || damagedCount > 0) throw new Error('the list was answered wrongly');
  };
  await page();
  return page;
}

const GROUPS = 5;

async function membersPage(store: Store, size: number): Promise<() => Promise<unknown>> {
  const ids = Array.from({ length: GROUPS }, (_, i) => parseConversationId(`g_members_${size}_${i}`));
  for (const id of ids) {
    await writeMany(store, 1, () => owned(id, [WRITER, READER]));
    const others = Array.from({ length: size - 2 }, (_, i) => parseUserId(`member-${i}`));
    for (let from = 0; from < others.length; from += MEMBERS_PER_CALL) {
      const userIds = others.slice(from, from + MEMBERS_PER_CALL);
      await store.messages.commit({ ...owned(id, [WRITER, READER]), needs: 'owner', change: { kind: 'join', userIds } });
    }
    await writeMany(store, UNREAD, () => owned(id, [WRITER, READER]));
  }
  const states = Array.from({ length: PAGE }, (_, i) => ids[i % ids.length] ?? fail());
  const first = await store.messages.readConversation(TENANT, states[0] ?? fail(), READER);
  const watermark = parseConversationSeq((first.facts?.lastSequence ?? 0) - UNREAD);
  return checkedPage(
    store,
    states.map((conversationId) => ({ conversationId, watermark })),
  );
}

function owned(id: ConversationId, members: readonly [UserId, ...UserId[]]) {
  const made = request(id, members, text(TEXT));
  const create = made.create && {
    ...made.create,
    kind: 2 as const,
    title: 'a group',
    members: members.map((userId, i) => ({ userId, role: i === 0 ? Role.Owner : Role.Member })),
  };
  return { ...made, create };
}

async function writeMany(store: Store, count: number, make: () => ReturnType<typeof request>): Promise<void> {
  for (let from = 0; from < count; from += IN_FLIGHT) {
    await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, count - from) }, () => store.messages.commit(make())));
  }
}

async function checkedPage(store: Store, states: readonly ConversationState[]): Promise<() => Promise<unknown>> {
  const page = () => store.messages.conversationSummaries(TENANT, READER, states);
  const summaries = await page();
  const wrong = summaries.find(
    ({ latestConversationSeq, unreadCount }, i) => unreadCount !== latestConversationSeq - (states[i]?.watermark ?? 0),
  );
  if (wrong !== undefined || summaries.length !== states.length) throw new Error('a page was answered wrongly');
  return page;
}

function fail(): never {
  throw new Error('there is an entry for each place');
}

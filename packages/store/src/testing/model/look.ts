/** Everything that a reader can ask, of the store and of the model. */
import { type ConversationId, EXACT_UNREAD_SCAN_LIMIT, SEQ_ZERO, type UserId } from '@qim/proto';
import type { ConversationView, DirectoryCursor } from '../../directory/directory.js';
import type { ConversationState } from '../../message/summary.js';
import type { Store } from '../../store.js';
import { outcomeOf } from './difference.js';
import { seq } from './requests.js';
import type { World } from './world.js';

/** Small, so that each look crosses a page. */
const LIST_PAGE = 2;
const HISTORY_PAGE = 4;

/** How far before the newest pages begin. Always the same: what depends on the place in a sequence does not shrink. */
const BACK = 3;

/** Of every chat the list; of the chat named the rest. */
export async function look(world: World, chat: number): Promise<void> {
  const conversationId = world.chat(chat);
  await world.ask('the members', ({ messages }) => messages.readMembers(world.tenantId, conversationId));
  for (const userId of world.users) {
    await world.ask(`the list of ${userId}`, (store) => listOf(store, world, userId));
    await lookIntoChat(world, userId, conversationId);
  }
}

async function listOf(store: Store, world: World, userId: UserId): Promise<unknown> {
  const pages: (readonly ConversationView[])[] = [];
  let cursor: DirectoryCursor | undefined;
  do {
    const page = await store.directory.page(world.tenantId, userId, LIST_PAGE, cursor);
    pages.push(page.views);
    cursor = page.next;
  } while (cursor !== undefined);
  const states = pages.flat().map((view) => ({ conversationId: view.conversationId, watermark: floorOf(view) }));
  const [readings, summaries] = await Promise.all([
    store.messages.readConversations(world.tenantId, userId, states),
    store.messages.conversationSummaries(world.tenantId, userId, states),
  ]);
  return { pages, readings, summaries };
}

function floorOf({ readSeq, joinedSeq, clearedSeq }: ConversationView) {
  return seq(Math.max(readSeq, joinedSeq - 1, clearedSeq));
}

async function lookIntoChat(world: World, userId: UserId, conversationId: ConversationId): Promise<void> {
  const { tenantId } = world;
  const head = await world.head(conversationId);
  const marks = [0, head - EXACT_UNREAD_SCAN_LIMIT - 1, head - EXACT_UNREAD_SCAN_LIMIT, head - BACK, head + 1];
  const states = marks.filter((mark) => mark >= 0).map((mark): ConversationState => ({ conversationId, watermark: seq(mark) }));
  const view = await world.model.directory.view(tenantId, userId, conversationId);
  const place = { tenantId, userId, conversationId, clearedSeq: view?.clearedSeq ?? SEQ_ZERO };
  const some = seq(Math.max(1, head - BACK));
  const { facts } = await world.model.messages.readConversation(tenantId, conversationId, userId);
  const held = { epoch: facts?.epoch ?? 1, after: some, amendmentCursor: Math.max(0, (facts?.amendmentNumber ?? 0) - BACK) };
  await world.ask(`chat ${conversationId} as ${userId} sees it`, async ({ messages }) => {
    const answers = await Promise.all([
      outcomeOf(messages.readConversations(tenantId, userId, states)),
      outcomeOf(messages.readHistory({ ...place, position: 'newest', limit: HISTORY_PAGE })),
      outcomeOf(messages.readHistory({ ...place, position: { after: some }, limit: HISTORY_PAGE })),
      outcomeOf(messages.readHistory({ ...place, position: { before: some }, limit: HISTORY_PAGE })),
      outcomeOf(messages.catchUp({ ...place, ...held, limit: HISTORY_PAGE })),
      outcomeOf(messages.readConversation(tenantId, conversationId, userId).then(ofContract)),
    ]);
    const [readings, newest, after, before, missed, conversation] = answers;
    return { readings, newest, after, before, missed, conversation };
  });
}

/** The contract's fields alone: a backend may answer with more of what it keeps. */
function ofContract({ facts, member }: Awaited<ReturnType<Store['messages']['readConversation']>>) {
  return { facts: facts && { ...facts, reservedThrough: undefined, previewSequence: undefined }, member };
}

/**
 * A process that opens a data folder, for embedded-open.e2e.test.ts. Speaks one JSON line for each thing that happened.
 *
 * arguments: folder, what to do: `hold` (open and stay), `send` (commit until killed, a line for each acknowledged one),
 * `die-at N` (die by SIGKILL at step N of the first commit's writes and what it owes), `fill` (commit until one is refused, then list),
 * `damage` (take the index away, beside whoever has the folder open), `retain N` (keep the N newest, beside whoever has it open,
 * and then commit one more and recall the one before it)
 */
import { isQimError, MessageStatus, parseActivityId, parseConversationSeq, SEQ_ZERO } from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import { damageEmbedded } from '../src/embedded/damage.js';
import { openEmbeddedStore } from '../src/embedded/open.js';
import type { Store } from '../src/store.js';
import { ALICE, aliceSays, BOB, CHAT } from './embedded-requests.js';

const [folder = '', task = '', step = ''] = process.argv.slice(2);

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function main(): Promise<void> {
  if (task === 'damage') return damageEmbedded(folder, CHAT, 'indexKeyMissing').then(() => process.exit(0));
  if (task === 'retain') return retain(Number(step)).then(() => process.exit(0));
  const dieAt = task === 'die-at' ? Number(step) : -1;
  let steps = 0;
  const store = await openEmbeddedStore(folder, {
    faults: ({ operation }) => {
      if ((operation === 'commit' || operation === 'owed') && steps++ === dieAt) process.kill(process.pid, 'SIGKILL');
    },
  });
  tell({ open: process.pid });
  if (task === 'hold') return;
  if (task === 'fill') return fill(store);
  for (let n = 1; ; n += 1) {
    const { conversationSeq } = await store.messages.commit(aliceSays(`message-${n}`));
    tell({ acknowledged: conversationSeq });
  }
}

async function retain(keepNewest: number): Promise<void> {
  const { messages, close } = await openEmbeddedStore(folder, { exclusive: false });
  const { tenantId, conversationId } = CHAT;
  await messages.retain(tenantId, conversationId, { olderThanMs: undefined, keepNewest });
  const { conversationSeq } = await messages.commit(aliceSays('meanwhile'));
  const [before] = await messages.readMessages(tenantId, conversationId, [parseConversationSeq(conversationSeq - 1)]);
  if (before === undefined) throw new Error('the newest one is kept');
  const erased = { status: MessageStatus.Recalled, content: { kind: 'none' }, mentions: { userIds: [], all: false } } as const;
  await messages.amend({ actor: ALICE, needs: 'member', target: before.record, activityId: parseActivityId(uuidv7()), ...erased });
  await close();
}

/** Until the file system takes no more; then says what was refused, and what a list answers all the same. */
async function fill({ messages }: Store): Promise<void> {
  let refusals = 0;
  for (let n = 1; refusals < 3; n += 1) {
    const large = { ...aliceSays(`message-${n}`), content: { kind: 'text', text: 'x'.repeat(10_000) } } as const;
    try {
      tell({ acknowledged: (await messages.commit(large)).conversationSeq });
    } catch (error) {
      refusals += 1;
      tell({ refused: isQimError(error) ? error.code : String(error), cause: String(error instanceof Error && error.cause) });
    }
  }
  const [reading] = await messages.readConversations(CHAT.tenantId, BOB, [{ ...CHAT, watermark: SEQ_ZERO }]);
  tell({ listed: reading?.kind === 'sound' ? reading.summary.latestConversationSeq : 'damaged' });
}

// A server stays because of its sockets; this one because of its input.
process.stdin.resume();
main().catch((error: unknown) => {
  tell({ failed: error instanceof Error ? error.message : String(error) });
  process.exit(1);
});

/**
 * A process that opens a data folder, for embedded-open.e2e.test.ts. Speaks one JSON line for each thing that happened.
 *
 * arguments: folder, what to do: `hold` (open and stay), `send` (commit until killed, a line for each acknowledged one),
 * `die-at N` (die by SIGKILL before write N of the first commit), `fill` (commit until one is refused, then list),
 * `damage` (take the index away, beside whoever has the folder open)
 */
import { isQimError, SEQ_ZERO } from '@qim/proto';
import { damageEmbedded } from '../src/embedded/damage.js';
import { openEmbeddedStore } from '../src/embedded/open.js';
import type { Store } from '../src/store.js';
import { aliceSays, BOB, CHAT } from './embedded-requests.js';

const [folder = '', task = '', step = ''] = process.argv.slice(2);

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function main(): Promise<void> {
  if (task === 'damage') return damageEmbedded(folder, CHAT, 'indexKeyMissing').then(() => process.exit(0));
  const dieAt = task === 'die-at' ? Number(step) : -1;
  const store = await openEmbeddedStore(folder, {
    faults: ({ operation, index }) => {
      if (operation === 'commit' && index === dieAt) process.kill(process.pid, 'SIGKILL');
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

/**
 * A process that opens a data folder, for embedded-open.e2e.test.ts. Speaks one JSON line for each thing that happened.
 *
 * arguments: folder, what to do: `hold` (open and stay), `send` (commit until killed, a line for each acknowledged one),
 * `die-at N` (die by SIGKILL before write N of the first commit)
 */
import { openEmbeddedStore } from '../src/embedded/open.js';
import { aliceSays } from './embedded-requests.js';

const [folder = '', task = '', step = ''] = process.argv.slice(2);

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function main(): Promise<void> {
  const dieAt = task === 'die-at' ? Number(step) : -1;
  const store = await openEmbeddedStore(folder, {
    faults: ({ operation, index }) => {
      if (operation === 'commit' && index === dieAt) process.kill(process.pid, 'SIGKILL');
    },
  });
  tell({ open: process.pid });
  if (task === 'hold') return;
  for (let n = 1; ; n += 1) {
    const { conversationSeq } = await store.messages.commit(aliceSays(`message-${n}`));
    tell({ acknowledged: conversationSeq });
  }
}

// A server stays because of its sockets; this one because of its input.
process.stdin.resume();
main().catch((error: unknown) => {
  tell({ failed: error instanceof Error ? error.message : String(error) });
  process.exit(1);
});

/**
 * `npm run measure-memory`: how many bytes of Redis memory a message takes. It starts a Redis of its own for each size of
 * text, commits messages through the store, and reads `used_memory` before and after, so that keys, indexes and the
 * allocator's rounding are in the figure.
 *
 * What was delivered leaves the outbox, so the outbox is emptied first. De-duplication entries live 7 to 14 days and are
 * told apart: a busy deployment always has two weeks of them.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import {
  COMMIT_BATCH_MAX,
  ConversationKind,
  HistoryVisibility,
  MessageType,
  parseActivityId,
  parseClientMessageId,
  parseConversationId,
  parseMessageId,
  parseTenantId,
  parseUserId,
  Role,
} from '@qim/proto';
import type { CommitRequest, MessageStore } from '@qim/store';
import { openRedisStore } from '@qim/store/redis';
import { startRedis } from '@qim/store/testing';

const CONVERSATIONS = 20;
const TEXT_BYTES = [32, 128, 512, 2048, 8192];
const TENANT = parseTenantId(0);
const ALICE = parseUserId('alice');

interface Figures {
  readonly textBytes: number;
  /** Per message, in bytes; what expires within two weeks apart. */
  readonly kept: number;
  readonly deduplication: number;
}

function usedMemory(port: number): number {
  const info = execFileSync('redis-cli', ['-p', String(port), 'INFO', 'memory'], { encoding: 'utf8' });
  return Number(/^used_memory:(\d+)/m.exec(info)?.[1]);
}

function deleteKeys(port: number, pattern: string): void {
  const keys = execFileSync('redis-cli', ['-p', String(port), '--scan', '--pattern', pattern], { encoding: 'utf8' });
  for (const key of keys.split('\n').filter((line) => line !== '')) execFileSync('redis-cli', ['-p', String(port), 'DEL', key]);
}

/** Text that does not repeat; Redis does not compress, so what it says makes no difference. */
function requestOf(conversation: number, textBytes: number): CommitRequest {
  const other = parseUserId(`user-${conversation}`);
  return {
    tenantId: TENANT,
    conversationId: parseConversationId(`d_${String(conversation).padStart(26, '0')}`),
    sender: { userId: ALICE, deviceId: undefined },
    clientMessageId: parseClientMessageId(randomUUID()),
    messageId: parseMessageId(randomUUID()),
    activityId: parseActivityId(randomUUID()),
    type: MessageType.Text,
    content: { kind: 'text', text: randomBytes(textBytes / 2).toString('hex') },
    mentions: { userIds: [], all: false },
    replyTo: undefined,
    needs: 'post',
    create: {
      kind: ConversationKind.Direct,
      title: '',
      settings: { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false },
      members: [ALICE, other].map((userId) => ({ userId, role: Role.Member })),
      onlyNew: false,
    },
  };
}

async function fill(messages: MessageStore, count: number, textBytes: number): Promise<void> {
  for (let conversation = 0; conversation < CONVERSATIONS; conversation += 1) {
    for (let done = 0; done < count; done += COMMIT_BATCH_MAX) {
      const batch = Math.min(COMMIT_BATCH_MAX, count - done);
      await Promise.all(Array.from({ length: batch }, () => messages.commit(requestOf(conversation, textBytes))));
    }
  }
}

async function measure(count: number, textBytes: number): Promise<Figures> {
  const redis = await startRedis();
  const store = await openRedisStore(redis.url);
  try {
    const before = usedMemory(redis.port);
    await fill(store.messages, count, textBytes);
    deleteKeys(redis.port, 'outbox:*');
    const withDeduplication = usedMemory(redis.port);
    deleteKeys(redis.port, 'msgdedup:*');
    const kept = usedMemory(redis.port);
    const perMessage = (bytes: number): number => Math.round(bytes / (CONVERSATIONS * count));
    return { textBytes, kept: perMessage(kept - before), deduplication: perMessage(withDeduplication - kept) };
  } finally {
    await store.close();
    await redis.stop();
  }
}

const { values } = parseArgs({ options: { messages: { type: 'string', default: '1000' } } });
const count = Number(values.messages);
console.log(`${CONVERSATIONS} conversations of ${count} messages each; bytes of used_memory per message`);
console.log('text bytes    kept   kept per text byte   de-duplication, for 7 to 14 days');
for (const textBytes of TEXT_BYTES) {
  const { kept, deduplication } = await measure(count, textBytes);
  const ratio = (kept / textBytes).toFixed(2);
  console.log(`${String(textBytes).padStart(10)} ${String(kept).padStart(7)} ${ratio.padStart(20)} ${String(deduplication).padStart(12)}`);
}

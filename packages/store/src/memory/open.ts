/**
 * The reference model: the least code that is right, written from the contracts alone. Nothing survives the process.
 *
 * It shares no reading code with the real backends, so that it can disagree with them; its one use is in tests.
 */
import { type ConversationId, type ConversationSeq, notMember, type TenantId } from '@qim/proto';
import { LocalBus } from '../bus/local-bus.js';
import { localRates } from '../rates/local-rates.js';
import type { Store, StoreOptions } from '../store.js';
import { skipSequences } from './commit.js';
import { memoryDirectory } from './directory.js';
import { memoryHooks } from './hooks.js';
import { memoryMessageStore } from './message-store.js';
import { memoryOutbox } from './outbox.js';
import { MemoryState } from './state.js';
import { memoryUsers } from './users.js';

export interface MemoryStore extends Store {
  readonly testing: {
    /** The next `count` sequences of the conversation will not be given. */
    skipSequences(tenantId: TenantId, conversationId: ConversationId, count: number): void;
    /** Of the records that are there, ascending. */
    sequences(tenantId: TenantId, conversationId: ConversationId): readonly ConversationSeq[];
  };
}

/** Without `now` its clock stands still. */
export function openMemoryStore(options: StoreOptions = {}): MemoryStore {
  const state = new MemoryState(options.now ?? (() => 1));
  return {
    messages: memoryMessageStore(state, options.observer ?? {}),
    directory: memoryDirectory(state.now),
    users: memoryUsers(),
    rates: localRates(),
    outbox: memoryOutbox(state),
    hooks: memoryHooks(state),
    bus: new LocalBus(),
    ackDurability: 'memory',
    description: 'memory of this process',
    ping: async () => {},
    close: async () => {},
    testing: {
      skipSequences(tenantId, conversationId, count) {
        const conversation = state.conversation(tenantId, conversationId);
        if (conversation === undefined) throw notMember();
        skipSequences(conversation, count);
      },
      sequences: (tenantId, conversationId) => [...(state.conversation(tenantId, conversationId)?.records.keys() ?? [])],
    },
  };
}

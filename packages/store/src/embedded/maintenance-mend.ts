/** How an embedded store is mended: each call is one transaction. The folder is held against any server meanwhile. */
import type { ConversationId } from '@qim/proto';
import { formatViewEntry } from '../directory/view-entry.js';
import { formatMember, type StoredFacts } from '../message/facts.js';
import type { ConversationPlace, UserPlace } from '../verify/finding.js';
import type { ConversationChange, Seen, StoreMender, UserChange } from '../verify/mender.js';
import { encodeQuarantined } from '../verify/quarantine.js';
import type { Environment, Plan, Snapshot, Write } from './environment.js';
import { ConversationKeys, UserKeys } from './keys.js';
import { quarantineKey } from './maintenance-keys.js';
import { readFacts } from './maintenance-scan.js';
import { readEntry } from './maintenance-users.js';
import { counterFrom, counterValue, encodeFacts } from './values.js';

const NOTHING = new Uint8Array(0);

export class EmbeddedMender implements StoreMender {
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Nobody else writes: where the facts are what they were, everything is. */
  mendConversation(place: ConversationPlace, { guard }: Seen, changes: readonly ConversationChange[]): Promise<boolean> {
    const keys = new ConversationKeys(place.tenantId, place.conversationId);
    return this.#environment.write('mend', (snapshot): Plan<boolean> => {
      if (readFacts(snapshot, keys).guard !== guard) return { result: false, writes: [] };
      return { result: true, writes: changes.flatMap((change) => conversationWrites(snapshot, place, keys, change)) };
    });
  }

  mendUser(
    { tenantId, userId }: UserPlace,
    conversationId: ConversationId | undefined,
    guard: string | undefined,
    changes: readonly UserChange[],
  ): Promise<boolean> {
    const keys = new UserKeys(tenantId, userId);
    return this.#environment.write('mend', (snapshot): Plan<boolean> => {
      const same = guard === undefined || conversationId === undefined || readEntry(snapshot, keys, conversationId).guard === guard;
      if (!same) return { result: false, writes: [] };
      return { result: true, writes: changes.flatMap((change) => userWrites(snapshot, keys, conversationId, change)) };
    });
  }

  guardOf(facts: StoredFacts): string {
    return Buffer.from(encodeFacts(facts)).toString('hex');
  }
}

function conversationWrites(snapshot: Snapshot, place: ConversationPlace, keys: ConversationKeys, change: ConversationChange): Write[] {
  switch (change.kind) {
    case 'remove':
      return [{ key: Buffer.from(change.slot.key, 'latin1'), value: undefined }];
    case 'index':
      return [{ key: keys.index(change.sequence), value: NOTHING }];
    case 'unindex':
      return [{ key: keys.index(change.sequence), value: undefined }];
    case 'record':
      return [
        { key: keys.record(change.sequence), value: change.record },
        { key: keys.body(change.sequence), value: change.body },
      ];
    case 'dropRecord':
      return [{ key: keys.record(change.sequence), value: undefined }];
    case 'dropBody':
      return [{ key: keys.body(change.sequence), value: undefined }];
    case 'facts':
      return [{ key: keys.facts, value: encodeFacts(change.facts) }];
    case 'member':
      return [{ key: keys.member(change.userId), value: Buffer.from(formatMember(change.entry)) }];
    case 'amendment':
      return [
        ...withoutAmendment(snapshot, keys, change.sequence),
        { key: keys.amendment(change.number), value: counterValue(change.sequence) },
        { key: keys.amendmentOf(change.sequence), value: counterValue(change.number) },
      ];
    case 'dropAmendment':
      return withoutAmendment(snapshot, keys, change.sequence);
    case 'reactions':
      return [{ key: keys.reactions(change.sequence), value: change.value }];
    case 'aside':
      return [{ key: quarantineKey(place, change.item.id), value: encodeQuarantined(change.item) }];
  }
}

function withoutAmendment(snapshot: Snapshot, keys: ConversationKeys, sequence: Parameters<ConversationKeys['amendmentOf']>[0]): Write[] {
  const number = counterFrom(snapshot.get(keys.amendmentOf(sequence)));
  const own = number > 0 && counterFrom(snapshot.get(keys.amendment(number))) === sequence;
  return [...(own ? [{ key: keys.amendment(number), value: undefined }] : []), { key: keys.amendmentOf(sequence), value: undefined }];
}

function userWrites(snapshot: Snapshot, keys: UserKeys, conversationId: ConversationId | undefined, change: UserChange): Write[] {
  if (change.kind === 'remove') return [{ key: Buffer.from(change.slot.key, 'latin1'), value: undefined }];
  if (conversationId === undefined) return [];
  switch (change.kind) {
    case 'view':
      return [{ key: keys.view(conversationId), value: Buffer.from(formatViewEntry(change.entry)) }];
    case 'dropView':
      return [{ key: keys.view(conversationId), value: undefined }];
    case 'listed':
      return [
        ...unlisted(snapshot, keys, conversationId),
        { key: keys.list(change.activityAtMs, conversationId), value: NOTHING },
        { key: keys.listedAt(conversationId), value: counterValue(change.activityAtMs) },
      ];
    case 'unlist':
      return unlisted(snapshot, keys, conversationId);
    case 'readMark':
      return [{ key: keys.readMark(conversationId), value: Buffer.from(String(change.readSeq)) }];
    case 'dropReadMark':
      return [{ key: keys.readMark(conversationId), value: undefined }];
    case 'pin':
      return [{ key: keys.pin(conversationId), value: counterValue(change.pinnedAtMs) }];
    case 'unpin':
      return [{ key: keys.pin(conversationId), value: undefined }];
  }
}

function unlisted(snapshot: Snapshot, keys: UserKeys, conversationId: ConversationId): Write[] {
  const listedAt = snapshot.get(keys.listedAt(conversationId));
  if (listedAt === undefined) return [];
  return [
    { key: keys.list(counterFrom(listedAt), conversationId), value: undefined },
    { key: keys.listedAt(conversationId), value: undefined },
  ];
}

/**
 * Who may say something in a direct conversation: nobody whom the other has blocked, and whom the tenant's setting lets.
 * Asked before the commit; a block that is made while a message is being committed is as good as one made right after it.
 * A refusal stands only until the store has said that the message is no duplicate.
 *
 * One answer for all of it, so that nobody learns that they were blocked.
 */
import {
  type Caller,
  type ConversationId,
  DIRECT_PEERS_KNOWN_MAX,
  forbidden,
  isDirectConversationId,
  LIST_PAGE_SIZE_MAX,
  SHARED_PAGES_MAX,
  type UserId,
} from '@qim/proto';
import type { DirectoryCursor } from '@qim/store';
import { directConversationId } from './conversation-ids.js';
import type { WriterDeps } from './ports.js';

type Deps = Pick<WriterDeps, 'messages' | 'directory' | 'users' | 'directMessages'>;

export class DirectGate {
  readonly #deps: Deps;
  /** Of conversations that were asked about; a pair never changes. */
  readonly #peers = new Map<string, UserId>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** By the other's id. Cost: 1; for the first message under `sharedConversation` up to 2 × SHARED_PAGES_MAX more. */
  async refusalTo(caller: Caller, peer: UserId): Promise<Error | undefined> {
    const { tenantId, userId } = caller;
    if (peer === userId) return undefined;
    const [blocked, allowed] = await Promise.all([this.#deps.users.hasBlocked(tenantId, peer, userId), this.#mayOpen(caller, peer)]);
    return blocked || !allowed ? refused() : undefined;
  }

  /** By the conversation's id. Cost: none for a group; else 1, and 1 more the first time. */
  async refusalIn(caller: Caller, conversationId: ConversationId): Promise<Error | undefined> {
    if (!isDirectConversationId(conversationId)) return undefined;
    const peer = await this.#peerOf(caller, conversationId);
    // No member: the commit step says so.
    if (peer === undefined || peer === caller.userId) return undefined;
    const blocked = await this.#deps.users.hasBlocked(caller.tenantId, peer, caller.userId);
    return blocked || this.#serverOnly(caller) ? refused() : undefined;
  }

  #serverOnly(caller: Caller): boolean {
    return !caller.admin && this.#deps.directMessages(caller.tenantId) === 'serverOnly';
  }

  async #mayOpen(caller: Caller, peer: UserId): Promise<boolean> {
    if (this.#serverOnly(caller)) return false;
    const { tenantId, userId, admin } = caller;
    if (admin || this.#deps.directMessages(tenantId) === 'anyone') return true;
    const conversationId = directConversationId(tenantId, userId, peer);
    const { facts } = await this.#deps.messages.readConversation(tenantId, conversationId, userId);
    return facts !== undefined || (await this.#shareConversation(caller, peer));
  }

  /** Among the newest of both. */
  async #shareConversation(caller: Caller, peer: UserId): Promise<boolean> {
    const [own, others] = await Promise.all([caller.userId, peer].map((userId) => this.#listed(caller, userId)));
    return [...(own ?? [])].some((id) => others?.has(id));
  }

  async #listed({ tenantId }: Caller, userId: UserId): Promise<ReadonlySet<ConversationId>> {
    const ids = new Set<ConversationId>();
    let cursor: DirectoryCursor | undefined;
    for (let pages = 0; pages < SHARED_PAGES_MAX; pages += 1) {
      const { views, next } = await this.#deps.directory.page(tenantId, userId, LIST_PAGE_SIZE_MAX, cursor);
      for (const { conversationId } of views) ids.add(conversationId);
      cursor = next;
      if (cursor === undefined) break;
    }
    return ids;
  }

  async #peerOf({ tenantId, userId }: Caller, conversationId: ConversationId): Promise<UserId | undefined> {
    const key = `${tenantId} ${conversationId} ${userId}`;
    const known = this.#peers.get(key);
    if (known !== undefined) return known;
    const { facts, member } = await this.#deps.messages.readConversation(tenantId, conversationId, userId);
    if (facts === undefined || member === undefined) return undefined;
    const peer = facts.pair.find((id) => id !== userId) ?? userId;
    if (this.#peers.size >= DIRECT_PEERS_KNOWN_MAX) this.#peers.clear();
    this.#peers.set(key, peer);
    return peer;
  }
}

function refused(): Error {
  return forbidden('that the other user takes direct messages of the sender');
}

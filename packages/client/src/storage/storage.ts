/**
 * Where a client keeps, from one start to the next, what it showed and what it has yet to send. An implementation knows
 * nothing of what it holds: plain data (what `structuredClone` takes) under string keys.
 *
 * Every failure of a storage is survived: the client goes on without it, and reads from the server.
 */
export interface ClientStorage {
  /**
   * Opens what is kept under this name, empty when there is nothing. The client makes the name of server, tenant and user,
   * so that no two of them ever meet; it is at most some 600 characters of printable ASCII.
   */
  open(name: string): Promise<AccountStorage>;
}

export interface AccountStorage {
  /** Undefined: nothing there. */
  get(key: string): Promise<unknown>;
  /** All whose key begins with `prefix`, by key. */
  list(prefix: string): Promise<readonly (readonly [key: string, value: unknown])[]>;
  /** All of them or none; an undefined value removes. Kept once it resolves. */
  write(changes: ReadonlyMap<string, unknown>): Promise<void>;
  /** Removes everything, for everybody who has it open. */
  destroy(): Promise<void>;
  close(): void;
  /** Absent: nobody else has it open. */
  readonly tabs?: Tabs;
}

/** The others that have the same storage open, such as tabs of one browser. */
export interface Tabs {
  /** Of this one; another one for each opening. */
  readonly tabId: string;
  /** Whether this one does what one alone need do. One of those open becomes it when it ends. */
  leads(): boolean;
  /** Calls `run` when this one begins to lead; at once when it does. */
  onLead(run: () => void): void;
  /** Of these, the ones that are still open. */
  alive(tabIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** To all others. */
  post(message: TabMessage): void;
  /** The function ends it. */
  onMessage(listener: (message: TabMessage) => void): () => void;
}

/** loggedOut: nothing may be written any more. left: a tab that has ended may have left something unsent. */
export interface TabMessage {
  readonly kind: 'loggedOut' | 'left';
}

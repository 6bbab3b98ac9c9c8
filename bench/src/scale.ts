/** How much is done. `--quick` shows that everything works; its figures are worth nothing. */
export interface Scale {
  readonly quick: boolean;
  readonly rounds: number;
  /** How long a contender's turn is. */
  readonly turnMs: number;
  /** A page of 100 goes through them again and again when they are fewer. */
  readonly conversations: number;
  readonly messagesEach: number;
  /** Messages in flight at once. */
  readonly depths: readonly number[];
  readonly chats: number;
  readonly groupSizes: readonly number[];
  readonly sockets: number;
  readonly memoryMessages: number;
  readonly historyLengths: readonly number[];
  readonly bodyBytes: readonly number[];
  readonly listLengths: readonly number[];
  readonly memberCounts: readonly number[];
}

export const FULL: Scale = {
  quick: false,
  rounds: 15,
  turnMs: 250,
  conversations: 100,
  messagesEach: 300,
  depths: [1, 16, 128, 1024],
  chats: 64,
  groupSizes: [100, 1000],
  sockets: 10_000,
  memoryMessages: 200_000,
  historyLengths: [1_000, 10_000, 100_000, 1_000_000],
  bodyBytes: [100, 1_000, 10_000, 65_000],
  listLengths: [10, 100, 1_000, 10_000],
  memberCounts: [2, 100, 1_000, 10_000],
};

export const QUICK: Scale = {
  quick: true,
  rounds: 1,
  turnMs: 10,
  conversations: 8,
  messagesEach: 210,
  depths: [1, 128, 1024],
  chats: 8,
  groupSizes: [10],
  sockets: 100,
  memoryMessages: 1_000,
  historyLengths: [500, 2_000],
  bodyBytes: [100, 65_000],
  listLengths: [10, 100],
  memberCounts: [2, 100],
};

/** The limits of consts.ts that are of webhooks: what the operator's own services are asked and told. */

/** What may wait for the webhook per commit partition; one more makes the oldest a dead letter. Ids alone, some 100 bytes each. */
export const HOOKS_WAITING_MAX = 100_000;
/** Waiting entries read at once, and pages of them looked through in one pass; the next pass goes on behind them, to the end, and then anew. */
export const HOOK_READ_MAX = 256;
export const HOOK_PAGES_MAX = 8;
/** Conversations of one partition that are told of at the same time. */
export const HOOK_CONVERSATIONS_IN_FLIGHT_MAX = 4;
/** How often partitions that came to this process are looked for. */
export const HOOK_LOOK_MS = 1_000;
/** First and longest wait before a webhook that did not take something is asked again; it doubles in between. */
export const HOOK_RETRY_MIN_MS = 500;
export const HOOK_RETRY_MAX_MS = 10_000;
/** Tries of one event whose body the webhook refuses, or whose record is damaged, before it is a dead letter. */
export const HOOK_REFUSALS_MAX = 3;
/** How long one call to the webhook may take. */
export const HOOK_CALL_TIMEOUT_MS = 10_000;
/** From the commit until an event that was not taken is a dead letter. Tunable from the least to the greatest. */
export const HOOK_GIVE_UP_MS_MIN = 1_000;
export const HOOK_GIVE_UP_MS_DEFAULT = 24 * 60 * 60 * 1000;
export const HOOK_GIVE_UP_MS_MAX = 7 * 24 * 60 * 60 * 1000;
/** In larger groups only who is mentioned gets an offline push: each message would count the badges of all who are away. */
export const OFFLINE_PUSH_MEMBERS_MAX = 1_000;
/** Recipients named by one call, and badges of them that are counted at the same time. */
export const OFFLINE_PUSH_RECIPIENTS_MAX = 100;
export const OFFLINE_PUSH_BADGES_AT_ONCE = 10;
/** How long a user who was found to be away is not asked for again, and how many are remembered. */
export const AWAY_REMEMBERED_MS = 10_000;
export const AWAY_REMEMBERED_MAX = 16 * 1024;
/** How long a sender waits for the answer whether a message may be sent. Tunable from the least to the greatest. */
export const BEFORE_SEND_TIMEOUT_MS_MIN = 50;
export const BEFORE_SEND_TIMEOUT_MS_DEFAULT = 1_000;
export const BEFORE_SEND_TIMEOUT_MS_MAX = 5_000;
/** Such questions open at the same time; one more counts as not answered. */
export const BEFORE_SEND_IN_FLIGHT_MAX = 256;
/** Bytes of an answer that are read: a yes or a no. */
export const HOOK_ANSWER_BYTES_MAX = 4 * 1024;

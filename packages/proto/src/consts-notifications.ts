/** The limits of consts.ts that are of Web Push: subscriptions of browsers, and what is sent to their push services. */

/** Subscriptions of one user, on all devices together. */
export const WEB_PUSH_PER_USER_MAX = 20;
/** What browsers name: the longest endpoints that are known have some 500 bytes. */
export const WEB_PUSH_ENDPOINT_BYTES_MAX = 2 * 1024;
/** RFC 8291: an uncompressed point of P-256, and a secret of 16 bytes. */
export const WEB_PUSH_P256DH_BYTES = 65;
export const WEB_PUSH_AUTH_BYTES = 16;
/** Messages of one process whose notifications are being sent at the same time; others wait in the queue. */
export const WEB_PUSH_MESSAGES_IN_FLIGHT_MAX = 16;
/** Messages of one partition that wait for their turn; one more gets no notification, so that webhooks behind them are reached. */
export const WEB_PUSH_MESSAGES_WAITING_MAX = 1_024;
/** Subscriptions of one message that are sent to at the same time. */
export const WEB_PUSH_SENDS_AT_ONCE = 8;
/** Tries of one message at a push service that does not take it now; then its notification is given up. */
export const WEB_PUSH_TRIES_MAX = 4;
/** First and longest wait between two of them; it doubles in between. */
export const WEB_PUSH_RETRY_MIN_MS = 2_000;
export const WEB_PUSH_RETRY_MAX_MS = 60_000;
/** How long one call to a push service may take. */
export const WEB_PUSH_CALL_TIMEOUT_MS = 10_000;
/** How long a push service keeps a notification for a browser that is not there. */
export const WEB_PUSH_TTL_SECONDS = 24 * 60 * 60;

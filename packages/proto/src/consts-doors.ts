/** The limits of consts.ts that are of doors: how much one user, device, tenant or address may ask for. */

/**
 * Messages and changes of groups in SEND_RATE_WINDOW_MS, where --send-rates says nothing: far above what people do, and below
 * what a program in a loop does. Tunable.
 */
export const SEND_RATE_USER_MAX = 1_000;
export const SEND_RATE_DEVICE_MAX = 1_000;
/** An office behind one address. */
export const SEND_RATE_ADDRESS_MAX = 20_000;
/** No tenant takes all of a server from the others. */
export const SEND_RATE_TENANT_MAX = 100_000;
export const SEND_RATE_WINDOW_MS = 10_000;
/** What a rate of one's own may say. A window is whole seconds: the counter in Redis expires by them. */
export const RATE_COUNT_MAX = 1_000_000_000;
export const RATE_WINDOW_MS_MIN = 1_000;
/** A quota of a month. */
export const RATE_WINDOW_MS_MAX = 31 * 24 * 60 * 60 * 1000;
/** Tenants with a quota of their own. */
export const TENANT_QUOTAS_MAX = 1_000;
/** Connections of one user to one process: some devices, and the tabs of a browser. Tunable. */
export const CONNECTIONS_PER_USER_MAX = 100;
/** Connections from one address to one process: an office, or a proxy that nobody named. Tunable. */
export const CONNECTIONS_PER_ADDRESS_MAX = 10_000;
/** What either may be set to. */
export const CONNECTIONS_PER_ANYBODY_MAX = 1_000_000;
/** After how long a connection that was one too many may come again. */
export const CONNECTIONS_RETRY_AFTER_MS = 5_000;
/** How far the clock of who signs tokens may be off. Tunable; 0 by default. */
export const TOKEN_CLOCK_TOLERANCE_MS_MAX = 60_000;

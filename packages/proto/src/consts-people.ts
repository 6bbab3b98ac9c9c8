/** The limits of consts.ts that are of users: profiles, blocks, typing, presence, receipts, suspensions, reports, totals. */

/** Profiles: a name fits into a list, a URL into a header. */
export const DISPLAY_NAME_BYTES_MAX = 256;
export const AVATAR_URL_BYTES_MAX = 2 * 1024;
/** Profiles named by one call: those of a page of anything. */
export const PROFILES_PER_CALL_MAX = 100;
/** Users whom one user may have blocked: read in one piece. */
export const BLOCKED_USERS_MAX = 1_000;
export const BLOCKED_PAGE_SIZE = 200;
/** Direct conversations whose other user is remembered; a forgotten one costs a read. */
export const DIRECT_PEERS_KNOWN_MAX = 16 * 1024;
/** Pages of each one's list that are looked through for a conversation in common, before a first direct message. */
export const SHARED_PAGES_MAX = 10;
/** Typing in a larger group is told to nobody: each keystroke of each would go to all. */
export const TYPING_MEMBERS_MAX = 200;
/** Typing events of one conversation in one window, from one process; more are left out. */
export const TYPING_PER_WINDOW_MAX = 5;
export const TYPING_WINDOW_MS = 1_000;
/** Conversations whose typing is counted in one window. */
export const TYPING_CONVERSATIONS_MAX = 10_000;
/** Read receipts of a larger group are told to nobody. */
export const RECEIPT_MEMBERS_MAX = 200;
/** Marks whose receipts are being told at the same time; more are left out. */
export const RECEIPTS_IN_FLIGHT_MAX = 1_000;
/** A phone that changes its network is back by then, and nobody sees it go. */
export const PRESENCE_GRACE_MS = 10_000;
/** How long other processes have to say that the user has a device with them. */
export const PRESENCE_ANSWER_MS = 2_000;
/** One who stays online is told again this often. */
export const PRESENCE_REFRESH_MS = 4 * 60 * 1000;
/** Of whom nothing was heard for this long is offline: two of the above, one of which may be lost, and some time. */
export const PRESENCE_EXPIRY_MS = 10 * 60 * 1000;
/** Conversations of a user that are named at once when the user is deleted. */
export const HELD_PAGE_SIZE = 100;
/** Devices of one user that may be suspended by themselves. */
export const SUSPENDED_DEVICES_MAX = 100;
/** What a member says of a message that is reported. */
export const REPORT_COMMENT_BYTES_MAX = 1_024;
/** Reports of a tenant that are kept; the oldest make room, and the log has had each of them. */
export const REPORTS_KEPT_MAX = 10_000;
/** Reports in one answer. */
export const REPORTS_PAGE_SIZE_MAX = 200;

/** MarkAllRead: as many conversations as a page of the list has. */
export const MARK_ALL_READ_MAX = 100;
/** GetTotals: the conversations whose unread messages are counted, two full pages of the list. Past them it is not exact. */
export const TOTALS_CONVERSATIONS_MAX = 200;
/** Pages of the list that are looked through for them: muted ones do not count, and may be many. */
export const TOTALS_PAGES_MAX = 5;

/** The limits of consts.ts that are of @qim/client. */

/** A call without an answer by then has failed; when nothing at all was heard meanwhile, the link is given up too. */
export const CALL_TIMEOUT_MS = 15_000;
/** Calls that wait in the client for one of the CALLS_IN_FLIGHT_MAX places; the next one is refused. */
export const CLIENT_CALLS_WAITING_MAX = 1_024;
/** From opening a socket to the welcome. */
export const CONNECT_TIMEOUT_MS = 10_000;
/** Reconnect pauses double from the first to the last, each shortened by up to half at random. */
export const RECONNECT_PAUSE_MS_MIN = 500;
export const RECONNECT_PAUSE_MS_MAX = 30_000;
/** After a close that asks to come back at once: a random part of this, so that a server's clients do not come as one. */
export const RECONNECT_PROMPT_MS_MAX = 500;
/** A link that held this long starts the pauses over; a shorter one counts as one more failure. */
export const CONNECTION_STABLE_MS = 10_000;
/** Pauses between two tries of one call, as with reconnecting. */
export const CALL_RETRY_PAUSE_MS_MIN = 250;
export const CALL_RETRY_PAUSE_MS_MAX = 5_000;
/** How long a send is tried again under its one client message id; far below the life of a de-duplication entry. */
export const SEND_RETRY_MS_MAX = 60_000;
/** Messages that wait to be sent or have failed; the next one is refused, not dropped. */
export const CLIENT_OUTBOX_MAX = 1_000;
/** A push may be lost: the list is read again this often. */
export const RELIST_INTERVAL_MS = 5 * 60 * 1000;
/** Events of one moment read their conversations once. */
export const LIST_REFRESH_DELAY_MS = 50;
/** Least time between two such readings: what a busy conversation costs is a matter of time, not of its messages. */
export const LIST_REFRESH_PAUSE_MS = 500;
/** More changed conversations than this cost less as one new list. */
export const LIST_REFRESH_MAX = 50;
/** GetConversation calls at once: an eighth of what one connection may have in flight. */
export const LIST_REFRESH_PARALLEL_MAX = 8;
/** Entries that a client's list holds; each list again reads them all. */
export const CLIENT_LIST_ENTRIES_MAX = 2_000;
/** Messages that one open conversation holds, some 5 MB of chat; the oldest make room. */
export const CLIENT_WINDOW_MESSAGES_MAX = 10_000;
/** Pages that a return reads forward; past 10 000 messages it starts again from the newest. */
export const CATCH_UP_PAGES_MAX = 50;
/** Pushes that wait for the messages before them; further ones are dropped, and history brings them. */
export const CLIENT_PUSHES_WAITING_MAX = 1_000;
/** Least time between two calls for read marks: those of one moment become one for each conversation. */
export const MARK_READ_DELAY_MS = 300;
/** A mark for messages of one's own may wait this long for others: no badge depends on it. */
export const MARK_OWN_DELAY_MS = 1_000;
/** So many of one's own without a mark do not wait: half of what is counted one by one (EXACT_UNREAD_SCAN_LIMIT). */
export const MARK_OWN_WAITING_MAX = 100;
/** Conversations whose read mark waits for the link; further ones are dropped, and showing the message asks again. */
export const READ_MARKS_WAITING_MAX = 1_000;
/** Listed conversations that one MarkAllRead call of the SDK names; the server takes no more (MarkAllReadRequest). */
export const CLIENT_MARKS_PER_CALL_MAX = 100;
/** The totals are read at most this often while messages come. */
export const TOTALS_DELAY_MS = 500;
/** While somebody writes, the others are told again this often. */
export const TYPING_REPEAT_MS = 3_000;
/** Somebody who was not heard of for this long has stopped writing: two repeats, one of which may be lost. */
export const TYPING_SHOWN_MS = 7_000;
/** People shown as writing, over all conversations; the next one is left out. */
export const CLIENT_TYPING_MAX = 200;
/** People held as online; the next one is left out, and shows as not known. */
export const CLIENT_PRESENCE_MAX = 10_000;
/** Somebody who is online is heard of every 4 minutes, so twice within this. */
export const CLIENT_PRESENCE_SHOWN_MS = 10 * 60 * 1000;
/** Members whose read marks an open conversation holds: larger groups are told of none. */
export const CLIENT_READ_MARKS_MAX = 200;
/** Profiles held; the one that was asked for longest ago makes room. */
export const CLIENT_PROFILES_MAX = 2_000;
/** Profiles wanted within this time are asked for together: those of one rendering. */
export const PROFILES_DELAY_MS = 20;
/** A token is renewed this long before it expires, or after three quarters of what is left when that is less. */
export const TOKEN_RENEW_BEFORE_MS = 60_000;
/** Least time between two renewals: a device's clock may be wrong, and a token may expire at once. */
export const TOKEN_RENEW_PAUSE_MS = 10_000;
/** Once the network is back, a link over which nothing comes within this time is given up. */
export const LINK_PROBE_MS = 5_000;
/** What a timer of a browser or of Node can wait; a longer one would fire at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;
/** A message that waited longer is not sent again without asking: de-duplication entries live for seven days at least. */
export const SEND_AGE_MS_MAX = 6 * 24 * 60 * 60 * 1000;
/** Conversations that the cache holds of the list. */
export const CLIENT_CACHE_LIST_MAX = 500;
/** Messages that the cache holds of one conversation: four pages. */
export const CLIENT_CACHE_MESSAGES_MAX = 200;
/** Conversations whose messages the cache holds, the ones used last: some 10 MB of chat. */
export const CLIENT_CACHE_WINDOWS_MAX = 100;
/** What changes within this time is written to the cache together. */
export const CLIENT_CACHE_DELAY_MS = 1_000;
/** A cache that has not answered by then is gone without. */
export const CLIENT_CACHE_READ_MS_MAX = 3_000;
/** What is kept and is not removed by then is told as not removed: a browser waits for its other tabs to let go of it. */
export const CLIENT_CACHE_REMOVE_MS_MAX = 10_000;
/** What the SDK may weigh for a visitor, after minifying and gzip: as a photograph in a message. A change that needs more says why. */
export const CLIENT_BUNDLE_GZIP_BYTES_MAX = 28 * 1024;

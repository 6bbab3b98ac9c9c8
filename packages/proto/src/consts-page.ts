/** The limits of consts.ts that are of the chat page. */

/** Conversations with something half written that a browser keeps; the one touched longest ago goes first. */
export const PAGE_DRAFTS_MAX = 200;
/** The page's first load, gzipped: its documents, scripts and styles. On a slow phone network some four seconds. */
export const PAGE_FIRST_LOAD_GZIP_BYTES_MAX = 250_000;
/** The number of the first item of a list of messages: what is loaded above counts down from it, and must stay above 0. */
export const PAGE_FIRST_INDEX = 1_000_000;

/** Limits of what an operator runs: archives of whole stores. */

/** Text of one chunk of an archive: what a resumed export or import does again at most, and what is held in memory. */
export const ARCHIVE_CHUNK_BYTES = 1024 * 1024;
/** A chunk may end from here on where an export could go on: smaller ones would be mostly checksums. */
export const ARCHIVE_CHUNK_BYTES_MIN = 64 * 1024;
/** The longest line is a body of 72 KiB in base64; what a repair put aside may be longer, and past this it cannot be archived. */
export const ARCHIVE_LINE_BYTES_MAX = 1024 * 1024;
/** What stands before a chunk's closing line at most: a full chunk, and the line that filled it. */
export const ARCHIVE_CHUNK_BYTES_MAX = ARCHIVE_CHUNK_BYTES + 2 * ARCHIVE_LINE_BYTES_MAX;
/** Keys and values that an import writes to Redis in one go: a server answers others in between. */
export const ARCHIVE_COMMANDS_AT_ONCE = 500;
/** How far the clock of a new Redis may be behind that of the importer before the webhook's queue could miss something. */
export const ARCHIVE_CLOCKS_APART_MS = 60_000;
/** Records whose writing span is remembered for their delivery, some 200 bytes each; what is delivered later has a trace of its own. */
export const TRACED_RECORDS_MAX = 10_000;

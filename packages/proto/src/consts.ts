/**
 * Every limit, with its unit in the name and its reason beside it. No other file holds a magic number.
 * A limit that an operator may tune says so; the tuned value arrives as an argument and never exceeds what is said here.
 */

export * from './consts-doors.js';
export * from './consts-hooks.js';
export * from './consts-notifications.js';
export * from './consts-operator.js';
export * from './consts-page.js';
export * from './consts-people.js';

/** Ids are small enough for keys (percent-encoded: 192 characters) and for one length byte in the stored form. */
export const USER_ID_BYTES_MAX = 64;
export const DEVICE_ID_BYTES_MAX = 64;
export const CLIENT_MESSAGE_ID_BYTES_MAX = 64;
export const CONVERSATION_ID_CHARS_MAX = 64;
/** Four bytes in the stored form. */
export const TENANT_ID_MAX = 2 ** 32 - 1;
/** The largest integer that a double, hence JavaScript and Lua, holds exactly. */
export const SEQ_MAX = Number.MAX_SAFE_INTEGER;
/** protobuf's open enums are int32. */
export const MESSAGE_TYPE_MAX = 2 ** 31 - 1;

/**
 * How far past the watermark unread messages are counted one by one (seed, section 4): a list never reads without bound.
 * A bound on the *distance* of sequences: 200 is exact, 201 saturates, holes or not.
 */
export const EXACT_UNREAD_SCAN_LIMIT = 200;

export const LIST_PAGE_SIZE_DEFAULT = 50;
/** One page costs two pipelines to the store, each proportional to it. */
export const LIST_PAGE_SIZE_MAX = 100;
export const HISTORY_PAGE_SIZE_DEFAULT = 50;
export const HISTORY_PAGE_SIZE_MAX = 200;
/** A page ends before it holds more bodies than this, so that 200 messages of 64 KiB never travel in one answer. */
export const HISTORY_PAGE_BYTES_MAX = 1024 * 1024;
/** What a stored body holds besides its content at most: device, client message id, 100 mentions, replyTo, lengths: 6.8 KiB. */
export const BODY_OVERHEAD_BYTES_MAX = 8 * 1024;
export const MEMBERS_PAGE_SIZE = 200;
/** A page token is a position, never a document. */
export const PAGE_TOKEN_CHARS_MAX = 512;

/** Chat text; larger things are content. */
export const TEXT_BYTES_MAX = 16 * 1024;
/** Content is a description or a thumbnail; a file itself belongs in a file store. */
export const CONTENT_BYTES_MAX = 64 * 1024;
/** One length byte in the stored form; real media types are shorter. */
export const CONTENT_TYPE_CHARS_MAX = 127;
/** 8 bytes each in the record, which stays within RECORD_BYTES_MAX. */
export const MENTIONS_MAX = 100;
/** An application's own name for its Control messages. */
export const CONTROL_APP_TYPE_BYTES_MAX = 64;
export const TITLE_BYTES_MAX = 256;
/** The longest emoji, a family of eight or a flag of a region, have some 50 bytes. */
export const REACTION_EMOJI_BYTES_MAX = 64;
/** Different emoji on one message: more than a client shows in a row. */
export const REACTION_KINDS_MAX = 20;
/** Users whose names one emoji of a message keeps: past it nobody reads them. */
export const REACTION_USERS_MAX = 100;
/** Stored size of all reactions of one message: a page of 200 messages reads at most 3.2 MB of them. */
export const REACTIONS_BYTES_MAX = 16 * 1024;

/** What one membership change may name: it travels in one Control record and one atomic step. */
export const MEMBERS_PER_CALL_MAX = 200;
/** Fan-out per message is proportional to it. */
export const GROUP_MEMBERS_MAX = 10_000;
/** For a conversation's first message and for joins: the members whose list is up to date before the answer. */
export const TOUCH_BEFORE_ANSWER_MAX = 100;
/** A conversation's pins come before page 1 of the list. */
export const PINS_MAX = 50;

/** How long the sender may recall; tunable per tenant. */
export const RECALL_WINDOW_MS = 24 * 60 * 60 * 1000;
/** Tries of an amendment whose target changed under it, before Aborted. */
export const AMEND_TRIES_MAX = 3;

/** Frames from clients: the largest legal message (64 KiB of content in base64) fits three times. */
export const CLIENT_FRAME_BYTES_MAX = 256 * 1024;
/** HTTP bodies: the same bound as frames. */
export const HTTP_BODY_BYTES_MAX = CLIENT_FRAME_BYTES_MAX;
/** Bytes of frames to one socket that wait for the end of a turn of the process: as much as a socket takes at once anyway. */
export const FRAMES_GATHERED_BYTES = 16 * 1024;
/** A larger frame or body is still read up to here, so that its sender gets an answer rather than a cut line. */
export const CLIENT_FRAME_READ_BYTES_MAX = 4 * CLIENT_FRAME_BYTES_MAX;
/** A request id of the caller's own goes into logs and back into a header. */
export const REQUEST_ID_CHARS_MAX = 64;
/** How long /readyz waits for the store before it says no. */
export const READY_TIMEOUT_MS = 2_000;
/** Calls in flight per connection; the next one is refused, not queued. */
export const CALLS_IN_FLIGHT_MAX = 64;
/** What one socket may have waiting before it is told to list again, and is closed. Tunable. */
export const SOCKET_QUEUE_BYTES_MAX = 1024 * 1024;
/** The largest legal message still fits into what is kept waiting. */
export const SOCKET_QUEUE_BYTES_MIN = CLIENT_FRAME_BYTES_MAX;
/** A connection that has not said hello by then is closed. Tunable. */
export const HELLO_TIMEOUT_MS = 10_000;
/** A phone on a slow link still manages. */
export const HELLO_TIMEOUT_MS_MIN = 1_000;
/** WebSockets between their upgrade and their welcome; the next one is told to come back. A second of one core's work. Tunable. */
export const HANDSHAKES_MAX = 512;
/** Who was told so comes back after the first of these, and a storm is spread evenly over the second. */
export const HANDSHAKE_RETRY_AFTER_MS = 1_000;
export const HANDSHAKE_RETRY_SPREAD_MS = 4_000;
/** WebSocket ping interval; a peer that misses one answer is closed. Tunable. */
export const PING_INTERVAL_MS = 30_000;
/** More often costs a phone its battery. */
export const PING_INTERVAL_MS_MIN = 1_000;
/** At a stop: how long what is in flight may take. Well within the 30 s that orchestrators allow. Tunable. */
export const DRAIN_DEADLINE_MS_DEFAULT = 10_000;
export const DRAIN_DEADLINE_MS_MAX = 60_000;
/** At a stop, after the drain: how long the delivery side and the store may each take to let go. */
export const RELEASE_DEADLINE_MS = 5_000;
/** Two stop signals closer than this are one: npm hands on the Ctrl-C that the terminal has sent to the server as well. */
export const STOP_SIGNAL_REPEAT_MS = 500;
/** HS256 secrets: as long as the hash, below which guessing the key is the cheapest attack. */
export const JWT_SECRET_BYTES_MIN = 32;
/** How old keys of a JWKS URL may be: a key that was withdrawn is refused after it at the latest. */
export const JWKS_AGE_MS_MAX = 10 * 60 * 1000;
/** Between two looks for a key that the last answer did not have: unknown key ids cost the key server no more. */
export const JWKS_COOLDOWN_MS = 30_000;
export const JWKS_TIMEOUT_MS = 5_000;
/** A JWT of ours is some 300 bytes; a foreign one with many claims stays below this. */
export const TOKEN_CHARS_MAX = 8 * 1024;
/** Tokens that are kept as verified; about 1 kB each. Past it the oldest are verified again when they come. */
export const VERIFIED_TOKENS_MAX = 4_096;

export const TOKEN_TTL_SECONDS_DEFAULT = 60 * 60;
export const TOKEN_TTL_SECONDS_MAX = 30 * 24 * 60 * 60;

/** The list reads nothing but records: this is what one may cost. */
export const RECORD_BYTES_MAX = 2 * 1024;
/** A record with its body inside stays within this; a larger body is kept apart. */
export const RECORD_INLINE_BYTES_MAX = 1024;
/** What a list shows of a text that is kept apart. */
export const SNIPPET_BYTES_MAX = 256;
/** Sequences per record hash: a window of 200 touches at most two, and no key grows without bound. */
export const RECORD_BUCKET_SIZE = 256;
/** Commits of one conversation that go in one atomic step: they span at most two buckets. */
export const COMMIT_BATCH_MAX = 128;
/** Conversations whose commits go in one atomic step, some 2 ms of the store's one thread. */
export const COMMIT_CONVERSATIONS_MAX = 32;
/** Users whose lists one step moves a conversation up in: some 1 ms of the store's one thread. */
export const TOUCH_USERS_PER_CALL_MAX = 64;
/** De-duplication entries are kept per week, and two weeks are looked at: an entry lives 7 to 14 days. */
export const DEDUP_WEEK_MS = 7 * 24 * 60 * 60 * 1000;
/** Records that one step of retention removes: it holds up everyone else's commits for its time, some 5 ms. */
export const RETENTION_STEP_RECORDS_MAX = 1_000;
/** Buckets that one such step touches: as many as its records fill where none is missing, wherever they begin. */
export const RETENTION_STEP_BUCKETS_MAX = 5;
/** What a retention rule may say: some hundred years, and more messages than a conversation comes to. */
export const RETENTION_DAYS_MAX = 36_500;
export const RETENTION_MESSAGES_MAX = 1_000_000_000;
/** Pauses of a sweep: after a step that removed something (10 000 records a second at most), and after a mere look. */
export const RETENTION_STEP_PAUSE_MS = 100;
export const RETENTION_LOOK_PAUSE_MS = 5;
/** After a failure: a store that is away is not asked over and over. */
export const RETENTION_FAILURE_PAUSE_MS = 5_000;
/** Between two sweeps: a rule counts in days. */
export const RETENTION_SWEEP_PAUSE_MS = 60 * 60 * 1000;
/** A process that does not sweep looks that often whether it is its turn. */
export const RETENTION_TURN_PAUSE_MS = 5_000;
/** Conversations that a sweep is named at a time. */
export const RETENTION_CONVERSATIONS_AT_ONCE = 200;
/** Conversations named by one step of an enumeration of all. */
export const CONVERSATIONS_READ_MAX = 1_000;
/** Commit partitions of a new deployment; fixed once it is made. */
export const COMMIT_PARTITIONS_DEFAULT = 64;
/** Each costs a stream, a lease and three commands of every look at the backlog. */
export const COMMIT_PARTITIONS_MAX = 1024;
/** Content that goes in one atomic step beside COMMIT_BATCH_MAX: a step holds up everyone else's for its time. */
export const COMMIT_BATCH_BYTES_MAX = 1024 * 1024;
/** Commits that wait for one conversation; the next one is refused, not queued. */
export const COMMITS_WAITING_MAX = 8 * 1024;
/** Commands that wait for one connection to the store, some 160 full list pages: about a second of work. More are refused. */
export const STORE_COMMANDS_WAITING_MAX = 64 * 1024;
/** After that long without an answer a store call fails and its connection is made anew. Tunable. */
export const STORE_COMMAND_TIMEOUT_MS = 5_000;
/**
 * How long one node of a Cluster may take to say who serves what; then the next one is asked. Some of them fit into
 * STORE_COMMAND_TIMEOUT_MS, which bounds a call with all its redirects and tries.
 */
export const STORE_CLUSTER_LOOK_MS = 1_000;
/** Before the first and between later tries of a call that a Cluster does not take now: a failover takes seconds, a slot moves in less. */
export const STORE_CLUSTER_PAUSE_MS_FIRST = 10;
export const STORE_CLUSTER_PAUSE_MS_MAX = 200;
/** Redirects that one call follows without a pause; nodes that send to each other are given time to agree. */
export const STORE_CLUSTER_REDIRECTS_AT_ONCE = 8;
/** Replicas that an acknowledgement may wait for: a Redis primary has a few. */
export const ACK_REPLICAS_MAX = 16;
/** How long they may take before the outcome of a write is called unknown. A network between two sites takes a tenth of it. */
export const ACK_REPLICAS_WAIT_MS = 2_000;
/** How often a write to a partition may find yet another server there before it gives up. */
export const TAKE_OVER_TRIES_MAX = 4;
/** Longest pause between two tries to reach a lost store. */
export const STORE_RECONNECT_PAUSE_MS_MAX = 1_000;
/** Bytes; what answers most pages, and is kept from one to the next. More is taken while a page needs it. */
export const WIRE_SLAB_BYTES = 1024 * 1024;
/** Bytes that are read from Redis at once: few enough to be in the processor's cache still when they are looked at. */
export const WIRE_READ_BYTES = 128 * 1024;
/** Numbers, two for each value that answers for one conversation; more are taken while one needs them. */
export const WIRE_MARKS = 1024;
/** Bytes; a whole window of the longest records stays far below it, so that whatever is past it answers for no conversation. */
export const WIRE_BYTES_MAX = 4 * 1024 * 1024;
/**
 * Conversations whose part of a round is written at once: so few that Redis and the reader work at the same time for most of a
 * page, so many that a write is little beside what it asks for.
 */
export const WIRE_PIECE_CONVERSATIONS = 25;
/** Pieces of requests that are kept: those of one page of 100 conversations. */
export const WIRE_SPARES_MAX = 8;
/** Bytes; enough for most pieces of either round, so that what is kept of one fits the next. */
export const WIRE_REQUEST_BYTES = 16 * 1024;
/** Bytes; a longer one is not kept from one to the next. */
export const WIRE_REQUEST_BYTES_MAX = 256 * 1024;
/** Conversations whose place of writing is remembered; a wrong or forgotten one costs a second step. */
export const COMMIT_HINTS_MAX = 16 * 1024;
/** Entries set aside per partition: evidence for people, the oldest make room. */
export const OUTBOX_POISON_MAX = 10_000;
/** Of what lies aside, read at once: for a person's eyes. */
export const OUTBOX_POISON_READ_MAX = 1_000;
/** Tombstones of conversations long left that one more leaving clears away: bounded work for each. */
export const TOMBSTONES_CLEARED_MAX = 16;
/** Outbox entries read at once by the owner of a partition. */
export const OUTBOX_BATCH_MAX = 256;
/** How long an owner keeps a partition without renewing; it stops by its own clock at two thirds. */
export const OUTBOX_LEASE_MS = 15_000;
/** A third of it is the time between renewals; shorter ones would be lost to a pause of the process. */
export const OUTBOX_LEASE_MS_MIN = 3_000;
/** Writes that share one transaction of the embedded store, and one flush: some 20 ms of the event loop. */
export const EMBEDDED_BATCH_MAX = 512;
/** Address space that the embedded store maps at first; it doubles when the file outgrows it. Tunable. */
export const EMBEDDED_MAP_BYTES_DEFAULT = 1024 * 1024 * 1024;
/** Records that one list reads before other work of the process gets its turn: some 5 ms. */
export const EMBEDDED_READ_SLICE = 2_000;
/** Expired entries that one commit to the embedded store clears away: bounded work for each. */
export const EXPIRED_CLEARED_MAX = 64;
/** One read of the outbox waits so long for the first entry: a partition that was busy joins the next read within it. */
export const PUSH_READ_WAIT_MS = 1_000;
/** How often an owner says that it lives, sees who else does, and asks for partitions that it lacks. */
export const PUSH_LOOK_MS = 1_000;
/** First and longest wait before a delivery that the store did not answer is tried again; it doubles in between. */
export const PUSH_RETRY_MIN_MS = 50;
export const PUSH_RETRY_MAX_MS = 5_000;
/** Tries of an entry whose record is damaged before it is set aside: a record that was rewritten meanwhile is met again whole. */
export const PUSH_TRIES_MAX = 3;
/** Conversations of one partition that are delivered at the same time: each holds its members in memory meanwhile. */
export const PUSH_CONVERSATIONS_IN_FLIGHT_MAX = 16;

/** Members up to which the lists are brought up to date before the events; past it the live events come first. */
export const PUSH_TOUCH_FIRST_MAX = 256;
/** Members of one step of a sweep over a bigger group: some 5 ms of the store, and others get their turn between two. */
export const PUSH_TOUCH_AT_ONCE = 500;
/** Conversations that are swept at the same time. */
export const PUSH_SWEEPS_MAX = 2;
/** Entries of one partition that wait for sweeps and nothing else; past it the partition is not read until some are done. */
export const PUSH_ENTRIES_SWEEPING_MAX = 1_024;
/** Views of readers that one amendment has read at the same time, to leave out those who have cleared it. */
export const PUSH_VIEWS_AT_ONCE = 1_000;

/** A UUID, and room for a name of one's own. */
export const BUS_PROCESS_ID_BYTES_MAX = 64;
/** Users that one message between processes names: 10 000 members are spread over the channels, 64 on each by default. */
export const BUS_USERS_PER_MESSAGE_MAX = 1_000;
/** One event between processes: the largest record with its body, 74 KiB, its reactions, and what it is about. */
export const BUS_PAYLOAD_BYTES_MAX = 96 * 1024;
/** The same with its users, 65 bytes each. A larger one is not ours. */
export const BUS_MESSAGE_BYTES_MAX = 256 * 1024;
/** Bytes of one write of events: what waits for the store stays small, however long the backlog of a big group is. */
export const BUS_PUBLISH_BYTES_AT_ONCE = 1024 * 1024;
/** Events of other processes that are kept decoded: one of a big group comes in as many parts as there are channels. */
export const BUS_EVENTS_REMEMBERED = 8;
/** A link that is silent is asked that often whether it is there: events are lost without a sound otherwise. */
export const BUS_PING_INTERVAL_MS = 5_000;
/** Pauses between two tries to hear again double from the first to the last. */
export const BUS_RETRY_MS_MIN = 50;
export const BUS_RETRY_MS_MAX = 1_000;

/** Commit partitions of the embedded store: they spread a Cluster's load, and here is one process. */
export const EMBEDDED_PARTITIONS = 1;

// What `qim fsck` keeps to.

/** Keys of one step over a whole Redis: some milliseconds. */
export const FSCK_PAGE_KEYS = 1_000;
/** Records after which what reading holds on to is given back: some 50 MB of the embedded store's mapped file. */
export const FSCK_REST_RECORDS = 5_000;
/** As many in a row map no more of a file than one that is read by itself: LMDB's pages, and what the system reads around each. */
export const FSCK_SCATTERED_WEIGHT = 100;
/** Entries of one user that the list is asked for at the same time: up to 200 records each, read twice. */
export const FSCK_COMPARED_AT_ONCE = 20;
/** Bodies that are held at the same time, 2 MiB of the largest. */
export const FSCK_BODIES_AT_ONCE = 32;
/** Members whose own entries are read at the same time. */
export const FSCK_USERS_AT_ONCE = 500;
/** Findings of one conversation, or of one page of a user, that are kept for one report; the others are found when these are mended. */
export const FSCK_FINDINGS_KEPT_MAX = 1_000;
/** Rows without a whole record that wait for the next one to say whether they were records. */
export const FSCK_UNDECIDED_MAX = 1_000;
/** Beside a running server a finding is told when it is met that many times. */
export const FSCK_LOOKS = 3;
/** Mending one thing may uncover another: a key of a wrong type, then its records, then what named them. */
export const FSCK_REPAIR_ROUNDS_MAX = 6;
/** Findings that are mended in one atomic step; on Redis it holds up everyone else's commits for its time. */
export const FSCK_MENDED_AT_ONCE = 64;
/** Clocks that an outbox entry and its record are stamped by may differ by this. */
export const FSCK_DELIVERY_SLACK_MS = 60_000;
/** Buckets between the first and the newest record that are looked up one by one; past it the keys of Redis are searched. */
export const FSCK_BUCKETS_SPAN_MAX = 64 * 1024;
/** Greatest --rate, in records a second: past any disk. */
export const FSCK_RATE_MAX = 1_000_000;
/** Time between two lines of progress where there is no terminal to draw on, and between two drawings where there is. */
export const FSCK_PROGRESS_LINE_MS = 10_000;
export const FSCK_PROGRESS_BAR_MS = 100;
// What `qim doctor` warns of.

/** Time between its two looks, from which it tells the growth. Tunable with --over. */
export const DOCTOR_WINDOW_MS = 5_000;
export const DOCTOR_WINDOW_MS_MAX = 24 * 60 * 60 * 1000;
/** A store's clock that is further off shows people wrong times. */
export const DOCTOR_CLOCK_SKEW_MS_MAX = 1_000;
/** Delivery takes milliseconds; this is more than a take-over of a dead process's partitions. */
export const DOCTOR_LAG_MS_MAX = 30_000;
/** Time to order a disk. */
export const DOCTOR_DAYS_LEFT_MIN = 14;
/** One part in that many has to be free. */
export const DOCTOR_FREE_PARTS_MIN = 10;
/** Entries set aside that it lists. */
export const DOCTOR_POISON_SHOWN = 10;

/**
 * Facts that are made anew, and those of a partition that another server took over, do not know which sequences were given
 * last: that many are skipped.
 */
export const SEQUENCES_SKIPPED_AFTER_LOSS = 2 ** 20;
/** Facts that are ahead of the records by more than this were not written by a commit: no failover skips so many. */
export const SEQUENCE_JUMP_MAX = 2 ** 40;
/** No conversation is amended so often: a greater number is damage. */
export const AMENDMENT_NUMBER_MAX = 2 ** 48;
